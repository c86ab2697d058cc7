------------------------ MODULE KRaftVotersProperties ------------------------
(***************************************************************************)
(* What must be true when the voters change: everything that is true of    *)
(* KRaft, and in addition the properties here. Suffixes as in              *)
(* KRaftProperties.                                                        *)
(***************************************************************************)
EXTENDS KRaftVoters

------------------------------------------------------------------------------
(* Voter sets                                                                *)

IsMajorityOf(some, voters) == 2 * Cardinality(some \cap voters) > Cardinality(voters)

(* Every majority of the one set has a member in common with every majority  *)
(* of the other set.                                                         *)
MajoritiesMeet(voters, others) ==
  \A some \in SUBSET voters, rest \in SUBSET others :
    (IsMajorityOf(some, voters) /\ IsMajorityOf(rest, others)) => some \cap rest # {}

(* The same, by counting. A majority that first takes the members that only  *)
(* its own set has still needs NeededOfBoth members of the intersection.     *)
NeededOfBoth(voters, others) ==
  LET needed == Cardinality(voters) \div 2 + 1 - Cardinality(voters \ others)
  IN  IF needed > 0 THEN needed ELSE 0
MajoritiesMeetCounted(voters, others) ==
  NeededOfBoth(voters, others) + NeededOfBoth(others, voters) > Cardinality(voters \cap others)

ASSUME CountingIsRight ==
  \A voters, others \in SUBSET Replica \ {{}} :
    MajoritiesMeetCounted(voters, others) <=> MajoritiesMeet(voters, others)

(* All voter sets of a log in their order, including the initial set. *)
VoterSets(records) ==
  LET changes == SelectSeq(records, LAMBDA entry : entry.kind = "Voters")
  IN  <<InitialVoters>> \o [i \in DOMAIN changes |-> changes[i].value]

