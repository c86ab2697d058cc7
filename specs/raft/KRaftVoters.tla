----------------------------- MODULE KRaftVoters -----------------------------
(***************************************************************************)
(* Changing the voters. The voter set is a record of the log. The last     *)
(* such record counts from the moment it is appended, committed or not. A  *)
(* leader adds or removes one voter at a time.                             *)
(*                                                                         *)
(* Source: KIP-853, and Kafka 4.1 as built. docs/kip-differences.md has a  *)
(* row for each difference between the two.                                *)
(*                                                                         *)
(* KRaft itself does not change. It takes the voters from VotersOf, which  *)
(* the models replace by LatestVoters. This module adds the steps that     *)
(* append such records, and no variable. So a truncation that removes a    *)
(* record also takes back its voter set, and a snapshot that holds the     *)
(* record brings the set along.                                            *)
(*                                                                         *)
(* A replica is a node id together with a directory id, that is, a disk. A *)
(* node that lost its disk comes back as another replica with the same     *)
(* node id. That replica holds nothing and has voted for no replica.       *)
(*                                                                         *)
(* Kafka's handler -> actions here                                         *)
(*   AddVoterHandler.handleAddVoterRequest -> AddVoter                     *)
(*   AddVoterHandler.handleApiVersionsResponse -> CompleteAddVoter;        *)
(*     IgnoreResponse or RequestTimeout if the change is given up          *)
(*   RemoveVoterHandler.handleRemoveVoterRequest -> RemoveVoter            *)
(*   RemoveVoterHandler.highWatermarkUpdated -> ResignRemoved              *)
(*   UpdateVoterHandler.handleUpdateVoterRequest -> UpdateVoter            *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - The answer to the client that asked for a change. An answer of       *)
(*    "timed out" says nothing about the record, which may still commit.   *)
(*  - Endpoints and supported versions of voters. A change of these is a   *)
(*    record with the same set.                                            *)
(*  - kraft.version 0, and the first leader of a new cluster, which writes *)
(*    the set that the cluster was formatted with. Here all replicas start *)
(*    with that set.                                                       *)
(*  - Controllers that add themselves (KIP-853's auto join, KIP-1186): the *)
(*    sender of a request makes no difference to the leader.               *)
(***************************************************************************)
EXTENDS KRaft

CONSTANTS
  InitialVoters,  \* The voters before the first record of a voter set.
  NodeOf          \* [Replica -> node id]: two replicas of one node are two disks of it.

ASSUME VoterConstants ==
  /\ InitialVoters # {} /\ InitialVoters \subseteq Replica
  /\ \A r, s \in InitialVoters : r # s => NodeOf[r] # NodeOf[s]
  /\ VotersOf(<< >>) = InitialVoters

------------------------------------------------------------------------------
(* The voter set of a log                                                    *)

(* The offset of the last record of a voter set, or NoOffset.                *)
(* Kafka: KRaftControlRecordStateMachine.lastVoterSetOffset.                 *)
VotersOffset(records) ==
  LET offsets == {o \in 0 .. Len(records) - 1 : records[o + 1].kind = "Voters"} IN
  IF offsets = {} THEN NoOffset ELSE CHOOSE o \in offsets : \A p \in offsets : p <= o

(* VotersOf of KRaft. Kafka: KRaftControlRecordStateMachine.lastVoterSet.    *)
LatestVoters(records) ==
  LET offset == VotersOffset(records) IN
  IF offset = NoOffset THEN InitialVoters ELSE records[offset + 1].value

(* Leader l appends a record of the voter set. The set counts from this step *)
(* on.                                                                       *)
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
(* A response that KRaft does not know. In Kafka it has no epoch; here it    *)
(* carries the epoch of the leader that asked, and is valid only for that    *)
(* leader.                                                                   *)
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

(* Leader l waits for the answer of a replica that is to be added. The       *)
(* answer in flight is the only state of this wait; it ends when l's         *)
(* connections close.                                                        *)
AwaitsNewVoter(l) ==
  \E m \in InFlight(messages) : m.type = "ApiVersionsResponse" /\ m.to = l

(* l has committed a record of its own epoch: a leader forgets its high      *)
(* watermark when its epoch begins, so if it knows one, it has committed.    *)
(* From then on, everything that earlier leaders left uncommitted is         *)
(* decided.                                                                  *)
HasCommittedInEpoch(l) == high_watermark[l] # NoOffset

(* The last record of the voter set is committed, as far as l knows.         *)
VotersAreCommitted(l) == VotersOffset(History(l)) < high_watermark[l]

(* One change at a time: two changes could make two sets whose majorities    *)
(* need not meet. HasCommittedInEpoch and VotersAreCommitted ensure that.    *)
MayChangeVoters(l) ==
  /\ role[l] = "Leader"
  /\ Idle(l)
  /\ ~AwaitsNewVoter(l)
  /\ HasCommittedInEpoch(l)
  /\ VotersAreCommitted(l)
------------------------------------------------------------------------------
(* Adding a voter                                                            *)

(***************************************************************************)
(* The leader is asked to add replica r. It first asks r for its supported *)
(* versions. r answers in any state, so here the answer is in flight at    *)
(* once. A node may be a voter with one disk at most: the old disk must be *)
(* removed first. A leader that removed itself and leads on is no voter,   *)
(* and still does not add itself: r # l. It would ask itself for versions. *)
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

(* r has fetched from leader l in this epoch. Kafka requires that r had      *)
(* caught up then, and that this was within the last hour. r may still lag,  *)
(* and commits wait for it.                                                  *)
(* Kafka: LeaderState.isReplicaCaughtUp.                                     *)
IsCaughtUp(l, r) == end_offset[l][r] # NoOffset

(***************************************************************************)
(* r has answered and has caught up: the leader adds it. The record counts *)
(* from here on, so a majority of the new set must commit it. If r has not *)
(* caught up, or the wait is too long, the change is given up:             *)
(* IgnoreResponse, RequestTimeout.                                         *)
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
(* The leader removes a voter, possibly itself, but never the last one. A  *)
(* leader that removed itself keeps leading, because no other replica      *)
(* could commit its removal, but does not count itself: HighWatermarkOf.   *)
(*                                                                         *)
(* Kafka: RemoveVoterHandler.handleRemoveVoterRequest.                     *)
(***************************************************************************)
RemoveVoter(l, voter) ==
  /\ MayChangeVoters(l)
  /\ voter \in Voters(l)
  /\ Voters(l) # {voter}
  /\ AppendVoters(l, Voters(l) \ {voter}, messages)

(***************************************************************************)
(* A voter has new endpoints, or supports other versions. The set stays    *)
(* the same, but this is a change like any other.                          *)
(*                                                                         *)
(* Kafka: UpdateVoterHandler.handleUpdateVoterRequest.                     *)
(***************************************************************************)
UpdateVoter(l, voter) ==
  /\ MayChangeVoters(l)
  /\ voter \in Voters(l)
  /\ AppendVoters(l, Voters(l), messages)

(***************************************************************************)
(* The removal of leader l itself is committed, and l resigns. It need     *)
(* not: Kafka's leader does not resign if the client that asked for the    *)
(* removal was told before that the request timed out. It then keeps       *)
(* leading without being a voter.                                          *)
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
