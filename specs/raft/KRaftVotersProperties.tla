------------------------ MODULE KRaftVotersProperties ------------------------
(***************************************************************************)
(* What must be true when the voters change: all that is true of KRaft,    *)
(* and besides what follows here. Suffixes as in KRaftProperties.          *)
(***************************************************************************)
EXTENDS KRaftVoters

------------------------------------------------------------------------------
(* Voter sets                                                                *)

IsMajorityOf(some, voters) == 2 * Cardinality(some \cap voters) > Cardinality(voters)

(* No majority of the one can decide without somebody of each majority of    *)
(* the other.                                                                *)
MajoritiesMeet(voters, others) ==
  \A some \in SUBSET voters, rest \in SUBSET others :
    (IsMajorityOf(some, voters) /\ IsMajorityOf(rest, others)) => some \cap rest # {}

(* The same, counted: a majority that takes first who is in its own set      *)
(* alone still needs so many of those who are in both.                       *)
NeededOfBoth(voters, others) ==
  LET needed == Cardinality(voters) \div 2 + 1 - Cardinality(voters \ others)
  IN  IF needed > 0 THEN needed ELSE 0
MajoritiesMeetCounted(voters, others) ==
  NeededOfBoth(voters, others) + NeededOfBoth(others, voters) > Cardinality(voters \cap others)

ASSUME CountingIsRight ==
  \A voters, others \in SUBSET Replica \ {{}} :
    MajoritiesMeetCounted(voters, others) <=> MajoritiesMeet(voters, others)

(* All voter sets of a log, the first one included, in their order. *)
VoterSets(records) ==
  LET changes == SelectSeq(records, LAMBDA entry : entry.kind = "Voters")
  IN  <<InitialVoters>> \o [i \in DOMAIN changes |-> changes[i].value]

