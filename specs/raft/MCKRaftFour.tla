----------------------------- MODULE MCKRaftFour -----------------------------
(***************************************************************************)
(* Four voters from their first start, of which two stand in one epoch.    *)
(* With two or three voters, half of them and more than half is the same   *)
(* number; with four it is not. Nothing is fetched: this is about votes.   *)
(***************************************************************************)
EXTENDS MCKRaft

FourReplicas == {r1, r2, r3, r4}
VoterSymmetry == Permutations({r3, r4})

OneOfTwo(r) == r \in {r1, r2} /\ EpochLeft(r)
NoFetch(r, other) == Never

(* Each of the two has half of the votes, and neither leads.                 *)
TiedReach ==
  \A r \in {r1, r2} : role[r] = "Candidate" /\ 2 * Cardinality(granted[r]) = Cardinality(Replica)
==============================================================================
