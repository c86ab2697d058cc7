--------------------------- MODULE MCRegistrationLog ---------------------------
(***************************************************************************)
(* RegistrationLog needs no bounds: it has finitely many states.           *)
(***************************************************************************)
EXTENDS RegistrationLog

CONSTANTS c1, c2, c3, p1, p2, p3

TwoControllers == {c1, c2}
ThreeControllers == {c1, c2, c3}
ThreeProcesses == {p1, p2, p3}
ControllerOfAll ==
  [i \in Incarnation |-> IF i \in {p1, p2} THEN c1 ELSE c2]
FromBelow == {1, 2, 3}
FirstIsOld == [i \in Incarnation |-> IF i = p1 THEN Level \ {3} ELSE Level]
==============================================================================
