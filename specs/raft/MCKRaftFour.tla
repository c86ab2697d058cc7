----------------------------- MODULE MCKRaftFour -----------------------------
(***************************************************************************)
(* Four voters from their first start, two of which stand in one epoch.    *)
(* With two or three voters, a rule that asks for half of the votes elects *)
(* on the same votes as a rule that asks for more than half; with four     *)
(* voters it does not. Nothing is fetched: this model is about votes.      *)
(***************************************************************************)
EXTENDS MCKRaft

FourReplicas == {r1, r2, r3, r4}
VoterSymmetry == Permutations({r3, r4})

OneOfTwo(r) == r \in {r1, r2} /\ EpochLeft(r)
OnlyFirst(r) == r = r1 /\ EpochLeft(r)
NoFetch(r, other) == Never

(* Each of the two has half of the votes, and neither leads.                 *)
TiedReach ==
  \A r \in {r1, r2} : role[r] = "Candidate" /\ 2 * Cardinality(granted[r]) = Cardinality(Replica)

(* The first vote for a candidate is on its way: it counts only its own.     *)
(* That pre-votes came before shows in BecomeCandidate, which is taken.      *)
FirstVoteOnItsWayReach ==
  \E m \in InFlight(messages) :
    /\ m.type = "VoteResponse" /\ m.granted
    /\ role[m.to] = "Candidate" /\ granted[m.to] = {m.to}
==============================================================================
