-------------------------- MODULE MCMetadataLogSteps --------------------------
(***************************************************************************)
(* MetadataLogSteps within bounds: the models check the properties of      *)
(* MetadataLog on its steps too. Three properties are not checked: TypeOK, *)
(* since a process that starts may have a snapshot on its disk that it has *)
(* not loaded yet; OpenTransactionAbortedProp, that a claim leaves the     *)
(* image unchanged, since the first claim of all changes it; and           *)
(* RefusedByResignedProp, since a standby refuses requests here.           *)
(***************************************************************************)
EXTENDS MCMetadataLog, MetadataLogSteps

StepsSpec == Init /\ [][StepsNext]_vars

(* What the cluster was formatted with, in one transaction, as Kafka writes  *)
(* it; and a task that reverts a change.                                     *)
OneFormat == {<<BeginTransactionRecord>> \o SetBoth(1) \o <<EndTransactionRecord>>}
OneTask == {SetBoth(0)}

(* A process starts, in one way or the other. The models put it in place of  *)
(* Restart, so that the properties cover both.                               *)
StartsAnyhow(n) ==
  \/ /\ BeginAnew(n)
     /\ leader_epoch' = [c \in Controller |-> IF c = n THEN NoEpoch ELSE leader_epoch[c]]
     /\ UNCHANGED <<committed, uncommitted>>
  \/ \E end \in SomeSnapshotEnds : StartAnew(n, end)

(* Replay by halves gives the same state as ReplayLog.                       *)
SameReplayInv ==
  \A end \in 0 .. Len(committed) :
    ReplayLogByHalves(Between(InitialImage), committed, 0, end) = StateAt(end)

(* A process runs, and has not loaded the snapshot on its disk.              *)
NotLoadedYetReach == \E n \in Node : snapshot[n].end > stable_end[n]
==============================================================================