(* The records of voters in r's log that are not, or not yet, committed.     *)
UncommittedVoters(r) ==
  {o \in log_start[r] .. LogEnd(r) - 1 :
     /\ EntryAt(r, o).kind = "Voters"
     /\ o < Len(committed) => committed[o + 1] # EntryAt(r, o)}

(* Those of them that change the set, or that somebody asked for. The others *)
(* begin an epoch, right after its first record and one of the version, with *)
(* the set that counted before.                                              *)
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
(* Source: KIP-853; Kafka, RaftEventSimulationTest.AtMostOneUncommittedVoterSet, *)
(* adapted: that counts sets that differ, this counts records. A leader that *)
(* has moved breaks it in Kafka (expected failure MovedLeader).              *)
(* Broken by: a change while another is pending.                             *)
OneUncommittedVoterSetInv == \A r \in Replica : Cardinality(UncommittedVoters(r)) <= 1

(* No log holds two changes of the voters that are not committed. The same   *)
(* set may be there again where an epoch begins: a leader that has moved     *)
(* writes it, whatever waits.                                                *)
(* Source: KIP-853, adapted.                                                 *)
(* Broken by: a change while a replica that is to be added has yet to answer. *)
OneUncommittedChangeInv == \A r \in Replica : Cardinality(UncommittedChanges(r)) <= 1

(* Each majority of a voter set meets each of the one before it in the log.  *)
(* Source: Raft dissertation, 4.1; Kafka, VoterSet.hasOverlappingMajority,   *)
(* which asks for less: it lets one voter be swapped for another.            *)
(* Broken by: a change of two voters at once.                                *)
OverlappingMajoritiesInv ==
  \A r \in Replica :
    LET sets == VoterSets(History(r)) IN
    \A i \in 1 .. Len(sets) - 1 : MajoritiesMeetCounted(sets[i], sets[i + 1])

(* Every replica takes for the voters what the last record in its log says,  *)
(* committed or not: neither an older set nor one that was truncated. Kafka  *)
(* caches the set and must take it back; here it is no variable, and so      *)
(* this compares two ways to say the same of a log.                          *)
(* Source: KIP-853. Broken by: a set that counts from its commit on.         *)
LatestVotersCountInv ==
  \A r \in Replica :
    LET sets == VoterSets(History(r)) IN Voters(r) = sets[Len(sets)]

(* There are always voters, and no two of them are disks of one node.        *)
(* Source: Kafka, VoterSet.removeVoter, DUPLICATE_VOTER.                     *)
(* Broken by: removing the last one; adding a node's new disk before its old *)
(* one is removed.                                                           *)
VoterSetInv ==
  \A r \in Replica :
    /\ Voters(r) # {}
    /\ \A a, b \in Voters(r) : a # b => NodeOf[a] # NodeOf[b]

(* Only voters stand for election. True only where nobody restarts: see      *)
(* broken/voters/RemovedCandidate.cfg.                                       *)
(* Source: Kafka, KAFKA-17067. Broken by: an observer that stands.           *)
NomineeIsVoterInv == \A r \in Replica : IsNominee(r) => IsVoter(r)
------------------------------------------------------------------------------
(* Steps                                                                     *)

(* Leader l appends a record of voters in this step. *)
LastEntry(r) == log[r][Len(log[r])]
ChangesVoters(l) ==
  /\ role[l] = "Leader"
  /\ LogEnd(l)' = LogEnd(l) + 1
  /\ LastEntry(l)'.kind = "Voters"

(* The voters are changed by a leader only that has committed a record of    *)
(* its own epoch.                                                            *)
(* Source: Raft's single-server change bug of 2015; KIP-853.                 *)
(* Broken by: not waiting for the high watermark.                            *)
ChangeOnlyAfterOwnEpochCommitProp ==
  [][\A l \in Replica :
       ChangesVoters(l) =>
         \E i \in 1 .. Len(committed) : committed[i].epoch = epoch[l]]_log

(* A leader that waits to hear from a new voter makes no other change.       *)
(* Source: KIP-853, one change at a time; Kafka, LeaderState.addVoterHandlerState. *)
(* Broken by: changing the voters while another is to be added.              *)
NoChangeWhileAddingProp ==
  [][\A l \in Replica : ChangesVoters(l) => ~AwaitsNewVoter(l)']_log

(* Who is added has fetched from the leader that adds it.                    *)
(* Source: KIP-853, "caught up"; Kafka, LeaderState.isReplicaCaughtUp.       *)
(* Broken by: adding whoever answers.                                        *)
AddedHasFetchedProp ==
  [][\A l \in Replica :
       ChangesVoters(l) =>
         \A r \in LastEntry(l)'.value \ Voters(l) : end_offset[l][r] # NoOffset]_log

(* What a leader says is committed, a majority of its voters has on disk;    *)
(* and itself it does not count unless it is one of them.                    *)
(* Source: KIP-853; KAFKA-16530. Broken by: counting a leader that has       *)
(* removed itself.                                                           *)
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

(* A voter that was added is needed: records commit that no majority of the  *)
(* first voters has.                                                         *)
AddedVoterCountsReach ==
  \E l \in Replica :
    /\ role[l] = "Leader"
    /\ high_watermark[l] > 0
    /\ ~IsMajorityOf({r \in Replica : LogEnd(r) >= high_watermark[l]}, InitialVoters)

(* A leader has removed itself and waits for the others to commit that. *)
RemovedLeaderWaitsReach ==
  \E l \in Replica : role[l] = "Leader" /\ ~IsVoter(l) /\ ~VotersAreCommitted(l)

(* It is committed, and it leads still. *)
RemovedLeaderLeadsReach ==
  \E l \in Replica : role[l] = "Leader" /\ ~IsVoter(l) /\ VotersAreCommitted(l)

(* A replica came back, and has no more than the name of a removed leader.   *)
NamedLeaderReach ==
  \E r \in Replica : role[r] = "Unattached" /\ leader[r] # Nil

(* It has heard where that leader is, and follows it.                        *)
FoundAgainReach ==
  \E r \in Replica :
    /\ role[r] = "Follower"
    /\ leader[r] \notin Voters(r)
    /\ high_watermark[r] = NoOffset

(* A log holds a voter set that will never be committed: it must go again.   *)
DoomedVotersReach ==
  \E r \in Replica : \E o \in UncommittedVoters(r) : o < Len(committed)

(* A replica knows the voters from its snapshot alone. *)
VotersInSnapshotReach ==
  \E r \in Replica :
    LET offset == VotersOffset(History(r)) IN offset # NoOffset /\ offset < log_start[r]

(* The new disk of a node is a voter in place of the old one. *)
DiskReplacedReach ==
  \E l \in Replica :
    /\ role[l] = "Leader"
    /\ VotersAreCommitted(l)
    /\ \E old \in InitialVoters, new \in Voters(l) : old # new /\ NodeOf[old] = NodeOf[new]
==============================================================================
