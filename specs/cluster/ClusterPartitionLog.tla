-------------------------- MODULE ClusterPartitionLog --------------------------
(***************************************************************************)
(* PartitionLog with one more step. In PartitionLog a broker registers     *)
(* again only when it is fenced. In a cluster a session may be over, and   *)
(* the broker not fenced yet, when its next incarnation registers. Then    *)
(* one batch moves the partition and registers the broker, and no node     *)
(* ever sees the broker fenced in between (KAFKA-18106).                   *)
(*                                                                         *)
(* A behaviour may begin in the middle of a log, with any partition and    *)
(* any registrations.                                                      *)
(***************************************************************************)
EXTENDS PartitionLog

Replace(b) ==
  /\ registrations[b].registered
  /\ ~registrations[b].fenced
  /\ \E epoch \in registrations[b].epoch + 1 .. registrations'[b].epoch :
       WriteRegistration(b, [epoch |-> epoch, registered |-> TRUE, fenced |-> TRUE,
                             in_controlled_shutdown |-> FALSE])
  /\ LosesBroker(b)

ClusterNext == Next \/ \E b \in Broker : Replace(b)

ClusterLogSpec == [][ClusterNext]_vars
==============================================================================
