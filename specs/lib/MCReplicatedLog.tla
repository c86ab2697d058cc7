--------------------------- MODULE MCReplicatedLog ---------------------------
(***************************************************************************)
(* ReplicatedLog with at most MaxCommitted records. Each commit is of one  *)
(* or two records. Learning and forgetting have no bound.                  *)
(***************************************************************************)
EXTENDS ReplicatedLog

CONSTANTS MaxCommitted

ASSUME Bounded == MaxCommitted \in Nat \ {0, 1}

OneOrTwoRecords ==
  LET one == {<<r>> : r \in Record}
      two == {<<r, s>> : r, s \in Record}
  IN  {records \in one \cup two : Len(committed) + Len(records) <= MaxCommitted}

(* The finite set of offsets that replaces Nat, so that TLC can try each. *)
Offsets == 0 .. MaxCommitted

FollowsAxiomsProp == AxiomSpec
==============================================================================
