--------------------------- MODULE MCReplicatedLog ---------------------------
(***************************************************************************)
(* ReplicatedLog with at most MaxCommitted records. Each commit is of one  *)
(* record or two. What nodes learn and forget has no bound.                *)
(***************************************************************************)
EXTENDS ReplicatedLog

CONSTANTS MaxCommitted

ASSUME Bounded == MaxCommitted \in Nat \ {0, 1}

OneOrTwoRecords ==
  LET one == {<<r>> : r \in Record}
      two == {<<r, s>> : r, s \in Record}
  IN  {records \in one \cup two : Len(committed) + Len(records) <= MaxCommitted}

(* The numbers there are, for TLC to try each. *)
Offsets == 0 .. MaxCommitted

FollowsAxiomsProp == AxiomSpec
==============================================================================
