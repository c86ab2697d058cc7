---------------------------- MODULE ReplicatedLog ----------------------------
(***************************************************************************)
(* The committed log: one sequence of records that only grows, and the     *)
(* part of it that each node knows. This is all that the rest of the       *)
(* system needs of Raft. The layer below this module says how the nodes    *)
(* agree, with epochs, votes and fetches (raft/KRaft.tla refines this      *)
(* module). The layer above says what the records mean                     *)
(* (metadata/MetadataLog.tla builds on it).                                *)
(*                                                                         *)
(* Source: the replicated log of KIP-595, its snapshots in KIP-630.        *)
(*                                                                         *)
(* A node holds a piece of the log. It has everything before the piece's   *)
(* start only as a snapshot. It does not know that anything after the      *)
(* piece's end is committed, whether its own log holds that or not.        *)
(* Offsets count from 0, and an end is the first offset that is not there. *)
(*                                                                         *)
(* Kafka's handler -> actions here                                         *)
(*   LeaderState.maybeUpdateHighWatermark -> Commit (CommitAxiom)          *)
(*   FollowerState.updateHighWatermark -> Learn                            *)
(*   LeaderState.maybeUpdateHighWatermark of a leader that learns what     *)
(*     an earlier leader had committed -> Learn                            *)
(*   KafkaMetadataLog.deleteBeforeSnapshot -> Compact                      *)
(*   KafkaRaftClient.handleFetchSnapshotResponse -> LoadSnapshot           *)
(*   KafkaMetadataLog.truncateToLatestSnapshot -> LoadSnapshot             *)
(*   QuorumState.initialize, transitionToLeader -> Forget                  *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Which node may append. Any node may be the next to learn that a      *)
(*    record is committed: leadership belongs to the layers below and      *)
(*    above.                                                               *)
(*  - Records that are not committed. A node's log may hold more than the  *)
(*    node knows to be committed, and may lose that again.                 *)
(*  - The content of a snapshot. It stands for the records before its      *)
(*    offset.                                                              *)
(*  - A node that loses its disk. It comes back as another node.           *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
  Node,    \* The nodes that hold the log: controllers, and brokers that follow it.
  Record   \* The values that one offset of the log can hold.

ASSUME Constants == Node # {} /\ Record # {}

VARIABLES
  committed,  \* The one sequence of all committed records.
  known       \* [Node -> piece]: the part of it that a node holds and knows to be committed.

vars == <<committed, known>>
------------------------------------------------------------------------------
(* Pieces                                                                    *)

Piece == [start : Nat, records : Seq(Record)]

End(piece) == piece.start + Len(piece.records)

(* The piece of a log from one offset up to another. *)
Cut(log, start, end) == [start |-> start, records |-> SubSeq(log, start + 1, end)]

NoPiece == [start |-> 0, records |-> << >>]

(* Kafka: the high watermark of node n. *)
KnownEnd(n) == End(known[n])

IsPrefix(shorter, longer) ==
  /\ Len(shorter) <= Len(longer)
  /\ shorter = SubSeq(longer, 1, Len(shorter))

TypeOK ==
  /\ committed \in Seq(Record)
  /\ known \in [Node -> Piece]
------------------------------------------------------------------------------
Init ==
  /\ committed = << >>
  /\ known = [n \in Node |-> NoPiece]

(***************************************************************************)
(* Records become committed, and n is the first node to know: it now knows *)
(* everything that is committed. Records never become committed without    *)
(* some node knowing: that a majority holds a record is a fact about many  *)
(* disks, and becomes a promise only when a leader concludes it.           *)
(*                                                                         *)
(* Kafka: LeaderState.maybeUpdateHighWatermark.                            *)
(***************************************************************************)
Commit(n, records) ==
  /\ records # << >>
  /\ committed' = committed \o records
  /\ known' = [known EXCEPT ![n] = Cut(committed', @.start, Len(committed'))]

(***************************************************************************)
(* The same as Commit, but as a relation between the two states, without   *)
(* the records to append. It can judge a step, but cannot generate one.    *)
(* Refinements are checked against this action, because TLC cannot try     *)
(* every sequence of records.                                              *)
(***************************************************************************)
CommitAxiom(n) ==
  /\ committed' # committed
  /\ IsPrefix(committed, committed')
  /\ known' = [known EXCEPT ![n] = Cut(committed', @.start, Len(committed'))]

(***************************************************************************)
(* A node learns that its log is committed up to an offset.                *)
(*                                                                         *)
(* Kafka: FollowerState.updateHighWatermark, and LeaderState for a leader  *)
(* that learns what an earlier one had committed.                          *)
(***************************************************************************)
Learn(n, end) ==
  /\ KnownEnd(n) < end
  /\ end <= Len(committed)
  /\ known' = [known EXCEPT ![n] = Cut(committed, @.start, end)]
  /\ UNCHANGED committed

(***************************************************************************)
(* A node drops the beginning of its log and keeps a snapshot in its       *)
(* place. The snapshot covers only records that the node knows to be       *)
(* committed.                                                              *)
(*                                                                         *)
(* Kafka: KafkaMetadataLog.deleteBeforeSnapshot.                           *)
(***************************************************************************)
Compact(n, start) ==
  /\ known[n].start < start
  /\ start <= KnownEnd(n)
  /\ known' = [known EXCEPT ![n] = Cut(committed, start, KnownEnd(n))]
  /\ UNCHANGED committed

(***************************************************************************)
(* A node that lags replaces its log by the snapshot of another node.      *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleFetchSnapshotResponse,                     *)
(* KafkaMetadataLog.truncateToLatestSnapshot.                              *)
(***************************************************************************)
LoadSnapshot(n, end) ==
  /\ KnownEnd(n) < end
  /\ end <= Len(committed)
  /\ known' = [known EXCEPT ![n] = Cut(committed, end, end)]
  /\ UNCHANGED committed

(***************************************************************************)
(* A node no longer knows how much of its log is committed, except for     *)
(* what its snapshot covers. A restart causes this, since the high         *)
(* watermark is not written to disk. An election does too, since a new     *)
(* leader trusts only what commits in its own epoch.                       *)
(*                                                                         *)
(* Kafka: QuorumState.initialize, QuorumState.transitionToLeader.          *)
(***************************************************************************)
Forget(n) ==
  /\ known[n].records # << >>
  /\ known' = [known EXCEPT ![n] = Cut(committed, @.start, @.start)]
  /\ UNCHANGED committed
------------------------------------------------------------------------------
(* The sequences that Next tries to append. A model replaces this by a       *)
(* finite set.                                                               *)
SomeRecords == Seq(Record) \ {<< >>}

(* The steps that commit nothing. *)
Follow ==
  \/ \E n \in Node, end \in 0 .. Len(committed) : Learn(n, end)
  \/ \E n \in Node, start \in 0 .. Len(committed) : Compact(n, start)
  \/ \E n \in Node, end \in 0 .. Len(committed) : LoadSnapshot(n, end)
  \/ \E n \in Node : Forget(n)

Next == (\E n \in Node, records \in SomeRecords : Commit(n, records)) \/ Follow

AxiomNext == (\E n \in Node : CommitAxiom(n)) \/ Follow

Spec == Init /\ [][Next]_vars

AxiomSpec == Init /\ [][AxiomNext]_vars

(* Spec generates the steps; AxiomSpec judges given steps. MCReplicatedLog   *)
(* checks one direction of the equivalence, MCReplicatedLogAxiom the other.  *)
(* The axiom does not require that the appended values are records: TypeOK   *)
(* does.                                                                     *)
THEOREM Spec <=> (AxiomSpec /\ [](committed \in Seq(Record)))
------------------------------------------------------------------------------
(* Properties                                                                *)

(* Everything that a node knows to be committed is committed, and is what    *)
(* the node holds. So no two nodes ever take different records for committed *)
(* at one offset.                                                            *)
(* Source: Raft, State Machine Safety.                                       *)
(* Broken by: learning past the end.                                         *)
KnownIsCommittedInv ==
  \A n \in Node :
    /\ KnownEnd(n) <= Len(committed)
    /\ known[n] = Cut(committed, known[n].start, KnownEnd(n))

(* A committed record stays at its offset.                                   *)
(* Source: Raft, Leader Completeness.                                        *)
(* Broken by: replacing the last record.                                     *)
AppendOnlyProp == [][IsPrefix(committed, committed')]_committed

(* When records become committed, some node knows everything that is         *)
(* committed.                                                                *)
(* Source: KIP-595, the leader's high watermark.                             *)
(* Broken by: a commit that no node has concluded.                           *)
CommitIsKnownProp == [][\E n \in Node : End(known'[n]) = Len(committed')]_committed

(* A node never has records again that it has replaced by a snapshot.        *)
(* Source: KIP-630, the log start offset.                                    *)
(* Broken by: a restart that brings back a snapshot older than the log's     *)
(* start.                                                                    *)
StartOnlyGrowsProp == [][\A n \in Node : known'[n].start >= known[n].start]_known

(* A node forgets what it knows only down to its snapshot.                   *)
(* Source: KIP-630, a snapshot is of committed records.                      *)
(* Broken by: loading a snapshot that ends before what the node knows.       *)
ForgetsDownToSnapshotProp ==
  [][\A n \in Node :
       \/ End(known'[n]) >= KnownEnd(n)
       \/ known'[n] = Cut(committed, known[n].start, known[n].start)]_known

(* Every node eventually knows a committed record, provided that each node   *)
(* that lags catches up now and then, even if it forgets in between.         *)
(* Source: KIP-595, followers fetch until they have caught up.               *)
(* Broken by: nodes that may stop fetching; nodes that need to learn only    *)
(* one record at a time, and forget it each time.                            *)
CatchUp(n) == Learn(n, Len(committed)) \/ LoadSnapshot(n, Len(committed))
FairSpec == Spec /\ \A n \in Node : WF_vars(CatchUp(n))
EventuallyLearnedLive ==
  \A n \in Node, end \in Nat :
    ((Len(committed) = end) ~> (KnownEnd(n) >= end))

(* Two properties that are false, kept as expected failures (broken/lib). A  *)
(* node may forget what it knows when it restarts, so there need be no       *)
(* moment at which all nodes know everything.                                *)
KnownNeverFallsProp == [][\A n \in Node : End(known'[n]) >= KnownEnd(n)]_known
AllKnowAllLive == ((committed # << >>) ~> (\A n \in Node : KnownEnd(n) = Len(committed)))
------------------------------------------------------------------------------
(* Witnesses: a model in which one of these cannot be reached is too small.  *)

(* Records are committed, and no node knows of any: all nodes have           *)
(* forgotten.                                                                *)
AllForgotReach == committed # << >> /\ \A n \in Node : KnownEnd(n) = 0

(* One node lacks records that no other node still has as records.           *)
OnlySnapshotsLeftReach ==
  \E n \in Node : \A other \in Node \ {n} : KnownEnd(n) < known[other].start

(* Nodes hold different pieces of one log, and no node holds all of it.      *)
NobodyHoldsAllReach ==
  /\ \A n \in Node : known[n] # Cut(committed, 0, Len(committed))
  /\ \A offset \in 0 .. Len(committed) - 1 :
       \E n \in Node : known[n].start <= offset /\ offset < KnownEnd(n)
  /\ committed # << >>
==============================================================================
