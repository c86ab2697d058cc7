---------------------------- MODULE MCKRaftVoters ----------------------------
(***************************************************************************)
(* KRaftVoters within bounds. Every model starts in a state in which r1    *)
(* leads epoch 1, all replicas have its first record, and know that it is  *)
(* committed. MCKRaft covers how that state is reached. From there on      *)
(* MaxEpoch bounds the elections, and MaxChanges bounds the changes of the *)
(* voters that a log holds.                                                *)
(***************************************************************************)
EXTENDS MCKRaft, KRaftVotersProperties

CONSTANTS MaxChanges, s3

ASSUME FewChangesBounded == MaxChanges \in Nat \ {0}

NoValue == {}
FourReplicas == {r1, r2, r3, r4}

(* Node 3 has two disks, one after the other. *)
TwoDisks == {r1, r2, r3, s3}
NodeOfDisk == [r \in Replica |-> IF r = s3 THEN r3 ELSE r]
NodeOfOne == [r \in Replica |-> r]

NoAdd(l, r) == Never
NoRemove(l, voter) == Never
NoUpdate(l, voter) == Never

(* A sole voter may lose what it committed before it flushed                 *)
(* (broken/voters/RemovedDownToOne.cfg). So a set of two stays.              *)
RemoveOfThree(l, voter) ==
  /\ MayChangeVoters(l)
  /\ voter \in Voters(l)
  /\ Cardinality(Voters(l)) > 2
  /\ AppendVoters(l, Voters(l) \ {voter}, messages)

DynamicSettledSpec == Settled /\ [][DynamicNext]_vars

(* No log holds more changes of the voters than MaxChanges. *)
FewChanges == \A r \in Replica : Len(VoterSets(History(r))) <= MaxChanges + 1

(* The disk of r3 is lost: that replica sends nothing any more, and only r3  *)
(* is removed. s3 is the disk in its place; it has caught up.                *)
DiskLost ==
  /\ FewChanges
  /\ \A m \in InFlight(messages) : m.from # r3
  /\ \A r \in Replica : {r1, r2} \subseteq Voters(r)

(* The leader writes snapshots that end with a record of the voters, and no  *)
(* others. Any other replica that has a snapshot has loaded it.              *)
FewSnapshots ==
  /\ FewChanges
  /\ \A r \in Replica : \A s \in snapshots[r] : s.records[s.end_offset].kind = "Voters"
  /\ \A r \in Replica \ {r1} : snapshots[r] # {} => log_start[r] > 0
------------------------------------------------------------------------------
(* Mistakes. The models of broken/voters put them in place of operators of   *)
(* KRaftVoters.                                                              *)

(* Raft as first published: a leader changes the voters as soon as its log   *)
(* holds no uncommitted change of them. It cannot see a change that only the *)
(* log of an earlier leader holds.                                           *)
ChangesAtOnce(l) ==
  /\ role[l] = "Leader"
  /\ Idle(l)
  /\ ~AwaitsNewVoter(l)
  /\ UncommittedVoters(l) = {}

(* r1 removes r4, leads epoch 1, and is to lead epoch 3; r3 removes r1, and  *)
(* leads epoch 2. The model ends there. This is only a short way to the      *)
(* mistake.                                                                  *)
TwoLeaders ==
  /\ FewChanges
  /\ \A r \in Replica :
       /\ role[r] \in {"Candidate", "Leader"} => r = IF epoch[r] = 2 THEN r3 ELSE r1
       /\ role[r] = "Leader" => epoch[r] < 3
       /\ epoch[r] = 2 => epoch[r1] < 3 \/ role[r] # "Candidate"
       /\ \A i \in 1 .. Len(log[r]) :
            log[r][i].kind = "Voters" =>
              log[r][i].value = IF log[r][i].epoch = 2 THEN {r2, r3, r4} ELSE {r1, r2, r3}

(* A voter set counts for a replica once the replica knows that it is        *)
(* committed.                                                                *)
CommittedVoters(r) ==
  VotersOf(SubSeq(History(r), 1, IF high_watermark[r] = NoOffset THEN 0 ELSE high_watermark[r]))

(* Two voters are removed at once. *)
RemoveTwoVoters(l, voter) ==
  /\ MayChangeVoters(l)
  /\ voter \in Voters(l)
  /\ \E other \in Voters(l) \ {voter} : AppendVoters(l, Voters(l) \ {voter, other}, messages)

(* One voter replaces another in one record. Kafka's check that the          *)
(* majorities of the two sets meet accepts this.                             *)
ReplaceVoter(l, voter) ==
  /\ MayChangeVoters(l)
  /\ voter \in Voters(l)
  /\ \E other \in Replica \ Voters(l) :
       AppendVoters(l, (Voters(l) \ {voter}) \cup {other}, messages)
==============================================================================
