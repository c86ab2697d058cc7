------------------------ MODULE MetadataLogRefinement ------------------------
(***************************************************************************)
(* MetadataLog seen from two sides.                                        *)
(*                                                                         *)
(* From above: MetadataLog => AtomicController. With logs, epochs, several *)
(* controllers and failovers left out, requests are applied one after      *)
(* another to one image. Whoever needs no more than that may build on      *)
(* AtomicController.                                                       *)
(*                                                                         *)
(* From below: MetadataLog => ReplicatedLog. What the nodes know of the    *)
(* committed log is all they know of Raft, besides who leads.              *)
(***************************************************************************)
EXTENDS MetadataLogProperties

(* A request is applied when its batch has taken effect: when that commits,  *)
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

(* The majority of Raft's replicas is the node that knows first (Nil). A     *)
(* node's piece begins at its snapshot. Nobody looks at what an entry is.    *)
(* What a piece holds is put in by the mapping, so that only ends are        *)
(* compared. That a state is the replay of the log up to its end is          *)
(* SameOffsetSameImageInv and StandbyCommittedOnlyInv.                       *)
Log == INSTANCE ReplicatedLog WITH
  Node <- Node \cup {Nil},
  Record <- {Nil},
  committed <- committed,
  known <- [n \in Node \cup {Nil} |->
              IF n = Nil THEN [start |-> 0, records |-> committed]
              ELSE [start |-> snapshot[n].end,
                    records |-> SubSeq(WholeLog, snapshot[n].end + 1, committed_end[n])]]

RefinesReplicatedLogProp == Log!AxiomSpec

(* Its Spec asks besides that each entry is a Record, which an entry is not. *)
THEOREM Spec => Log!AxiomSpec
==============================================================================