(* The records of a voter set in r's log that are not committed, or not yet. *)
UncommittedVoters(r) ==
  {o \in log_start[r] .. LogEnd(r) - 1 :
     /\ EntryAt(r, o).kind = "Voters"
     /\ o < Len(committed) => committed[o + 1] # EntryAt(r, o)}

(* Those of them that change the set, or that a client asked for. The others *)
(* stand at the beginning of an epoch, right after its first record and a    *)
(* version record, and hold the set that counted before.                     *)
BeginsEpoch(r, o) ==
  /\ o > 1
  /\ History(r)[o - 1].kind = "LeaderChange"
  /\ History(r)[o - 1].epoch = EntryAt(r, o).epoch
UncommittedChanges(r) ==
  {o \in UncommittedVoters(r) :
     BeginsEpoch(r, o) => EntryAt(r, o).value # VotersOf(SubSeq(History(r), 1, o))}
------------------------------------------------------------------------------
(* Invariants                                                                *)

(* No log holds two voter sets that are not committed.                       *)
(* Source: KIP-853; Kafka,                                                   *)
(* RaftEventSimulationTest.AtMostOneUncommittedVoterSet, adapted: Kafka's    *)
(* test counts sets that differ, this counts records. In Kafka a leader that *)
(* has moved breaks it (expected failure MovedLeader).                       *)
(* Broken by: a change while another is pending.                             *)
OneUncommittedVoterSetInv == \A r \in Replica : Cardinality(UncommittedVoters(r)) <= 1

(* No log holds two changes of the voters that are not committed. The same   *)
(* set may appear again where an epoch begins: a leader that has moved       *)
(* writes it, even if a change is pending.                                   *)
(* Source: KIP-853, adapted.                                                 *)
(* Broken by: a change while a replica that is to be added has yet to        *)
(* answer.                                                                   *)
OneUncommittedChangeInv == \A r \in Replica : Cardinality(UncommittedChanges(r)) <= 1

(* Each majority of a voter set meets each majority of the set before it in  *)
(* the log.                                                                  *)
(* Source: Raft dissertation, 4.1; Kafka, VoterSet.hasOverlappingMajority,   *)
(* which requires less: it allows one voter to be swapped for another.       *)
(* Broken by: a change of two voters at once.                                *)
OverlappingMajoritiesInv ==
  \A r \in Replica :
    LET sets == VoterSets(History(r)) IN
    \A i \in 1 .. Len(sets) - 1 : MajoritiesMeetCounted(sets[i], sets[i + 1])

(* The voters of every replica are those of the last record in its log,      *)
(* committed or not: neither an older set nor a set that was truncated.      *)
(* Kafka caches the set and must take it back; here the set is no variable,  *)
(* so this property compares two definitions of it on the same log.          *)
(* Source: Kafka, KRaftControlRecordStateMachine.lastVoterSet.               *)
(* Broken by: a set that counts from its commit on.                          *)
LatestVotersCountInv ==
  \A r \in Replica :
    LET sets == VoterSets(History(r)) IN Voters(r) = sets[Len(sets)]

(* There are always voters, and no two of them are disks of one node.        *)
(* Source: Kafka, VoterSet.removeVoter, DUPLICATE_VOTER.                     *)
(* Broken by: removing the last voter; adding a node's new disk before its   *)
(* old disk is removed.                                                      *)
VoterSetInv ==
  \A r \in Replica :
    /\ Voters(r) # {}
    /\ \A a, b \in Voters(r) : a # b => NodeOf[a] # NodeOf[b]

(* Only voters stand for election. True only if no replica restarts: see     *)
(* broken/voters/RemovedCandidate.cfg.                                       *)
(* Source: Kafka, KAFKA-17067.                                               *)
(* Broken by: an observer that stands.                                       *)
NomineeIsVoterInv == \A r \in Replica : IsNominee(r) => IsVoter(r)
------------------------------------------------------------------------------
(* Steps                                                                     *)

(* Leader l appends a record of a voter set in this step. *)
LastEntry(r) == log[r][Len(log[r])]
ChangesVoters(l) ==
  /\ role[l] = "Leader"
  /\ LogEnd(l)' = LogEnd(l) + 1
  /\ LastEntry(l)'.kind = "Voters"

(* A leader changes the voters only after it has committed a record of its   *)
(* own epoch.                                                                *)
(* Source: Raft's single-server change bug of 2015; Kafka, AddVoterHandler,  *)
(* RemoveVoterHandler, UpdateVoterHandler.                                   *)
(* Broken by: not waiting for the high watermark.                            *)
ChangeOnlyAfterOwnEpochCommitProp ==
  [][\A l \in Replica :
       ChangesVoters(l) =>
         \E i \in 1 .. Len(committed) : committed[i].epoch = epoch[l]]_log

(* A leader that waits for the answer of a new voter makes no other change.  *)
(* Source: KIP-853, one change at a time; Kafka,                             *)
(* LeaderState.addVoterHandlerState.                                         *)
(* Broken by: changing the voters while another is to be added.              *)
NoChangeWhileAddingProp ==
  [][\A l \in Replica : ChangesVoters(l) => ~AwaitsNewVoter(l)']_log

(* A voter that is added has fetched from the leader that adds it.           *)
(* Source: KIP-853, "caught up"; Kafka, LeaderState.isReplicaCaughtUp.       *)
(* Broken by: adding any replica that answers.                               *)
AddedHasFetchedProp ==
  [][\A l \in Replica :
       ChangesVoters(l) =>
         \A r \in LastEntry(l)'.value \ Voters(l) : end_offset[l][r] # NoOffset]_log

(* A majority of a leader's voters has the records that the leader declares  *)
(* committed on disk. The leader does not count itself unless it is a voter. *)
(* Source: KAFKA-16530; Kafka, LeaderState.maybeUpdateHighWatermark.         *)
(* Broken by: counting a leader that has removed itself.                     *)
HasCommittedOf(r, l) ==
  /\ (IF r = l THEN LogEnd(r) ELSE flushed[r]) >= high_watermark[l]
  /\ SubSeq(History(r), 1, high_watermark[l]) = SubSeq(History(l), 1, high_watermark[l])
CommittedByVotersProp ==
  [][\A l \in Replica :
       (role'[l] = "Leader" /\ high_watermark'[l] > high_watermark[l]) =>
         IsMajorityOf({r \in Replica : HasCommittedOf(r, l)}, Voters(l))']_high_watermark
------------------------------------------------------------------------------
(* Witnesses                                                                 *)

(* A voter that was added leads. *)
AddedLeaderReach == \E r \in Replica \ InitialVoters : role[r] = "Leader"

(* An added voter is needed: records commit that no majority of the initial  *)
(* voters has.                                                               *)
AddedVoterCountsReach ==
  \E l \in Replica :
    /\ role[l] = "Leader"
    /\ high_watermark[l] > 0
    /\ ~IsMajorityOf({r \in Replica : LogEnd(r) >= high_watermark[l]}, InitialVoters)

(* A leader has removed itself and waits for the others to commit the        *)
(* removal.                                                                  *)
RemovedLeaderWaitsReach ==
  \E l \in Replica : role[l] = "Leader" /\ ~IsVoter(l) /\ ~VotersAreCommitted(l)

(* The removal is committed, and the leader still leads. *)
RemovedLeaderLeadsReach ==
  \E l \in Replica : role[l] = "Leader" /\ ~IsVoter(l) /\ VotersAreCommitted(l)

(* A replica came back, and knows only the id of a removed leader.           *)
NamedLeaderReach ==
  \E r \in Replica : role[r] = "Unattached" /\ leader[r] # Nil

(* It has learned where that leader is, and follows it.                      *)
FoundAgainReach ==
  \E r \in Replica :
    /\ role[r] = "Follower"
    /\ leader[r] \notin Voters(r)
    /\ high_watermark[r] = NoOffset

(* A log holds a voter set that will never be committed and must be removed. *)
DoomedVotersReach ==
  \E r \in Replica : \E o \in UncommittedVoters(r) : o < Len(committed)

(* A replica knows the voters only from its snapshot. *)
VotersInSnapshotReach ==
  \E r \in Replica :
    LET offset == VotersOffset(History(r)) IN offset # NoOffset /\ offset < log_start[r]

(* The new disk of a node is a voter and has replaced the old disk. *)
DiskReplacedReach ==
  \E l \in Replica :
    /\ role[l] = "Leader"
    /\ VotersAreCommitted(l)
    /\ \E old \in InitialVoters, new \in Voters(l) : old # new /\ NodeOf[old] = NodeOf[new]
==============================================================================
