----------------------------- MODULE KRaftVoters -----------------------------
(***************************************************************************)
(* Changing the voters: the voter set is a record of the log, and the last *)
(* one counts, committed or not, from the moment it is appended. A leader  *)
(* adds or removes one voter at a time.                                    *)
(*                                                                         *)
(* Source: KIP-853, and Kafka 4.1 as built. Where the two differ,          *)
(* docs/kip-differences.md has the row.                                    *)
(*                                                                         *)
(* Nothing of KRaft changes. It asks VotersOf for the voters wherever it   *)
(* needs them, and the models put LatestVoters in its place; this module   *)
(* adds the steps that append such records, and no variable. So a          *)
(* truncation that takes a record takes its voter set back, and a snapshot *)
(* that holds one brings it along.                                         *)
(*                                                                         *)
(* A replica is a node id together with a directory id: a disk. A node     *)
(* that lost its disk comes back as another replica, with the same node    *)
(* id; it holds nothing, and has voted for nobody.                         *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Answers to whoever asked for a change. That he is told "timed out"   *)
(*    says nothing of the record, which may commit still.                  *)
(*  - Endpoints and supported versions of voters. A change of these is a   *)
(*    record with the same set.                                            *)
(*  - kraft.version 0, and the first leader of a new cluster, which writes *)
(*    the set it was formatted with. Here everybody starts with it.        *)
(*  - Controllers that add themselves (KIP-853's auto join, KIP-1186): it  *)
(*    is no concern of the leader's who asks.                              *)
(***************************************************************************)
EXTENDS KRaft

CONSTANTS
  InitialVoters,  \* The voters before the first record of them.
  NodeOf          \* [Replica -> node id]: two replicas of a node are two disks of it.

ASSUME VoterConstants ==
  /\ InitialVoters # {} /\ InitialVoters \subseteq Replica
  /\ \A r, s \in InitialVoters : r # s => NodeOf[r] # NodeOf[s]
  /\ VotersOf(<< >>) = InitialVoters

------------------------------------------------------------------------------
(* The voter set of a log                                                    *)

(* Where the last record of the voters stands, or NoOffset.                  *)
(* Kafka: KRaftControlRecordStateMachine.lastVoterSetOffset.                 *)
VotersOffset(records) ==
  LET offsets == {o \in 0 .. Len(records) - 1 : records[o + 1].kind = "Voters"} IN
  IF offsets = {} THEN NoOffset ELSE CHOOSE o \in offsets : \A p \in offsets : p <= o

(* VotersOf of KRaft. Kafka: KRaftControlRecordStateMachine.lastVoterSet.    *)
LatestVoters(records) ==
  LET offset == VotersOffset(records) IN
  IF offset = NoOffset THEN InitialVoters ELSE records[offset + 1].value

(* Leader l appends a record of the voters; it counts from this step on.     *)
AppendVoters(l, voters, bag) ==
  LET entry == [epoch |-> epoch[l], kind |-> "Voters", value |-> voters] IN
  /\ Idle(l)
  /\ role[l] = "Leader"
  /\ log' = [log EXCEPT ![l] = Append(@, entry)]
  /\ flushed' = [flushed EXCEPT ![l] = FlushedWith(l, LogEnd(l) + 1)]
  /\ UpdateHighWatermark(l, high_watermark[l], EpochStart(l), Append(History(l), entry),
                         end_offset[l])
  /\ messages' = bag
  /\ UNCHANGED <<quorum_state, log_start, snapshots, role, election, following, end_offset>>
(* An answer that KRaft does not know. It has no epoch in Kafka; here it has *)
(* that of the leader who asked, for which alone it is.                      *)
ApiVersionsResponse ==
  [type : {"ApiVersionsResponse"}, from : Replica, to : Replica, epoch : Nat, leader : {Nil}]

(* Everything else is as in KRaft. *)
Other == INSTANCE KRaft WITH
  messages <- Drop(messages, {m \in InFlight(messages) : m \in ApiVersionsResponse})
DynamicTypeOK ==
  /\ Other!TypeOK
  /\ IsBagOf(messages, InFlight(messages))
------------------------------------------------------------------------------
(* When the voters may be changed                                            *)

(* Leader l waits to hear from a replica that is to be added. The answer     *)
(* that is under way is all there is of this; it ends with l's connections.  *)
AwaitsNewVoter(l) ==
  \E m \in InFlight(messages) : m.type = "ApiVersionsResponse" /\ m.to = l

(* l has committed a record of its own epoch: a leader forgets its high      *)
(* watermark when it begins, so to know one is to have committed. Whatever   *)
(* earlier leaders left uncommitted is decided then (!).                     *)
HasCommittedInEpoch(l) == high_watermark[l] # NoOffset

(* The last record of the voters is committed, as far as l knows.            *)
VotersAreCommitted(l) == VotersOffset(History(l)) < high_watermark[l]

(* One change at a time: two could make two sets whose majorities need not   *)
(* meet (!).                                                                 *)
MayChangeVoters(l) ==
  /\ role[l] = "Leader"
  /\ Idle(l)
  /\ ~AwaitsNewVoter(l)
  /\ HasCommittedInEpoch(l)                                                    \* (!)
  /\ VotersAreCommitted(l)                                                     \* (!)
------------------------------------------------------------------------------
(* Adding a voter                                                            *)

(***************************************************************************)
(* The leader is asked to add replica r. It first asks r which versions it *)
(* supports; r answers whatever its state, so here the answer is under way *)
(* at once. A node is a voter with one disk at most: the old one must be   *)
(* removed first.                                                          *)
(*                                                                         *)
(* Kafka: AddVoterHandler.handleAddVoterRequest.                           *)
(***************************************************************************)
AddVoter(l, r) ==
  /\ MayChangeVoters(l)
  /\ r # l
  /\ \A voter \in Voters(l) : NodeOf[voter] # NodeOf[r]
  /\ ~Waiting(l, r)
  /\ messages' = Put(messages, [type |-> "ApiVersionsResponse", from |-> r, to |-> l,
                                epoch |-> epoch[l], leader |-> Nil])
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(* r has fetched from leader l in this epoch. Kafka asks that it had caught  *)
(* up then, and that this was within the hour: it may lag all the same, and  *)
(* commits wait for it. Kafka: LeaderState.isReplicaCaughtUp.                *)
IsCaughtUp(l, r) == end_offset[l][r] # NoOffset

(***************************************************************************)
(* r has answered, and has caught up: it is added. The record counts from  *)
(* here on, so the majority that must commit it is one of the new set.     *)
(* If r has not caught up, or the wait is too long, the change is given    *)
(* up: IgnoreResponse, RequestTimeout.                                     *)
(*                                                                         *)
(* Kafka: AddVoterHandler.handleApiVersionsResponse.                       *)
(***************************************************************************)
CompleteAddVoter(m) ==
  /\ m.type = "ApiVersionsResponse"
  /\ IsCaughtUp(m.to, m.from)
  /\ AppendVoters(m.to, Voters(m.to) \cup {m.from}, Take(messages, m))
------------------------------------------------------------------------------
(* Removing and updating a voter                                             *)

(***************************************************************************)
(* The leader removes a voter: another, or itself. Somebody must be left.  *)
(* A leader that removed itself leads on, for nobody else could commit its *)
(* removal, but does not count itself: HighWatermarkOf.                    *)
(*                                                                         *)
(* Kafka: RemoveVoterHandler.handleRemoveVoterRequest.                     *)
(***************************************************************************)
RemoveVoter(l, voter) ==
  /\ MayChangeVoters(l)
  /\ voter \in Voters(l)
  /\ Voters(l) # {voter}
  /\ AppendVoters(l, Voters(l) \ {voter}, messages)

(***************************************************************************)
(* A voter has new endpoints, or supports other versions. The set stays,   *)
(* but it is a change like any other.                                      *)
(*                                                                         *)
(* Kafka: UpdateVoterHandler.handleUpdateVoterRequest.                     *)
(***************************************************************************)
UpdateVoter(l, voter) ==
  /\ MayChangeVoters(l)
  /\ voter \in Voters(l)
  /\ AppendVoters(l, Voters(l), messages)

(***************************************************************************)
(* The removal of leader l itself is committed: its work is done. It need  *)
(* not resign; in Kafka it does not if whoever asked for the removal had   *)
(* been told before that it took too long. Then it leads on, without being *)
(* a voter.                                                                *)
(*                                                                         *)
(* Kafka: RemoveVoterHandler.highWatermarkUpdated.                         *)
(***************************************************************************)
ResignRemoved(l) ==
  /\ role[l] = "Leader"
  /\ Idle(l)
  /\ ~IsVoter(l)
  /\ VotersAreCommitted(l)
  /\ role' = [role EXCEPT ![l] = "Resigned"]
  /\ NoLeading(l)
  /\ messages' = PutAll(Disconnected(l),
                   QuorumEpochRequests("EndQuorumEpochRequest", l, Voters(l)))
  /\ UNCHANGED <<quorum_state, log_state, election, following, commit>>
------------------------------------------------------------------------------
VotersNext ==
  \/ \E l, r \in Replica : AddVoter(l, r)
  \/ \E m \in InFlight(messages) : CompleteAddVoter(m)
  \/ \E l, voter \in Replica : RemoveVoter(l, voter)
  \/ \E l, voter \in Replica : UpdateVoter(l, voter)
  \/ \E l \in Replica : ResignRemoved(l)

DynamicNext == Next \/ VotersNext

DynamicSpec == Init /\ [][DynamicNext]_vars
==============================================================================
