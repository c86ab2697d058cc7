------------------------------ MODULE MCRaftLog ------------------------------
(***************************************************************************)
(* RaftLog with few epochs and few sets of voters: static ones, dynamic    *)
(* ones of which each has a neighbour that one record may reach and        *)
(* another that none may, and one that no log may hold. The model tries    *)
(* votes on both sides of what is allowed, so that each guard excludes     *)
(* some.                                                                   *)
(***************************************************************************)
EXTENDS RaftLogProperties

CONSTANTS MaxEpoch, d1, d2

ASSUME Bounded == MaxEpoch \in Nat \ {0}

TwoNodes == {1, 2}
TwoDirectories == {d1, d2}

On(ids, directory) == {[id |-> n, directory |-> directory] : n \in ids}

FewVoters ==
  {{}, On({1}, Nil), On({1, 2}, Nil), On({1}, d1), On({2}, d1), On({1, 2}, d1),
   On({1}, d2) \cup On({2}, d1), On({1}, d1) \cup On({1}, d2)}
FewVotes(listed) ==
  {{}, On({1}, Nil), On({1, 2}, Nil), On({1}, d2), On({1}, d1) \cup On({1}, Nil)}
SoleVoter == {{}, On({1}, Nil), On({1}, d1)}
ItsVote(listed) == {listed}

(* Epochs up to the last, each of which may be skipped. *)
FewEpochs == 0 .. MaxEpoch
FewStarts == {0, 1}

(* With a level that Kafka does not have yet: levels may rise twice. *)
ThreeVersions == 0 .. 2

Never == \E nothing \in {} : FALSE
NoTransaction(n) == Never
==============================================================================
