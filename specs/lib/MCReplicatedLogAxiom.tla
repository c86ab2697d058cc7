------------------------- MODULE MCReplicatedLogAxiom -------------------------
(***************************************************************************)
(* The other direction: every step within bounds that the axioms allow is  *)
(* a step of Spec. Each state within bounds that differs in one node and   *)
(* in the log is tried as a successor, and AxiomNext decides whether the   *)
(* step is allowed.                                                        *)
(***************************************************************************)
EXTENDS MCReplicatedLog

SomeLog == UNION {[1 .. length -> Record] : length \in 0 .. MaxCommitted}
SomePiece == [start : Offsets, records : SomeLog]

StepByAxioms(n) ==
  /\ committed' \in SomeLog
  /\ \E piece \in SomePiece : known' = [known EXCEPT ![n] = piece]
  /\ AxiomNext

AnySpec == Init /\ [][\E n \in Node : StepByAxioms(n)]_vars

FollowsSpecProp == Spec
==============================================================================
