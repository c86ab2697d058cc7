---- MODULE TLAPS ----
(* Names of the module TLAPS of TLAPS, so that TLC reads proofs that use them.
   To check proofs takes TLAPS, which has what is behind the names. *)
SimpleArithmetic == TRUE
SMT == TRUE
SMTT(X) == TRUE
CVC3 == TRUE
CVC3T(X) == TRUE
CVC4 == TRUE
CVC4T(X) == TRUE
Yices == TRUE
YicesT(X) == TRUE
veriT == TRUE
veriTT(X) == TRUE
Zipper == TRUE
ZipperT(X) == TRUE
Z3 == TRUE
Z3T(X) == TRUE
Spass == TRUE
SpassT(X) == TRUE
LS4 == TRUE
LS4T(X) == TRUE
PTL == TRUE
Zenon == TRUE
ZenonT(X) == TRUE
Isa == TRUE
IsaT(X) == TRUE
IsaM(X) == TRUE
IsaMT(X, Y) == TRUE
IsaWithSetExtensionality == TRUE
SlowZenon == TRUE
SlowerZenon == TRUE
VerySlowZenon == TRUE
SlowestZenon == TRUE
Auto == TRUE
SlowAuto == TRUE
SlowerAuto == TRUE
SlowestAuto == TRUE
Force == TRUE
SlowForce == TRUE
SlowerForce == TRUE
SlowestForce == TRUE
SimplifyAndSolve == TRUE
SlowSimplifyAndSolve == TRUE
SlowerSimplifyAndSolve == TRUE
SlowestSimplifyAndSolve == TRUE
Simplification == TRUE
SlowSimplification == TRUE
SlowerSimplification == TRUE
SlowestSimplification == TRUE
Blast == TRUE
SlowBlast == TRUE
SlowerBlast == TRUE
SlowestBlast == TRUE
AutoBlast == TRUE
AllProvers == TRUE
AllProversT(X) == TRUE
AllSMT == TRUE
AllSMTT(X) == TRUE
AllIsa == TRUE
AllIsaT(X) == TRUE
ExpandENABLED == TRUE
ExpandCdot == TRUE
AutoUSE == TRUE
Lambdify == TRUE
ENABLEDaxioms == TRUE
LevelComparison == TRUE
EnabledWrapper(Op(_)) == TRUE
CdotWrapper(Op(_)) == TRUE
Trivial == TRUE
PropositionalTemporalLogic == TRUE
THEOREM SetExtensionality == TRUE
THEOREM NoSetContainsEverything == TRUE
THEOREM RuleTLA1 == TRUE
THEOREM RuleTLA2 == TRUE
THEOREM RuleINV1 == TRUE
THEOREM RuleINV2 == TRUE
THEOREM RuleWF1 == TRUE
THEOREM RuleSF1 == TRUE
THEOREM RuleWF2 == TRUE
THEOREM RuleSF2 == TRUE
THEOREM RuleInvImplication == TRUE
THEOREM RuleStepSimulation == TRUE
====
