---------------------------- MODULE ReplicatedLog ----------------------------
(***************************************************************************)
(* The committed log: one sequence of records that only grows, and how     *)
(* much of it each node knows. That is all Raft is for; how the nodes      *)
(* agree, by epochs and votes and fetches, is below this module            *)
(* (raft/KRaft.tla refines it), and what the records mean is above it      *)
(* (metadata/MetadataLog.tla builds on it).                                *)
(*                                                                         *)
(* Source: the replicated log of KIP-595, its snapshots in KIP-630.        *)
(*                                                                         *)
(* A node holds a piece of the log: what lies before its start it has as   *)
(* a snapshot only, and what lies after its end it does not know to be     *)
(* committed, whether its log holds it or not. Offsets count from 0, and   *)
(* an end is the first offset that is not there.                           *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Who may append. Any node may be the next to see a record commit:     *)
(*    leadership is a matter of the layers below and above.                *)
(*  - Records that are not committed. A node's log may hold more than it   *)
(*    knows to be committed, and may lose that again.                      *)
(*  - What a snapshot holds. It stands for the records before its offset.  *)
(*  - A node that loses its disk. It comes back as another node.           *)
(***************************************************************************)
EXTENDS Integers, Sequences

CONSTANTS
  Node,    \* Whoever holds the log: controllers, and brokers that follow it.
  Record   \* What one offset of the log can hold.

ASSUME Constants == Node # {} /\ Record # {}

VARIABLES
  committed,  \* The one sequence of all committed records.
  known       \* [Node -> piece]: what a node holds of it and knows to be committed.

vars == <<committed, known>>
------------------------------------------------------------------------------
(* Pieces                                                                    *)

Piece == [start : Nat, records : Seq(Record)]

End(piece) == piece.start + Len(piece.records)

(* What a log holds from one offset up to another. *)
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
(* Records become committed, and n is the first to know: it now knows all  *)
(* that is committed. Nothing commits unknown to everybody: that a         *)
(* majority holds a record is a fact about many disks, and becomes a       *)
(* promise only when a leader concludes it.                                *)
(*                                                                         *)
(* Kafka: LeaderState.maybeUpdateHighWatermark.                            *)
(***************************************************************************)
Commit(n, records) ==
  /\ records # << >>
  /\ committed' = committed \o records
  /\ known' = [known EXCEPT ![n] = Cut(committed', @.start, Len(committed'))]

(***************************************************************************)
(* The same, said of the two states and not of what is appended: a step    *)
(* can be held against it, but it cannot be made from it. A refinement is  *)
(* checked with this one, because nobody can try every sequence.           *)
(***************************************************************************)
CommitAxiom(n) ==
  /\ committed' # committed
  /\ IsPrefix(committed, committed')
  /\ known' = [known EXCEPT ![n] = Cut(committed', @.start, Len(committed'))]

(***************************************************************************)
(* A node comes to know that its log is committed up to an offset.         *)
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
(* A node drops the beginning of its log, in favour of a snapshot of what  *)
(* it knows to be committed.                                               *)
(*                                                                         *)
(* Kafka: KafkaMetadataLog.deleteBeforeSnapshot.                           *)
(***************************************************************************)
Compact(n, start) ==
  /\ known[n].start < start
  /\ start <= KnownEnd(n)
  /\ known' = [known EXCEPT ![n] = Cut(committed, start, KnownEnd(n))]
  /\ UNCHANGED committed

(***************************************************************************)
(* A node that lags takes the snapshot of another in place of its log.     *)
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
(* A node no longer knows how much of its log is committed, beyond its     *)
(* snapshot. A restart does that, since the high watermark is not written  *)
(* to disk; so does an election, since a new leader trusts only what       *)
(* commits in its own epoch.                                               *)
(*                                                                         *)
(* Kafka: QuorumState.initialize, QuorumState.transitionToLeader.          *)
(***************************************************************************)
Forget(n) ==
  /\ known[n].records # << >>
  /\ known' = [known EXCEPT ![n] = Cut(committed, @.start, @.start)]
  /\ UNCHANGED committed
------------------------------------------------------------------------------
(* What Next tries to append. A model puts a finite set in its place.        *)
SomeRecords == Seq(Record) \ {<< >>}

(* The steps after which no more is committed than before. *)
Follow ==
  \/ \E n \in Node, end \in 0 .. Len(committed) : Learn(n, end)
  \/ \E n \in Node, start \in 0 .. Len(committed) : Compact(n, start)
  \/ \E n \in Node, end \in 0 .. Len(committed) : LoadSnapshot(n, end)
  \/ \E n \in Node : Forget(n)

Next == (\E n \in Node, records \in SomeRecords : Commit(n, records)) \/ Follow

AxiomNext == (\E n \in Node : CommitAxiom(n)) \/ Follow

Spec == Init /\ [][Next]_vars

AxiomSpec == Init /\ [][AxiomNext]_vars

(* One says what may happen, the other whether something may have happened.  *)
(* MCReplicatedLog checks the one direction, MCReplicatedLogAxiom the other. *)
(* The axiom does not ask that what is appended is of records: TypeOK does.  *)
THEOREM Spec <=> (AxiomSpec /\ [](committed \in Seq(Record)))
------------------------------------------------------------------------------
(* Properties                                                                *)

(* Whatever a node knows to be committed is committed, and is what it holds. *)
(* So no two nodes ever take different records for committed at one offset.  *)
(* Source: Raft, State Machine Safety. Broken by: learning past the end.     *)
KnownIsCommittedInv ==
  \A n \in Node :
    /\ KnownEnd(n) <= Len(committed)
    /\ known[n] = Cut(committed, known[n].start, KnownEnd(n))

(* A committed record stays, at its offset.                                  *)
(* Source: Raft, Leader Completeness. Broken by: replacing the last record.  *)
AppendOnlyProp == [][IsPrefix(committed, committed')]_committed

(* When records commit, some node knows of all that is committed.            *)
(* Source: KIP-595, the leader's high watermark.                             *)
(* Broken by: a commit that no node has concluded.                           *)
CommitIsKnownProp == [][\E n \in Node : End(known'[n]) = Len(committed')]_committed

(* What a node has given up for a snapshot it never has as records again.    *)
(* Source: KIP-630, the log start offset. Broken by: a restart that brings   *)
(* back a snapshot older than the log's start.                               *)
StartOnlyGrowsProp == [][\A n \in Node : known'[n].start >= known[n].start]_known

(* What a node knows it forgets only down to its snapshot.                   *)
(* Source: KIP-630, a snapshot is of committed records.                      *)
(* Broken by: loading a snapshot that ends before what the node knows.       *)
ForgetsDownToSnapshotProp ==
  [][\A n \in Node :
       \/ End(known'[n]) >= KnownEnd(n)
       \/ known'[n] = Cut(committed, known[n].start, known[n].start)]_known

(* A committed record is known to every node in the end, provided that each  *)
(* node that lags catches up now and then, whatever it forgets in between.   *)
(* Source: KIP-595, followers fetch until they have caught up.               *)
(* Broken by: nodes that may stop fetching; or that need to learn no more    *)
(* than one record at a time, and forget it each time.                       *)
CatchUp(n) == Learn(n, Len(committed)) \/ LoadSnapshot(n, Len(committed))
FairSpec == Spec /\ \A n \in Node : WF_vars(CatchUp(n))
EventuallyLearnedLive ==
  \A n \in Node, end \in Nat :
    ((Len(committed) = end) ~> (KnownEnd(n) >= end))

(* Not true, and kept for that (broken/lib): what a node knows it may forget *)
(* when it restarts, and so no moment need come at which all know all.       *)
KnownNeverFallsProp == [][\A n \in Node : End(known'[n]) >= KnownEnd(n)]_known
AllKnowAllLive == ((committed # << >>) ~> (\A n \in Node : KnownEnd(n) = Len(committed)))
------------------------------------------------------------------------------
(* Witnesses: a model in which one of these cannot be reached is too small.  *)

(* Records are committed, and no node knows of any: all have forgotten.      *)
AllForgotReach == committed # << >> /\ \A n \in Node : KnownEnd(n) = 0

(* What one node lacks, no other has as records any more.                    *)
OnlySnapshotsLeftReach ==
  \E n \in Node : \A other \in Node \ {n} : KnownEnd(n) < known[other].start

(* Nodes hold different pieces of one log, and none of them all of it.       *)
NobodyHoldsAllReach ==
  /\ \A n \in Node : known[n] # Cut(committed, 0, Len(committed))
  /\ \A offset \in 0 .. Len(committed) - 1 :
       \E n \in Node : known[n].start <= offset /\ offset < KnownEnd(n)
  /\ committed # << >>
==============================================================================
