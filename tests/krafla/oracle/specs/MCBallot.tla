------------------------------ MODULE MCBallot ------------------------------
EXTENDS Ballot, TLC
Symmetric == Permutations(Replica)
NotTwoAsks == \A r \in Replica : epoch'[r] <= epoch[r] + 1
=============================================================================
