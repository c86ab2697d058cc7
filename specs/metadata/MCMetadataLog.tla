---------------------------- MODULE MCMetadataLog ----------------------------
(***************************************************************************)
(* MetadataLog within bounds. The image is two keys that every batch sets  *)
(* together, so that half a batch is visible. A request sets a value if    *)
(* the present value is the expected one. Whether it is depends on         *)
(* everything written before, committed or not.                            *)
(*                                                                         *)
(* MaxEpoch bounds the elections, MaxEnd the log. A model replaces         *)
(* operators of MetadataLog by operators below, to leave out what another  *)
(* model covers: `Restart <- NoRestart`.                                   *)
(***************************************************************************)
EXTENDS MetadataLogProperties

CONSTANTS c1, c2, c3, b1, b2, MaxEpoch, MaxEnd

ASSUME Bounded == MaxEpoch \in Nat \ {0} /\ MaxEnd \in Nat \ {0}

OneController == {c1}
TwoControllers == {c1, c2}
ThreeControllers == {c1, c2, c3}
NoBroker == {}
OneBroker == {b1}

ZeroImage == [left |-> 0, right |-> 0]
ReplaySet(image, record) == [image EXCEPT ![record.key] = record.value]
SetBoth(value) ==
  <<[type |-> "Set", key |-> "left", value |-> value],
    [type |-> "Set", key |-> "right", value |-> value]>>
RecordsToSet(request, image) ==
  IF image.left = request.from /\ request.from # request.to THEN SetBoth(request.to) ELSE << >>
ResultOfSet(request, image) == IF image.left = request.from THEN "NONE" ELSE "INVALID_REQUEST"

Set(from, to) == [from |-> from, to |-> to]
(* One change, and a request that checks whether it was made. *)
ChangeAndCheck == {Set(0, 1), Set(1, 1)}
(* Two changes, the second for the state after the first. *)
TwoChanges == {Set(0, 1), Set(1, 2)}
(* Two changes, and a request that checks whether the second was made. *)
TwoChangesAndCheck == TwoChanges \cup {Set(2, 2)}
(* A change, one that conflicts with it, and a check. *)
Conflict == {Set(0, 1), Set(0, 2), Set(1, 1)}
OneChange == {Set(0, 1)}

(* Two changes of which only the first can be made. *)
TwoValues == {Set(0, 1), Set(0, 2)}

(* Controllers differ only in their names, and so do brokers.                *)
Symmetry == Permutations(Controller) \cup Permutations(Broker)

(* One batch per step. Several such steps replace one step of several        *)
(* batches.                                                                  *)
OneAtATime == {1} \cap 1 .. Len(uncommitted)
NoSurvivors == {0}
NextEnd(n) == {committed_end[n] + 1} \cap 1 .. Len(committed)

(* A step that leaves the bounds is left out; no state is generated and then *)
(* discarded.                                                                *)
BoundedEpochs == {NewestEpoch + 1} \cap 1 .. MaxEpoch

(* Actions left out. TLC counts them under the name Never. *)
Never == \E nothing \in {} : FALSE
NoTransaction(c) == Never
NoRestart(n) == Never
NoCreateSnapshot(n) == Never
NoLoadSnapshot(n, from) == Never
NoLoseTail(count) == Never

------------------------------------------------------------------------------
(* In place of operators of MetadataLog, in models that must fail            *)

(* Kafka, OffsetControlManager: transactionStartOffset has one value, that   *)
(* of the newest state. It keeps this value when a controller resigns its    *)
(* claim.                                                                    *)
NewestState(c, end) == written[c]
KeepsTransaction(c) ==
  LET stable == timeline[c][stable_end[c]] IN
  IF InTransaction(written[c])
  THEN [stable EXCEPT !.transaction_start = written[c].transaction_start,
                      !.image_before = stable.image]
  ELSE stable

(* Kafka, MetadataBatchLoader: the end of an aborted transaction drops the   *)
(* transaction's changes only if no record follows in the batches that are   *)
(* handed over with it.                                                      *)
RECURSIVE Loaded(_, _, _)
Loaded(state, from, end) ==
  IF from >= end THEN state
  ELSE LET records == RecordsOf(committed[from + 1])
           last == \A k \in from + 2 .. end : RecordsOf(committed[k]) = << >>
       IN  Loaded(IF records # << >> /\ records[1].type = "AbortTransaction" /\ ~last
                  THEN Between(state.image)
                  ELSE ReplayRecords(state, records, from), from + 1, end)
LoadedState(n, end) ==
  IF n \in Broker THEN Loaded(written[n], committed_end[n], end)
  ELSE ReplayLog(written[n], committed, committed_end[n], end)

(* All deferred answers are given as soon as anything commits.               *)
AllDue(c, stable) == deferred[c]

(* A standby replays records that are not committed.                         *)
ReplayUncommitted(n, end) ==
  /\ Follows(n)
  /\ committed_end[n] < end
  /\ end <= Len(WholeLog)
  /\ Hold(n, ReplayLog(written[n], WholeLog, committed_end[n], end), end)
  /\ UNCHANGED <<log_vars, claim_epoch, reply_vars, snapshot>>
AnyEnd(n) == committed_end[n] + 1 .. Len(WholeLog)
------------------------------------------------------------------------------
Bounds == Len(committed) + Len(uncommitted) <= MaxEnd /\ \A n \in Node : write_end[n] <= MaxEnd
==============================================================================
