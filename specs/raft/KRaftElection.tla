--------------------------- MODULE KRaftElection ---------------------------
(***************************************************************************)
(* How an epoch begins and ends: pre-votes, votes, leaders, resignations,  *)
(* and the effect of a message of another epoch.                           *)
(*                                                                         *)
(* Kafka's handler -> actions here (KafkaRaftClient where no class is      *)
(* given)                                                                  *)
(*   handleVoteRequest -> GrantVote, GrantPreVote, RefuseVote,             *)
(*     FenceRequest                                                        *)
(*   handleVoteResponse -> RecordVote, BecomeCandidate, BecomeLeader       *)
(*   EpochElection.recordVote -> RecordVote                                *)
(*   maybeSendVoteRequests -> SendVoteRequest                              *)
(*   QuorumState.transitionToProspective -> BecomeProspective              *)
(*   prospectiveTransitionAfterElectionLoss -> LosePreVote                 *)
(*   QuorumState.transitionToCandidate -> BecomeCandidate                  *)
(*   QuorumState.transitionToLeader, onBecomeLeader -> BecomeLeader        *)
(*   initialize, transitionToProspective -> BecomeSoleLeader, if r is      *)
(*     the only voter                                                      *)
(*   QuorumState.transitionToResigned -> Resign                            *)
(*   LeaderState.timeUntilCheckQuorumExpires -> Resign                     *)
(*   pollResigned -> LeaveResigned                                         *)
(*   maybeSendBeginQuorumEpochRequests -> SendBeginQuorumEpoch             *)
(*   handleBeginQuorumEpochRequest -> HandleBeginQuorumEpoch, FenceRequest *)
(*   handleEndQuorumEpochRequest -> HandleEndQuorumEpoch, FenceRequest     *)
(*   validateVoterOnlyRequest, validateLeaderOnlyRequest -> FenceRequest   *)
(*   maybeHandleCommonResponse -> DiscoverEpoch, IgnoreResponse            *)
(*   maybeTransition -> DiscoverEpoch                                      *)
(***************************************************************************)
EXTENDS KRaftState

------------------------------------------------------------------------------
(* Elections                                                                 *)

(***************************************************************************)
(* A timeout of a voter expires: a follower got no answer from its leader, *)
(* an unattached voter found no leader, or a candidate got too few votes.  *)
(* The voter asks the others whether they would vote for it. It writes     *)
(* nothing; its epoch, its vote and the leader it knows stay as they are.  *)
(*                                                                         *)
(* Kafka: QuorumState.transitionToProspective.                             *)
(***************************************************************************)
BecomeProspective(r) ==
  /\ Idle(r)
  /\ IsVoter(r)
  /\ Voters(r) # {r}
  /\ role[r] \in {"Unattached", "Follower", "Candidate"}
  /\ TimerExpired(r)
  /\ Stand(r, epoch[r], "Prospective", Disconnected(r))
  /\ UNCHANGED <<quorum_state, log_state, commit>>

(***************************************************************************)
(* A prospective voter was refused, or waited too long. It follows the     *)
(* leader it knew again, or waits for a leader. It stays in the same       *)
(* epoch, so it keeps the vote that it may have given there:               *)
(* TransitionToUnattached gets voted[r], not Nil. It may know only the id  *)
(* of a leader that is not a voter. Then it keeps that id and asks for the *)
(* leader.                                                                 *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.prospectiveTransitionAfterElectionLoss.          *)
(***************************************************************************)
LosePreVote(r) ==
  /\ Idle(r)
  /\ role[r] = "Prospective"
  /\ IF leader[r] = Nil
     THEN TransitionToUnattached(r, epoch[r], voted[r])
     ELSE \/ TransitionToFollower(r, epoch[r], leader[r])
          \/ /\ leader[r] \notin Voters(r)
             /\ role' = [role EXCEPT ![r] = "Unattached"]
             /\ NoElection(r) /\ NoFollowing(r) /\ NoLeading(r)
             /\ UNCHANGED quorum_state
  /\ messages' = Disconnected(r)
  /\ UNCHANGED <<log_state, commit>>

