---- MODULE NaturalsInduction ----
(* Names of the module NaturalsInduction of TLAPS, so that TLC reads proofs that use them.
   To check proofs takes TLAPS, which has what is behind the names. *)
EXTENDS Integers
\* TLC refuses to evaluate these.
NatInductiveDefHypothesis(f, f0, Def(_, _)) == CHOOSE value : TRUE
NatInductiveDefConclusion(f, f0, Def(_, _)) == CHOOSE value : TRUE
FiniteNatInductiveDefHypothesis(f, c, Def(_, _), m, n) == CHOOSE value : TRUE
FiniteNatInductiveDefConclusion(f, c, Def(_, _), m, n) == CHOOSE value : TRUE
THEOREM NatInduction == TRUE
THEOREM DownwardNatInduction == TRUE
THEOREM GeneralNatInduction == TRUE
THEOREM SmallestNatural == TRUE
THEOREM RecursiveFcnOfNat == TRUE
THEOREM NatInductiveDef == TRUE
THEOREM RecursiveFcnOfNatType == TRUE
THEOREM NatInductiveDefType == TRUE
THEOREM RecursiveFcnOfNatUnique == TRUE
THEOREM NatInductiveUnique == TRUE
THEOREM FiniteNatInductiveDef == TRUE
THEOREM FiniteNatInductiveDefType == TRUE
THEOREM FiniteNatInductiveUnique == TRUE
THEOREM FactorialDefConclusion == TRUE
THEOREM FactorialDef == TRUE
THEOREM FactorialType == TRUE
====
