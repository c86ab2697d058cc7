------------------------ MODULE MCReplicatedPartition ------------------------
(***************************************************************************)
(* ReplicatedPartition within bounds: those of MCReassignment, and         *)
(* MaxRecords, the most records that a leader appends to its log.          *)
(***************************************************************************)
EXTENDS MCReassignment, ReplicatedPartitionProperties

CONSTANT MaxRecords

ASSUME BoundedRecords == MaxRecords \in Nat

NoRestart(b, end) == Never
NoShrink(l, isr) == Never
NoPreference == Never
NoForce == Never
NoRepeat(m) == Never
NoShutdownBegun(b) == Never
NoFencing(b) == Never
NoUnfencing(b) == Never
NoCancellation == Never

(* Only the first broker is fenced. *)
FencingOfFirst(b) == b = b1 /\ FenceBroker(b) /\ UNCHANGED data_vars

(* Only the second broker is told to stop. *)
ShutdownOfSecond(b) == b = b2 /\ BeginControlledShutdown(b) /\ UNCHANGED data_vars

(* Only the first broker is unfenced. *)
UnfencingOfFirst(b) == b = b1 /\ UnfenceBroker(b) /\ UNCHANGED data_vars

(* The ends after a restart that may lose the end of the log: for any        *)
(* broker, or for any broker that is not in sync.                            *)
AnyEnd(b) == 0 .. Len(log[b])
AnyEndButTheLasts(b) == IF b \in partition.isr THEN {Len(log[b])} ELSE AnyEnd(b)

DataBounds ==
  /\ Bounds
  /\ \A b \in Broker : Len(log[b]) <= MaxRecords
==============================================================================