(***************************************************************************)
(* A resigned leader has waited for a successor. It may neither stand nor  *)
(* vote in the epoch it led, so it goes on to the next epoch.              *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.pollResigned.                                    *)
(***************************************************************************)
LeaveResigned(r) ==
  /\ Idle(r)
  /\ role[r] = "Resigned"
  /\ TimerExpired(r)
  /\ TransitionToUnattached(r, epoch[r] + 1, Nil)
  /\ messages' = Disconnected(r)
  /\ UNCHANGED <<log_state, commit>>

(* r grants the vote, or pre-vote, that m asks for. In a higher epoch only   *)
(* r's log can stand against it. A pre-vote binds no replica; a leader       *)
(* refuses it, and so does a follower that has heard from its leader. A      *)
(* replica votes once in an epoch, and not if it knows the leader; the       *)
(* replica that got the vote gets it again if it asks again.                 *)
(* Kafka: canGrantVote of the EpochStates.                                   *)
CanGrantVote(r, m) ==
  IF m.epoch > epoch[r] THEN IsUpToDate(r, m)
  ELSE IF m.pre_vote THEN
    /\ role[r] # "Leader"
    /\ role[r] = "Follower" => ~has_fetched[r]
    /\ IsUpToDate(r, m)
  ELSE
    /\ role[r] \in {"Unattached", "Prospective"}
    /\ IF voted[r] # Nil THEN voted[r] = m.from
       ELSE leader[r] = Nil /\ IsUpToDate(r, m)

VoteResponseTo(m, l, grant) ==
  [type |-> "VoteResponse", from |-> m.to, to |-> m.from, epoch |-> m.epoch,
   leader |-> l, granted |-> grant]

(***************************************************************************)
(* r votes for the sender of m. The vote is written before it is sent. A   *)
(* prospective r stays prospective, and the answers it got before no       *)
(* longer count. Only a higher epoch closes its connections.               *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleVoteRequest.                               *)
(***************************************************************************)
GrantVote(m) ==
  LET r == m.to IN
  /\ m.type = "VoteRequest"
  /\ ~m.pre_vote
  /\ Idle(r)
  /\ m.epoch >= epoch[r]
  /\ CanGrantVote(r, m)
  /\ CASE m.epoch = epoch[r] /\ voted[r] = m.from ->
            /\ messages' = Reply(m, VoteResponseTo(m, leader[r], TRUE))
            /\ UNCHANGED <<quorum_state, role, election, following, end_offset>>
       [] m.epoch = epoch[r] /\ role[r] = "Prospective" ->
            /\ WriteQuorumState(r, m.epoch, Nil, m.from)
            /\ StandOn(r)
            /\ messages' = Reply(m, VoteResponseTo(m, Nil, TRUE))
       [] m.epoch = epoch[r] ->
            /\ TransitionToUnattached(r, m.epoch, m.from)
            /\ messages' = Reply(m, VoteResponseTo(m, Nil, TRUE))
       [] OTHER ->
            /\ TransitionToUnattached(r, m.epoch, m.from)
            /\ messages' = Unawaited(Reply(m, VoteResponseTo(m, Nil, TRUE)), r, Replica)
  /\ UNCHANGED <<log_state, commit>>

(* The effect of a vote request on r's role and epoch if r gives no vote. *)
HearOfEpoch(r, m, grant) ==
  IF m.epoch > epoch[r]
  THEN /\ TransitionToUnattached(r, m.epoch, Nil)
       /\ messages' = Unawaited(Reply(m, VoteResponseTo(m, Nil, grant)), r, Replica)
  ELSE /\ messages' = Reply(m, VoteResponseTo(m, leader[r], grant))
       /\ UNCHANGED <<quorum_state, role, election, following, end_offset>>

(***************************************************************************)
(* r would vote for the sender of m. It writes only a higher epoch.        *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleVoteRequest.                               *)
(***************************************************************************)
GrantPreVote(m) ==
  /\ m.type = "VoteRequest"
  /\ m.pre_vote
  /\ Idle(m.to)
  /\ m.epoch >= epoch[m.to]
  /\ CanGrantVote(m.to, m)
  /\ HearOfEpoch(m.to, m, TRUE)
  /\ UNCHANGED <<log_state, commit>>

(***************************************************************************)
(* r refuses. It still adopts a higher epoch; if r led, or followed a      *)
(* leader, it does so no longer.                                           *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleVoteRequest.                               *)
(***************************************************************************)
RefuseVote(m) ==
  /\ m.type = "VoteRequest"
  /\ Idle(m.to)
  /\ m.epoch >= epoch[m.to]
  /\ ~CanGrantVote(m.to, m)
  /\ HearOfEpoch(m.to, m, FALSE)
  /\ UNCHANGED <<log_state, commit>>

(* The answer m counts in the current election of its receiver.              *)
Counts(m) ==
  /\ m.type = "VoteResponse"
  /\ m.epoch = epoch[m.to]
  /\ IsNominee(m.to)

(* The receiver of answer m learns the leader of its epoch. Or it already    *)
(* has the leader's id, and learns where that leader is after it fell back   *)
(* to Unattached.                                                            *)
LearnsLeader(m) ==
  /\ ~IsRequest(m)
  /\ m.epoch = epoch[m.to]
  /\ m.leader # Nil
  /\ \/ leader[m.to] = Nil
     \/ leader[m.to] = m.leader /\ role[m.to] = "Unattached"

(* With answer m its receiver has a majority. *)
Wins(m) == m.granted /\ IsMajority(m.to, granted[m.to] \cup {m.from})

(***************************************************************************)
(* The receiver notes an answer that decides nothing.                      *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleVoteResponse, EpochElection.recordVote.    *)
(***************************************************************************)
RecordVote(m) ==
  /\ Counts(m)
  /\ Idle(m.to)
  /\ ~LearnsLeader(m)
  /\ ~Wins(m)
  /\ granted' = IF m.granted THEN [granted EXCEPT ![m.to] = @ \cup {m.from}] ELSE granted
  /\ rejected' = IF m.granted THEN rejected ELSE [rejected EXCEPT ![m.to] = @ \cup {m.from}]
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<quorum_state, log_state, role, following, end_offset, commit>>

(***************************************************************************)
(* A majority would vote for r. r now stands in a new epoch. It writes its *)
(* own vote before it asks for others.                                     *)
(*                                                                         *)
(* Kafka: QuorumState.transitionToCandidate.                               *)
(***************************************************************************)
BecomeCandidate(m) ==
  LET r == m.to IN
  /\ Counts(m)
  /\ Idle(r)
  /\ role[r] = "Prospective"
  /\ ~LearnsLeader(m)
  /\ Wins(m)
  /\ WriteQuorumState(r, epoch[r] + 1, Nil, r)
  /\ Stand(r, epoch[r] + 1, "Candidate", Unawaited(Take(messages, m), r, Replica))
  /\ UNCHANGED <<log_state, commit>>

(* Replica r leads epoch e. It begins the epoch with a record, counts itself *)
(* first among the replicas that have it, and tells the others. It forgets   *)
(* its high watermark (the call gives NoOffset as the old one): its own      *)
(* epoch must confirm it first. The file no longer holds its vote for        *)
(* itself; that it leads implies it.                                         *)
Lead(r, e, bag) ==
  LET entry == [epoch |-> e, kind |-> "LeaderChange", value |-> r] IN
  /\ WriteQuorumState(r, e, r, Nil)
  /\ role' = [role EXCEPT ![r] = "Leader"]
  /\ NoElection(r) /\ NoFollowing(r) /\ NoLeading(r)
  /\ log' = [log EXCEPT ![r] = Append(@, entry)]
  /\ flushed' = [flushed EXCEPT ![r] = FlushedWith(r, LogEnd(r) + 1)]
  /\ UpdateHighWatermark(r, NoOffset, LogEnd(r), Append(History(r), entry),
                         NoEndOffsets)
  /\ messages' = PutAll(bag,
       {[type |-> "BeginQuorumEpochRequest", from |-> r, to |-> other, awaited |-> TRUE,
         epoch |-> e] : other \in Voters(r) \ {r}})
  /\ UNCHANGED <<log_start, snapshots>>

(***************************************************************************)
(* A majority has voted for r.                                             *)
(*                                                                         *)
(* Kafka: QuorumState.transitionToLeader, KafkaRaftClient.onBecomeLeader.  *)
(***************************************************************************)
BecomeLeader(m) ==
  /\ Counts(m)
  /\ Idle(m.to)
  /\ role[m.to] = "Candidate"
  /\ ~LearnsLeader(m)
  /\ Wins(m)
  /\ Lead(m.to, epoch[m.to], Unawaited(Take(messages, m), m.to, Replica))

(***************************************************************************)
(* The sole voter becomes leader without asking any other replica. It      *)
(* leads a new epoch even if the file says that it led the last one:       *)
(* records that it did not flush are gone.                                 *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.initialize, transitionToProspective.             *)
(***************************************************************************)
BecomeSoleLeader(r) ==
  /\ Idle(r)
  /\ Voters(r) = {r}
  /\ role[r] # "Leader"
  /\ TimerExpired(r)
  /\ Lead(r, epoch[r] + 1, Disconnected(r))

(***************************************************************************)
(* A nominee asks a voter again that has not answered.                     *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.maybeSendVoteRequests.                           *)
(***************************************************************************)
SendVoteRequest(r, other) ==
  /\ Idle(r)
  /\ IsNominee(r)
  /\ other \in Voters(r) \ (granted[r] \cup rejected[r] \cup {r})
  /\ ~Waiting(r, other)
  /\ messages' = PutAll(messages,
                   VoteRequests(r, epoch[r], role[r] = "Prospective", {other}))
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>
------------------------------------------------------------------------------
(* The beginning and the end of an epoch                                     *)

(***************************************************************************)
(* A leader tells a voter again that it leads. A voter that forgot the     *)
(* leader needs this: a voter that stood in this epoch, then followed, and *)
(* was restarted, comes back as a candidate.                               *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.maybeSendBeginQuorumEpochRequests.               *)
(***************************************************************************)
SendBeginQuorumEpoch(r, other) ==
  /\ Idle(r)
  /\ role[r] = "Leader"
  /\ other \in Voters(r) \ {r}
  /\ ~Waiting(r, other)
  /\ messages' = PutAll(messages, QuorumEpochRequests("BeginQuorumEpochRequest", r, {other}))
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(***************************************************************************)
(* A leader resigns: because it was told to, or because no majority has    *)
(* fetched from it for too long. It remembers that it led this epoch, and  *)
(* tells the others that it no longer leads. It may resign at any time: an *)
(* operator or its state machine may tell it to whenever they like, so a   *)
(* guard on fetches would forbid nothing.                                  *)
(*                                                                         *)
(* Kafka: QuorumState.transitionToResigned,                                *)
(* LeaderState.timeUntilCheckQuorumExpires.                                *)
(***************************************************************************)
Resign(r) ==
  /\ Idle(r)
  /\ role[r] = "Leader"
  /\ role' = [role EXCEPT ![r] = "Resigned"]
  /\ NoLeading(r)
  /\ messages' = PutAll(Disconnected(r),
                   QuorumEpochRequests("EndQuorumEpochRequest", r, Voters(r) \ {r}))
  /\ UNCHANGED <<quorum_state, log_state, election, following, commit>>

