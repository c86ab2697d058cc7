-------------------------- MODULE RaftLogProperties --------------------------
(***************************************************************************)
(* What must be true of the control records of a committed log. A module   *)
(* of its own, so that an audit, which steps through RaftLog alone, need   *)
(* not read it. Suffixes as in KRaftProperties.                            *)
(***************************************************************************)
EXTENDS RaftLog

------------------------------------------------------------------------------
(* Properties                                                                *)

(* The voters are nodes with one directory each.                             *)
(* Source: Kafka, VoterSet. Broken by: adding a node's new disk before its   *)
(* old disk is removed.                                                      *)
VotersAreNodesInv ==
  \A v, w \in voters : v.id = w.id => v = w

(* A log that has a leader has voters, and so has a level with records of    *)
(* voters.                                                                   *)
(* Source: Kafka, VoterSet.removeVoter.                                      *)
(* Broken by: removing the last voter.                                       *)
VotersNotEmptyInv ==
  leader # Nil \/ (kraft_version > 0 /\ VersionHasVoters) => voters # {}

(* The first record of a log begins an epoch.                                *)
(* Source: Kafka, KafkaRaftClient.onBecomeLeader.                            *)
(* Broken by: records of epoch 0.                                            *)
LogBeginsWithLeaderInv == last \notin {"Nothing", "Checkpoint"} => epoch > 0

(* A new epoch is a later one, and begins with the record of its leader.     *)
(* Source: Kafka, LeaderState.appendStartOfEpochControlRecords.              *)
(* Broken by: a leader that writes before its first record.                  *)
EpochBeginsWithLeaderProp ==
  [][epoch' # epoch => epoch' > epoch /\ last' = "LeaderChange"]_vars

(* An epoch has one leader.                                                  *)
(* Source: Raft, Election Safety.                                            *)
(* Broken by: another leader in the same epoch.                              *)
OneLeaderPerEpochProp ==
  [][<<leader', granting'>> # <<leader, granting>> => epoch' # epoch]_vars

(* A leader is one of the voters in force, and so is each that voted for it. *)
(* Source: KAFKA-17067; Kafka, EpochElection.grantingVoters.                 *)
(* Broken by: a leader that is an observer.                                  *)
LeaderIsVoterProp ==
  [][epoch' # epoch => {leader'} \cup IdsOf(granting') \subseteq IdsOf(voters')]_vars

(* A leader has voted for itself.                                            *)
(* Source: Kafka, CandidateState.                                            *)
(* Broken by: votes for another candidate.                                   *)
LeaderVotesForItselfProp ==
  [][epoch' # epoch => leader' \in IdsOf(granting')]_vars

(* A majority of the voters has voted for it.                                *)
(* Source: Kafka, EpochElection.isVoteGranted.                               *)
(* Broken by: counting half of the voters as enough.                         *)
LeaderHasMajorityProp ==
  [][epoch' # epoch =>
       2 * Cardinality(IdsOf(granting')) > Cardinality(voters')]_vars

(* A vote names the directory of the voter that gave it, where both are      *)
(* known.                                                                    *)
(* Source: Kafka, VoterSet.isVoter, which compares directories too.          *)
(* Broken by: the vote of a disk that was replaced.                          *)
VotesAreOfVotersProp ==
  [][epoch' # epoch =>
       \A v \in granting', w \in voters' :
         v.id = w.id /\ Nil \notin {v.directory, w.directory} => v = w]_vars

(* The beginning of an epoch leaves the voters as they were.                 *)
(* Source: Kafka, LeaderState.appendStartOfEpochControlRecords.              *)
(* Broken by: a leader that lists other voters.                              *)
EpochKeepsVotersProp ==
  [][epoch' # epoch /\ voters # {} =>
       /\ IdsOf(voters') = IdsOf(voters)
       /\ \A v \in voters : v.directory # Nil => v \in voters']_vars

(* kraft.version never falls.                                                *)
(* Source: Kafka, LeaderState.maybeAppendUpgradedKRaftVersion.               *)
(* Broken by: a downgrade.                                                   *)
VersionNeverFallsProp == [][kraft_version' >= kraft_version]_vars

(* Only a new leader writes the level again, right after it has begun.       *)
(* Source: Kafka, LeaderState. Broken by: an upgrade to the same level.      *)
VersionRepeatedByLeaderProp ==
  [][last' = "KRaftVersion" /\ last # last' /\ kraft_version' = kraft_version =>
       last = "LeaderChange"]_vars

(* A record of kraft.version names a level that has records of voters: one   *)
(* of them must follow.                                                      *)
(* Source: Kafka, LeaderState.appendStartOfEpochControlRecords. Broken by: a *)
(* record of level 0.                                                        *)
VersionRecordedAboveZeroInv == last = "KRaftVersion" => kraft_version > 0

(* A record of the voters stands only where kraft.version has them.          *)
(* Source: Kafka, LeaderState.appendStartOfEpochControlRecords, and the      *)
(* handlers of changes.                                                      *)
(* Broken by: adding a voter to a static quorum.                             *)
VotersRecordedAboveZeroProp ==
  [][last' = "KRaftVoters" /\ last # last' => kraft_version > 0]_vars

(* A record of kraft.version is followed by one of the voters.               *)
(* Source: Kafka, LeaderState. Broken by: a version without voters.          *)
VersionHasVotersProp ==
  [][last = "KRaftVersion" => last' = "KRaftVoters"]_vars

(* Of the ids of voters, at most one is another than before, and no node     *)
(* changes its directory while it votes.                                     *)
(* Source: Kafka, VoterSet.addVoter, removeVoter, updateVoter.               *)
(* Broken by: one voter that takes another's place.                          *)
VotersChangeByOneProp ==
  [][voters # {} /\ voters' # voters =>
       /\ Cardinality((IdsOf(voters) \ IdsOf(voters')) \cup (IdsOf(voters') \ IdsOf(voters)))
            <= IF last' = "KRaftVoters" /\ last # "KRaftVersion" THEN 1 ELSE 0
       /\ \A v \in voters, w \in voters' :
            v.id = w.id /\ Nil \notin {v.directory, w.directory} => v = w]_vars

(* While a transaction is left open, the controller writes nothing but the   *)
(* record that aborts it.                                                    *)
(* Source: Kafka, ActivationRecordsGenerator.recordsForNonEmptyLog.          *)
(* Broken by: a new leader that goes on in the transaction of another.       *)
LeftIsAbortedProp ==
  [][transaction = "Left" =>
       \/ last' = "AbortTransaction" /\ transaction' = "None"
       \/ transaction' = "Left" /\
          last' \in {"LeaderChange", "KRaftVersion", "KRaftVoters"}]_vars

(* A transaction that is open when another epoch begins is left.             *)
(* Source: Kafka, ActivationRecordsGenerator.recordsForNonEmptyLog.          *)
(* Broken by: a transaction that outlives its epoch.                         *)
EpochLeavesTransactionProp ==
  [][epoch' # epoch /\ transaction # "None" => transaction' = "Left"]_vars

(* Only a transaction's own records begin and end it: its leader ends it, or *)
(* the next leader aborts it.                                                *)
(* Source: Kafka, OffsetControlManager.replay, ActivationRecordsGenerator.   *)
(* Broken by: a record that ends the transaction it is in; a leader that     *)
(* aborts its own.                                                           *)
TransactionEndsByRecordProp ==
  [][/\ transaction' = "Open" /\ transaction # "Open" => last' = "BeginTransaction"
     /\ transaction # "None" /\ transaction' = "None" =>
          last' = IF transaction = "Open" THEN "EndTransaction" ELSE "AbortTransaction"
     /\ last # last' /\ last' = "BeginTransaction" => transaction' = "Open"
     /\ last # last' /\ last' \in {"EndTransaction", "AbortTransaction"} =>
          transaction' = "None"]_vars

(* A checkpoint ends outside a transaction.                                  *)
(* Source: Kafka, MetadataBatchLoader.maybeFlushBatches. Broken by: a        *)
(* checkpoint of an image that a transaction has not finished.               *)
CheckpointOutsideTransactionProp ==
  [][last' = "Checkpoint" /\ last # last' => transaction = "None" /\ transaction' = "None"]_vars

(* A checkpoint changes no level and no voter.                               *)
(* Source: KIP-630, a snapshot is the state of the records before its end.   *)
(* Broken by: a checkpoint of other voters.                                  *)
CheckpointIsLogProp ==
  [][last' = "Checkpoint" =>
       /\ kraft_version' = kraft_version
       /\ IF kraft_version > 0 THEN voters' # {} ELSE voters' = voters
       /\ voters # {} => IdsOf(voters') = IdsOf(voters)]_vars
------------------------------------------------------------------------------
(* Witnesses: a model in which one of these cannot be reached is too small.  *)

(* A transaction that an earlier leader left open is about to be aborted.    *)
LeftOpenReach == transaction = "Left" /\ last = "LeaderChange"

(* A leader has removed itself, and goes on.                                 *)
RemovedLeaderWritesReach ==
  leader # Nil /\ leader \notin IdsOf(voters) /\ last = "Other"
==============================================================================
