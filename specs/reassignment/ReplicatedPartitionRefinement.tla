-------------------- MODULE ReplicatedPartitionRefinement --------------------
(***************************************************************************)
(* ReplicatedPartition => OwnershipMove. With leaders, epochs, requests    *)
(* and uncommitted records left out, a reassignment moves a set of         *)
(* replicas together with the committed data. This holds only where no     *)
(* election is unclean and no topic is deleted.                            *)
(***************************************************************************)
EXTENDS ReplicatedPartitionProperties

(* How many of the first committed records a broker holds.                   *)
Held(b) ==
  CHOOSE n \in 0 .. Len(consumed) :
    /\ Holds(b, SubSeq(consumed, 1, n))
    /\ \A more \in n + 1 .. Len(consumed) : ~Holds(b, SubSeq(consumed, 1, more))

Move == INSTANCE OwnershipMove WITH
  Node <- Broker,
  owners <- Members(partition.replicas),
  arriving <- partition.adding,
  leaving <- partition.removing,
  in_sync <- partition.isr,
  committed <- Len(consumed),
  holds <- [b \in Broker |-> Held(b)]

RefinesOwnershipMoveProp == Move!Spec

(* ElectUncleanLeader is an operator's own choice, whatever the topic        *)
(* allows. A repeated request can be refused and then granted, so it is also *)
(* excluded: broken/reassignment/OvertakenAlterPartition.cfg.                *)
THEOREM (/\ DataSpec
         /\ ~UncleanEnabled
         /\ [][~ElectUncleanLeader]_all_vars
         /\ [][\A m \in InFlight(messages) : ~RetryAlterPartition(m)]_all_vars) => Move!Spec
==============================================================================
