------------------------ MODULE MetadataLogRefinement ------------------------
(***************************************************************************)
(* MetadataLog seen from two sides.                                        *)
(*                                                                         *)
(* From above: MetadataLog => AtomicController. With logs, epochs, several *)
(* controllers and failovers left out, requests are applied one after      *)
(* another to one image. A module that needs no more than that may build   *)
(* on AtomicController.                                                    *)
(*                                                                         *)
(* From below: MetadataLog => ReplicatedLog. Apart from the leaders, the   *)
(* nodes know nothing of Raft but the part of the committed log that       *)
(* ReplicatedLog gives them.                                               *)
(***************************************************************************)
EXTENDS MetadataLogProperties

(* A request is applied when its batch takes effect: when the batch commits, *)
(* or with the end of its transaction.                                       *)
OutcomeOf(r) ==
  LET effective == {offset \in OffsetsOf(committed, r) : InEffect(offset)} IN
  IF effective = {} THEN Nil
  ELSE Result(r, StateAt(CHOOSE offset \in effective : TRUE).image)

Atomic == INSTANCE AtomicController WITH
  image <- CommittedImage,
  past <- StableImages,
  outcome <- [r \in Request |-> OutcomeOf(r)],
  answers <- answers

RefinesAtomicControllerProp == Atomic!Spec

THEOREM Spec => Atomic!Spec

(* The majority of Raft's replicas is represented by one node, Nil, that     *)
(* knows first. The piece of any other node begins at its snapshot. No step  *)
(* reads the content of an entry. The mapping supplies the content of a      *)
(* piece, so the refinement compares ends only. That a state is the replay   *)
(* of the log up to its end is SameOffsetSameImageInv and                    *)
(* StandbyCommittedOnlyInv.                                                  *)
Log == INSTANCE ReplicatedLog WITH
  Node <- Node \cup {Nil},
  Record <- {Nil},
  committed <- committed,
  known <- [n \in Node \cup {Nil} |->
              IF n = Nil THEN [start |-> 0, records |-> committed]
              ELSE [start |-> snapshot[n].end,
                    records |-> SubSeq(WholeLog, snapshot[n].end + 1, committed_end[n])]]

RefinesReplicatedLogProp == Log!AxiomSpec

(* Log!Spec also requires that each entry is a Record, which an entry is     *)
(* not.                                                                      *)
THEOREM Spec => Log!AxiomSpec
==============================================================================
