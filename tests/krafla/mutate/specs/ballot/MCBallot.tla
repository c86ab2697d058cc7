----------------------------- MODULE MCBallot -----------------------------
EXTENDS BallotProperties

CONSTANTS n1, n2, n3
ThreeNodes == {n1, n2, n3}
Bounds == epoch <= 2
=============================================================================
