-------------------------- MODULE RaftLogRefinement --------------------------
(***************************************************************************)
(* KRaft => RaftLog, with constant voters and with those of KRaftVoters. A *)
(* reader takes the committed log record by record; each record that it    *)
(* takes is a step of RaftLog. The audit reads a log in the same manner.   *)
(*                                                                         *)
(* Two variables are added; no step of KRaft reads them. `elections` notes *)
(* what a LeaderChangeMessage says of its election besides the leader: an  *)
(* entry of KRaft does not hold it. `read` counts the records that the     *)
(* reader has taken. It takes all that is committed before anything else   *)
(* happens. That loses nothing: the committed log only grows               *)
(* (CommittedOnlyGrowsProp), so a slow reader finds the same records.      *)
(*                                                                         *)
(* KRaft has no KRaftVersionRecord, and the reader starts at offset 0. So  *)
(* KRaftVersion is a constant, and no step is WriteVersion or              *)
(* ReadCheckpoint.                                                         *)
(*                                                                         *)
(* KRaft knows no transactions. Where the models have them, the values of  *)
(* KRaft's state machine are their records, and WritableInTransaction says *)
(* what a leader writes: what MetadataLog's controller does, by the log of *)
(* its own replica.                                                        *)
(***************************************************************************)
EXTENDS KRaftVotersProperties

CONSTANT KRaftVersion   \* 0: the voters are constant. 1: they are records of the log.

VARIABLES
  elections,  \* [epoch -> its leader, its voters, and the voters that granted it their votes].
  read        \* The number of committed records that the reader has taken.

reader_vars == <<vars, elections, read>>

TransactionRecord == {"BeginTransaction", "EndTransaction", "AbortTransaction", "Other"}
------------------------------------------------------------------------------
(* What a leader writes into its LeaderChangeMessage                         *)

NewLeaders == {r \in Replica : role'[r] = "Leader" /\ (role[r] # "Leader" \/ epoch'[r] # epoch[r])}

(* The votes that candidate r has, with that in the answer which decides.    *)
VotesFor(r) ==
  IF role[r] = "Candidate"
  THEN granted[r] \cup {(CHOOSE m \in InFlight(messages) : m.to = r /\ BecomeLeader(m)).from}
  ELSE {r}

NotedElections ==
  IF NewLeaders = {} THEN elections
  ELSE LET r == CHOOSE l \in NewLeaders : TRUE
       IN  (epoch'[r] :> [leader |-> r, voters |-> Voters(r), granting |-> VotesFor(r)])
             @@ elections
------------------------------------------------------------------------------
(* RaftLog's state after a piece of the committed log                        *)

Taken == SubSeq(committed, 1, read)

VoterOf(r) == [id |-> NodeOf[r], directory |-> IF KRaftVersion = 0 THEN Nil ELSE r]
VotersAs(set) == {VoterOf(r) : r \in set}

KindOf(entry) ==
  CASE entry.kind = "LeaderChange" -> "LeaderChange"
    [] entry.kind = "Voters" -> "KRaftVoters"
    [] entry.value \in TransactionRecord -> entry.value
    [] OTHER -> "Other"

RECURSIVE TransactionAfter(_)
TransactionAfter(records) ==
  IF records = << >> THEN "None"
  ELSE LET before == TransactionAfter(SubSeq(records, 1, Len(records) - 1))
           kind == KindOf(records[Len(records)])
       IN  CASE kind = "BeginTransaction" -> "Open"
             [] kind \in {"EndTransaction", "AbortTransaction"} -> "None"
             [] kind = "LeaderChange" /\ before = "Open" -> "Left"
             [] OTHER -> before

LastTaken == Taken[read]
LastElection == elections[LastTaken.epoch]

Log == INSTANCE RaftLog WITH
  Node <- {NodeOf[r] : r \in Replica},
  Directory <- Replica,
  epoch <- IF read = 0 THEN 0 ELSE LastTaken.epoch,
  leader <- IF read = 0 THEN Nil ELSE NodeOf[LastElection.leader],
  granting <- IF read = 0 THEN {} ELSE VotersAs(LastElection.granting),
  kraft_version <- KRaftVersion,
  voters <- IF read = 0 /\ KRaftVersion = 0 THEN {} ELSE VotersAs(VotersOf(Taken)),
  transaction <- TransactionAfter(Taken),
  last <- IF read = 0 THEN "Nothing" ELSE KindOf(LastTaken)

(* The action of RaftLog that an entry stands for. A LeaderChangeMessage of  *)
(* version 0 lists its voters by their ids alone.                            *)
ById(set) == {[id |-> NodeOf[r], directory |-> Nil] : r \in set}
ActionOf(entry) ==
  LET noted == elections[entry.epoch]
      kind == KindOf(entry)
  IN
  CASE kind = "LeaderChange" ->
         Log!BeginEpoch(entry.epoch, NodeOf[entry.value], ById(noted.voters),
                         VotersAs(noted.granting))
    [] kind = "KRaftVoters" -> Log!WriteVoters(entry.epoch, VotersAs(entry.value))
    [] kind = "BeginTransaction" -> Log!BeginTransaction(entry.epoch)
    [] kind = "EndTransaction" -> Log!EndTransaction(entry.epoch)
    [] kind = "AbortTransaction" -> Log!AbortTransaction(entry.epoch)
    [] OTHER -> Log!OtherRecord(entry.epoch)
------------------------------------------------------------------------------
(* The reader takes the next record.                                         *)
Read ==
  /\ read < Len(committed)
  /\ read' = read + 1
  /\ UNCHANGED <<vars, elections>>

NoteElections == elections' = NotedElections /\ UNCHANGED read

ReaderInit == Init /\ elections = << >> /\ read = 0
KRaftNext == read = Len(committed) /\ Next /\ NoteElections
KRaftVotersNext == read = Len(committed) /\ DynamicNext /\ NoteElections
StaticReaderNext == KRaftNext \/ Read
DynamicReaderNext == KRaftVotersNext \/ Read

StaticReaderSpec == ReaderInit /\ [][StaticReaderNext]_reader_vars
DynamicReaderSpec == ReaderInit /\ [][DynamicReaderNext]_reader_vars

(* Each record that the reader takes is the step of RaftLog that it stands   *)
(* for. Its parameters are those of the record, so this says more than that  *)
(* it is some step of RaftLog.                                               *)
RefinesRaftLogProp ==
  /\ Log!Init
  /\ [][IF read' = read THEN UNCHANGED Log!vars ELSE ActionOf(committed[read'])]_reader_vars

THEOREM StaticReaderSpec => RefinesRaftLogProp
THEOREM DynamicReaderSpec => RefinesRaftLogProp

(* Each record that the reader takes is a step of RaftLog!Next. So SomeEpoch *)
(* must include epochs that no replica won.                                  *)
IsRaftLogProp == Log!Spec

THEOREM RefinesRaftLogProp => IsRaftLogProp
------------------------------------------------------------------------------
(* What a leader writes of transactions, by its own log: as MetadataLog's    *)
(* ClaimWithOpenTransaction, BeginTransaction and EndTransaction.            *)
WritableInTransaction(r) ==
  CASE TransactionAfter(History(r)) = "None" -> {"BeginTransaction", "Other"}
    [] TransactionAfter(History(r)) = "Open" -> {"EndTransaction", "Other"}
    [] OTHER -> {"AbortTransaction"}
------------------------------------------------------------------------------
(* Witnesses: a model in which one of these cannot be reached is too small.  *)

(* The reader has taken the records of two epochs. *)
TwoEpochsReadReach == read > 0 /\ LastTaken.epoch > committed[1].epoch

(* A transaction that one leader left open has been aborted by another. *)
AbortReadReach == read > 0 /\ KindOf(LastTaken) = "AbortTransaction"

(* The voters have changed, and elected another leader. *)
ElectedByNewVotersReach ==
  /\ read = Len(committed) /\ read > 0
  /\ VotersOf(Taken) # InitialVoters
  /\ LastTaken.kind = "LeaderChange"
==============================================================================
