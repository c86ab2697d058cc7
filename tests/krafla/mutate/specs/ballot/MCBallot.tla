----------------------------- MODULE MCBallot -----------------------------
EXTENDS BallotProperties, TLC

CONSTANTS n1, n2, n3
ThreeNodes == {n1, n2, n3}
Permuted == Permutations(ThreeNodes)
Bounds == epoch <= 2
Narrow == epoch <= 1
=============================================================================