(* m names a leader of its receiver's epoch, and the receiver knows another  *)
(* leader of it. Kafka: KafkaRaftClient.hasConsistentLeader; the process     *)
(* dies.                                                                     *)
OtherLeader(m) ==
  LET named == IF IsRequest(m) THEN m.from ELSE m.leader IN
  /\ m.type \notin {"VoteRequest", "FetchRequest", "FetchSnapshotRequest"}
  /\ m.epoch = epoch[m.to]
  /\ named # Nil
  /\ leader[m.to] # Nil
  /\ named # leader[m.to]

(* The receiver of m learns that the sender leads m's epoch. A prospective   *)
(* voter that already knows this leader stays prospective.                   *)
HearOfLeader(m) ==
  LET r == m.to IN
  /\ Idle(r)
  /\ m.epoch >= epoch[r]
  /\ ~OtherLeader(m)
  /\ IF m.epoch > epoch[r] \/ leader[r] = Nil \/ role[r] = "Unattached"
     THEN /\ TransitionToFollower(r, m.epoch, m.from)
          /\ messages' = Unawaited(Take(messages, m), r, Replica)
     ELSE /\ messages' = Take(messages, m)
          /\ UNCHANGED <<quorum_state, role, election, following, end_offset>>
  /\ UNCHANGED <<log_state, commit>>

(***************************************************************************)
(* A replica learns its leader. The answer is not modelled, since it would *)
(* tell the leader nothing.                                                *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleBeginQuorumEpochRequest.                   *)
(***************************************************************************)
HandleBeginQuorumEpoch(m) ==
  /\ m.type = "BeginQuorumEpochRequest"
  /\ HearOfLeader(m)

(***************************************************************************)
(* A replica hears that its leader has resigned. In Kafka it may then      *)
(* stand sooner; here a replica may stand at any time anyway.              *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleEndQuorumEpochRequest.                     *)
(***************************************************************************)
HandleEndQuorumEpoch(m) ==
  /\ m.type = "EndQuorumEpochRequest"
  /\ HearOfLeader(m)
------------------------------------------------------------------------------
(* Answers and requests of another epoch                                     *)

(***************************************************************************)
(* A request of an older epoch is refused. The answer carries the newer    *)
(* epoch and its leader.                                                   *)
(*                                                                         *)
(* Kafka: Errors.FENCED_LEADER_EPOCH;                                      *)
(* KafkaRaftClient.validateVoterOnlyRequest, validateLeaderOnlyRequest.    *)
(***************************************************************************)
FencedResponse(m, e, l) ==
  CASE m.type = "VoteRequest" ->
         [type |-> "VoteResponse", from |-> m.to, to |-> m.from, epoch |-> e,
          leader |-> l, granted |-> FALSE]
    [] m.type = "BeginQuorumEpochRequest" ->
         [type |-> "BeginQuorumEpochResponse", from |-> m.to, to |-> m.from,
          epoch |-> e, leader |-> l]
    [] m.type = "EndQuorumEpochRequest" ->
         [type |-> "EndQuorumEpochResponse", from |-> m.to, to |-> m.from,
          epoch |-> e, leader |-> l]
    [] m.type = "FetchRequest" ->
         [type |-> "FetchResponse", from |-> m.to, to |-> m.from, epoch |-> e,
          leader |-> l, error |-> "FENCED_LEADER_EPOCH", records |-> << >>,
          high_watermark |-> NoOffset, diverging |-> Nil, snapshot_id |-> Nil]
    [] m.type = "FetchSnapshotRequest" ->
         [type |-> "FetchSnapshotResponse", from |-> m.to, to |-> m.from, epoch |-> e,
          leader |-> l, error |-> "FENCED_LEADER_EPOCH", snapshot |-> Nil]

FenceRequest(m) ==
  /\ IsRequest(m)
  /\ Idle(m.to)
  /\ m.epoch < epoch[m.to]
  /\ messages' = Reply(m, FencedResponse(m, epoch[m.to], leader[m.to]))
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>

(***************************************************************************)
(* An answer shows a higher epoch, or the leader of this one. The receiver *)
(* drops the rest of the answer; its next request asks for it again.       *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.maybeHandleCommonResponse, maybeTransition.      *)
(***************************************************************************)
DiscoverEpoch(m) ==
  LET r == m.to IN
  /\ ~IsRequest(m)
  /\ Idle(r)
  /\ m.epoch > epoch[r] \/ LearnsLeader(m)
  /\ IF m.leader = Nil
     THEN TransitionToUnattached(r, m.epoch, Nil)
     ELSE TransitionToFollower(r, m.epoch, m.leader)
  /\ messages' = Unawaited(Take(messages, m), r, Replica)
  /\ UNCHANGED <<log_state, commit>>

(* Answer m is a successful answer of the leader to the fetch of its         *)
(* follower.                                                                 *)
FromLeader(m) ==
  /\ m.epoch = epoch[m.to]
  /\ role[m.to] = "Follower"
  /\ m.from = leader[m.to]
  /\ m.error = "NONE"

(***************************************************************************)
(* The receiver cannot use anything in an answer.                          *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.maybeHandleCommonResponse.                       *)
(***************************************************************************)
IgnoreResponse(m) ==
  /\ ~IsRequest(m)
  /\ Idle(m.to)
  /\ m.epoch <= epoch[m.to]
  /\ ~LearnsLeader(m)
  /\ ~OtherLeader(m)
  /\ CASE m.type = "VoteResponse" -> ~Counts(m)
       [] m.type = "FetchResponse" -> ~FromLeader(m)
       [] m.type = "FetchSnapshotResponse" -> ~FromLeader(m) /\ m.error # "SNAPSHOT_NOT_FOUND"
       [] OTHER -> TRUE
  /\ messages' = Take(messages, m)
  /\ UNCHANGED <<quorum_state, log_state, role, election, following, end_offset, commit>>
==============================================================================
