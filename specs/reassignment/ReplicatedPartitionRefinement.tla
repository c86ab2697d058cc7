-------------------- MODULE ReplicatedPartitionRefinement --------------------
(***************************************************************************)
(* ReplicatedPartition => OwnershipMove: with leaders, epochs, requests    *)
(* and records that are not committed left out, a reassignment moves a set *)
(* of replicas together with the committed data. Only where no election is *)
(* unclean and no topic is deleted.                                        *)
(***************************************************************************)
EXTENDS ReplicatedPartitionProperties

(* How many of the committed records a broker holds, from the first on.      *)
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

(* ElectUncleanLeader is an operator's own choice, whatever the topic allows.*)
(* A request that is repeated can be refused and then granted, and is out as *)
(* well: broken/reassignment/OvertakenAlterPartition.cfg.                    *)
THEOREM (/\ DataSpec
         /\ ~UncleanEnabled
         /\ [][~ElectUncleanLeader]_all_vars
         /\ [][\A m \in InFlight(messages) : ~RetryAlterPartition(m)]_all_vars) => Move!Spec
==============================================================================
