-------------------------- MODULE MCMetadataLogSteps --------------------------
(***************************************************************************)
(* MetadataLogSteps within bounds: the properties of MetadataLog are asked *)
(* of its steps, too. Not asked are TypeOK, since who starts anew may have *)
(* a snapshot on its disk that it has not loaded yet; nor that a claim     *)
(* leaves the image as it is, which the first of all does not.             *)
(***************************************************************************)
EXTENDS MCMetadataLog, MetadataLogSteps

StepsSpec == Init /\ [][StepsNext]_vars

(* What the cluster was formatted with, in one transaction, as Kafka writes  *)
(* it; and a task that sets back what was changed.                           *)
OneFormat == {<<BeginTransactionRecord>> \o SetBoth(1) \o <<EndTransactionRecord>>}
OneTask == {SetBoth(0)}

(* A process starts, in one way or the other. In place of Restart it has the *)
(* properties know of both.                                                  *)
StartsAnyhow(n) ==
  \/ /\ BeginAnew(n)
     /\ leader_epoch' = [c \in Controller |-> IF c = n THEN NoEpoch ELSE leader_epoch[c]]
     /\ UNCHANGED <<committed, uncommitted>>
  \/ \E end \in SomeSnapshotEnds : StartAnew(n, end)

(* To replay by halves is to replay.                                         *)
SameReplayInv ==
  \A end \in 0 .. Len(committed) :
    ReplayLogByHalves(Between(InitialImage), committed, 0, end) = StateAt(end)

(* A process runs, and has not loaded the snapshot on its disk.              *)
NotLoadedYetReach == \E n \in Node : snapshot[n].end > stable_end[n]
==============================================================================
