---- MODULE WellFoundedInduction ----
(* Names of the module WellFoundedInduction of TLAPS, so that TLC reads proofs that use them.
   To check proofs takes TLAPS, which has what is behind the names. *)
EXTENDS NaturalsInduction
\* TLC refuses to evaluate these.
IsTransitivelyClosedOn(R, S) == CHOOSE value : TRUE
IsWellFoundedOn(R, S) == CHOOSE value : TRUE
SetLessThan(x, R, S) == CHOOSE value : TRUE
WFDefOn(R, S, Def(_, _)) == CHOOSE value : TRUE
OpDefinesFcn(f, S, Def(_, _)) == CHOOSE value : TRUE
WFInductiveDefines(f, S, Def(_, _)) == CHOOSE value : TRUE
WFInductiveUnique(S, Def(_, _)) == CHOOSE value : TRUE
TransitiveClosureOn(R, S) == CHOOSE value : TRUE
OpToRel(_\prec_, S) == CHOOSE value : TRUE
PreImage(f(_), S, R) == CHOOSE value : TRUE
LexPairOrdering(R1, R2, S1, S2) == CHOOSE value : TRUE
LexProductOrdering(R, S, n) == CHOOSE value : TRUE
THEOREM EmptyIsWellFounded == TRUE
THEOREM IsWellFoundedOnSubset == TRUE
THEOREM IsWellFoundedOnSubrelation == TRUE
THEOREM WFMin == TRUE
THEOREM MinWF == TRUE
THEOREM WellFoundedIsIrreflexive == TRUE
THEOREM WellFoundedIsAsymmetric == TRUE
THEOREM WFSetLessThanIrreflexive == TRUE
THEOREM SetLessTransitive == TRUE
THEOREM WFInduction == TRUE
THEOREM WFDefOnUnique == TRUE
THEOREM WFInductiveDefLemma == TRUE
THEOREM TransitiveClosureThm == TRUE
THEOREM TransitiveClosureMinimal == TRUE
THEOREM TCTCTC == TRUE
THEOREM TCRTC == TRUE
THEOREM RTCTC == TRUE
THEOREM TransitiveClosureChopLast == TRUE
THEOREM TransitiveClosureWF == TRUE
THEOREM WFInductiveDef == TRUE
THEOREM WFInductiveDefType == TRUE
THEOREM NatLessThanWellFounded == TRUE
THEOREM PreImageWellFounded == TRUE
THEOREM WFLexPairOrdering == TRUE
THEOREM WFLexProductOrdering == TRUE
====
