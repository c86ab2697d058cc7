------------------------------- MODULE RaftLog -------------------------------
(***************************************************************************)
(* Raft as a committed metadata log shows it. There are no replicas, no    *)
(* messages and no elections: an epoch may begin at any moment, under any  *)
(* voter. This module keeps the rules that tie each record to the records  *)
(* before it. KRaft and KRaftVoters refine it (RaftLogRefinement), for a   *)
(* reader that takes the committed log record by record. They know neither *)
(* records of kraft.version nor a reader that begins with a checkpoint: no *)
(* refinement covers WriteVersion and ReadCheckpoint. The audit steps      *)
(* through RaftLog with the log of a real cluster: each action takes its   *)
(* parameters from its record, and reads no constant but Nil.              *)
(*                                                                         *)
(* Kafka's handler -> actions here                                         *)
(*  - LeaderState.appendStartOfEpochControlRecords -> BeginEpoch, and      *)
(*    WriteVersion, WriteVoters if the voters stand in a checkpoint only,  *)
(*    or the leader has moved                                              *)
(*  - LeaderState.maybeAppendUpgradedKRaftVersion -> WriteVersion,         *)
(*    WriteVoters                                                          *)
(*  - AddVoterHandler, RemoveVoterHandler, UpdateVoterHandler ->           *)
(*    WriteVoters                                                          *)
(*  - ActivationRecordsGenerator -> AbortTransaction, BeginTransaction     *)
(*  - QuorumController.ControllerWriteEvent -> OtherRecord, EndTransaction *)
(*  - RecordsSnapshotWriter -> ReadCheckpoint                              *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Offsets. No rule about these records mentions one.                   *)
(*  - What is committed when: a set of voters counts from its record on,   *)
(*    committed or not, and a log shows all of them.                       *)
(*  - An operator who changes controller.quorum.voters. At kraft.version 0 *)
(*    the voters are those that the first LeaderChange lists, for ever.    *)
(*  - Endpoints of voters, and the versions that they support.             *)
(*  - Transactions inside transactions: the metadata's own rule.           *)
(***************************************************************************)
EXTENDS Integers, FiniteSets

CONSTANTS
  Node,       \* The node ids of controllers. Bounds TypeOK and Next, not the actions.
  Directory,  \* Their directory ids. Bounds TypeOK and Next, not the actions.
  Nil         \* No leader known; a directory that is not known.

VARIABLES
  epoch,          \* The epoch of the last record.
  leader,         \* The leader that began it, or Nil.
  granting,       \* The voters that granted it their votes.
  kraft_version,  \* The level of kraft.version: 0 or 1.
  voters,         \* The voters in force; {} if no record has named them yet.
  transaction,    \* "None", "Open", or "Left" open by the leader of an earlier epoch.
  last            \* The kind of the last record.

vars == <<epoch, leader, granting, kraft_version, voters, transaction, last>>

(* At kraft.version 0 voters have no directory id. A LeaderChangeMessage of  *)
(* version 0, the only one that Kafka writes so far, does not tell it.       *)
Voter == [id : Node, directory : Directory \cup {Nil}]

Kind ==
  {"Nothing", "Checkpoint", "LeaderChange", "KRaftVersion", "KRaftVoters",
   "BeginTransaction", "EndTransaction", "AbortTransaction", "Other"}

TypeOK ==
  /\ epoch \in Nat
  /\ leader \in Node \cup {Nil}
  /\ granting \in SUBSET Voter
  /\ kraft_version \in Nat
  /\ voters \in SUBSET Voter
  /\ transaction \in {"None", "Open", "Left"}
  /\ last \in Kind
------------------------------------------------------------------------------
(* Sets of voters                                                            *)

IdsOf(set) == {v.id : v \in set}

(* The same voter, as far as is known. (A disjunction in an action would     *)
(* make TLC evaluate what follows once for each disjunct that is true.)      *)
Agree(v, w) ==
  /\ v.id = w.id
  /\ IF Nil \in {v.directory, w.directory} THEN TRUE ELSE v.directory = w.directory

Within(set, all) == \A v \in set : \E w \in all : Agree(v, w)

Same(set, other) == Within(set, other) /\ Within(other, set)

(* Every node has one directory. *)
IsVoterSet(set) == set # {} /\ Cardinality(IdsOf(set)) = Cardinality(set)

(* One voter joins or leaves, or is written with other endpoints. A node     *)
(* leaves with one directory before it joins with another.                   *)
ChangesByOne(old, new) ==
  IF Same(old, new) THEN TRUE
  ELSE \E v \in old \cup new : Same(old \ {v}, new \ {v})

IsMajority(some, all) == 2 * Cardinality(IdsOf(some)) > Cardinality(IdsOf(all))

DirectoriesAreKnown(set) == \E v \in set : v.directory # Nil

(* The voters in force where a leader lists these. *)
InForce(listed) == IF DirectoriesAreKnown(voters) THEN voters ELSE listed
------------------------------------------------------------------------------
(* A record of this epoch. Its leader began it. *)
Write(e, kind) ==
  /\ e = epoch
  /\ e > 0
  /\ epoch' = e
  /\ last' = kind
  /\ UNCHANGED <<leader, granting>>

(* A KRaftVersionRecord and its KRaftVotersRecord are written together. *)
VersionHasVoters == last # "KRaftVersion"

(***************************************************************************)
(* LeaderChangeMessage, the first record of an epoch: a majority of the    *)
(* voters in force, the leader among them, has granted its vote. A         *)
(* transaction that is open now can no longer end.                         *)
(*                                                                         *)
(* Kafka: LeaderState.appendStartOfEpochControlRecords.                    *)
(***************************************************************************)
BeginEpoch(e, new_leader, listed, granted) ==
  /\ e > epoch
  /\ VersionHasVoters
  /\ IsVoterSet(listed)
  /\ voters # {} => Same(listed, voters)
  /\ Within(granted, InForce(listed))
  /\ new_leader \in IdsOf(granted)
  /\ IsMajority(granted, listed)
  /\ epoch' = e
  /\ leader' = new_leader
  /\ granting' = granted
  /\ voters' = InForce(listed)
  /\ transaction' = IF transaction = "Open" THEN "Left" ELSE transaction
  /\ last' = "LeaderChange"
  /\ UNCHANGED kraft_version

(***************************************************************************)
(* KRaftVersionRecord: the level never falls. A new leader may write the   *)
(* level again, to say where it is. At level 0 no leader writes one: its   *)
(* record of the voters, which follows, would not be allowed.              *)
(*                                                                         *)
(* Kafka: LeaderState.appendStartOfEpochControlRecords,                    *)
(* LeaderState.maybeAppendUpgradedKRaftVersion.                            *)
(***************************************************************************)
WriteVersion(e, version) ==
  /\ VersionHasVoters
  /\ version >= kraft_version
  /\ version = kraft_version => last = "LeaderChange" /\ version > 0
  /\ kraft_version' = version
  /\ Write(e, "KRaftVersion")
  /\ UNCHANGED <<voters, transaction>>

(* A level that has records of voters.                                       *)
HasVoterRecords == kraft_version > 0

(***************************************************************************)
(* KRaftVotersRecord: one voter is added, removed or updated. Right after  *)
(* a KRaftVersionRecord it holds the voters in force, with their           *)
(* directories.                                                            *)
(*                                                                         *)
(* Kafka: AddVoterHandler, RemoveVoterHandler, UpdateVoterHandler,         *)
(* LeaderState.appendStartOfEpochControlRecords,                           *)
(* LeaderState.maybeAppendUpgradedKRaftVersion.                            *)
(***************************************************************************)
WriteVoters(e, set) ==
  /\ HasVoterRecords
  /\ IsVoterSet(set)
  /\ voters # {} =>
       IF VersionHasVoters THEN ChangesByOne(voters, set) ELSE Same(set, voters)
  /\ voters' = set
  /\ Write(e, "KRaftVoters")
  /\ UNCHANGED <<kraft_version, transaction>>
------------------------------------------------------------------------------
(* Records of the active controller. While a transaction is left open, it    *)
(* writes nothing but the record that aborts it.                             *)
WriteMetadata(e, kind) ==
  /\ VersionHasVoters
  /\ transaction = "Left" => kind = "AbortTransaction"
  /\ Write(e, kind)
  /\ UNCHANGED <<kraft_version, voters>>

(***************************************************************************)
(* Kafka: BeginTransactionRecord, OffsetControlManager.replay.             *)
(***************************************************************************)
BeginTransaction(e) ==
  /\ transaction' = "Open"
  /\ WriteMetadata(e, "BeginTransaction")

(***************************************************************************)
(* Kafka: EndTransactionRecord, OffsetControlManager.replay.               *)
(***************************************************************************)
EndTransaction(e) ==
  /\ transaction' = "None"
  /\ WriteMetadata(e, "EndTransaction")

(***************************************************************************)
(* The next leader aborts a transaction before it writes anything else.    *)
(*                                                                         *)
(* Kafka: ActivationRecordsGenerator.recordsForNonEmptyLog.                *)
(***************************************************************************)
AbortTransaction(e) ==
  /\ transaction = "Left"
  /\ transaction' = "None"
  /\ WriteMetadata(e, "AbortTransaction")

(* Any other metadata record. *)
OtherRecord(e) ==
  /\ UNCHANGED transaction
  /\ WriteMetadata(e, "Other")

(***************************************************************************)
(* A checkpoint that ends here holds the level and the voters in force. So *)
(* a reader may go on from it. Below kraft.version 1 it holds no voters.   *)
(* None ends inside a transaction: it holds an image, and Kafka publishes  *)
(* none before the transaction ends or is aborted.                         *)
(*                                                                         *)
(* Kafka: RecordsSnapshotWriter.Builder, MetadataBatchLoader.              *)
(***************************************************************************)
ReadCheckpoint(version, set) ==
  /\ transaction = "None"
  /\ VersionHasVoters
  /\ version = kraft_version
  /\ IF HasVoterRecords THEN IsVoterSet(set) ELSE set = {}
  /\ voters # {} /\ set # {} => Same(set, voters)
  /\ kraft_version' = version
  /\ voters' = IF HasVoterRecords \/ set # {} THEN set ELSE voters
  /\ last' = "Checkpoint"
  /\ UNCHANGED <<epoch, leader, granting, transaction>>
------------------------------------------------------------------------------
(* The values that Next tries. A model replaces those that are infinite, and *)
(* may replace the others. An epoch may be skipped: no replica won it.       *)
SomeEpoch == Nat
SomeVoters == SUBSET Voter
SomeVotes(listed) == SUBSET listed
SomeVersion == {0, 1}
SomeStart == Nat

(* A log begins in epoch 0; a history that starts from a checkpoint begins   *)
(* within an epoch. The first leader knows the voters from its               *)
(* configuration, at kraft.version 0, or from the checkpoint with which its  *)
(* directory was formatted.                                                  *)
Init ==
  /\ epoch \in SomeStart
  /\ leader = Nil
  /\ granting = {}
  /\ \/ kraft_version = 0 /\ voters = {}
     \/ kraft_version = 1 /\ voters \in {set \in SomeVoters : IsVoterSet(set)}
  /\ transaction = "None"
  /\ last = "Nothing"

Next ==
  \/ \E e \in SomeEpoch, l \in Node : \E listed \in SomeVoters :
       \E granted \in SomeVotes(listed) : BeginEpoch(e, l, listed, granted)
  \/ \E e \in SomeEpoch, version \in SomeVersion : WriteVersion(e, version)
  \/ \E e \in SomeEpoch, set \in SomeVoters : WriteVoters(e, set)
  \/ \E e \in SomeEpoch : BeginTransaction(e)
  \/ \E e \in SomeEpoch : EndTransaction(e)
  \/ \E e \in SomeEpoch : AbortTransaction(e)
  \/ \E e \in SomeEpoch : OtherRecord(e)
  \/ \E version \in SomeVersion, set \in SomeVoters : ReadCheckpoint(version, set)

Spec == Init /\ [][Next]_vars
==============================================================================
