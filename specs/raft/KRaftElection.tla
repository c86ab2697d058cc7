--------------------------- MODULE KRaftElection ---------------------------
(***************************************************************************)
(* How an epoch begins and ends: pre-votes, votes, leaders, resignations,  *)
(* and what a message of another epoch does.                               *)
(***************************************************************************)
EXTENDS KRaftState

------------------------------------------------------------------------------
(* Elections                                                                 *)

(***************************************************************************)
(* A voter has waited too long: a follower for its leader's answers, an    *)
(* unattached one for a leader, a candidate for votes. It asks the others  *)
(* whether they would vote for it. Nothing is written, and the epoch, its  *)
(* vote and the leader it knows of stay.                                   *)
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
(* A prospective voter was refused, or waited too long. It goes back to    *)
(* the leader it knew, or waits for one; in the same epoch, so the vote it *)
(* may have given there stays (!). Of a leader that is no voter it may     *)
(* know no more than the name: then it keeps that, and asks who leads.     *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.prospectiveTransitionAfterElectionLoss.          *)
(***************************************************************************)
LosePreVote(r) ==
  /\ Idle(r)
  /\ role[r] = "Prospective"
  /\ IF leader[r] = Nil
     THEN TransitionToUnattached(r, epoch[r], voted[r])                        \* (!)
     ELSE \/ TransitionToFollower(r, epoch[r], leader[r])
          \/ /\ leader[r] \notin Voters(r)
             /\ role' = [role EXCEPT ![r] = "Unattached"]
             /\ NoElection(r) /\ NoFollowing(r) /\ NoLeading(r)
             /\ UNCHANGED quorum_state
  /\ messages' = Disconnected(r)
  /\ UNCHANGED <<log_state, commit>>

(***************************************************************************)
(* A resigned leader has waited for its successor. It may not stand in the *)
(* epoch it led, nor vote there, so it goes on to the next.                *)
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

(* Who would vote for the sender of m, or does.                              *)
(* In a higher epoch nothing binds r yet but its log. A pre-vote binds       *)
(* nobody: it is refused by a leader, and by a follower whose leader         *)
(* answers it. A vote is given once in an epoch, and not when its leader is  *)
(* known; the one who got it gets it again.                                  *)
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
(* prospective r goes on asking, and what it was answered before counts no *)
(* more; only a higher epoch closes its connections.                       *)
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

(* What a vote request leaves of r's role and epoch, if it is given no vote. *)
HearOfEpoch(r, m, grant) ==
  IF m.epoch > epoch[r]
  THEN /\ TransitionToUnattached(r, m.epoch, Nil)
       /\ messages' = Unawaited(Reply(m, VoteResponseTo(m, Nil, grant)), r, Replica)
  ELSE /\ messages' = Reply(m, VoteResponseTo(m, leader[r], grant))
       /\ UNCHANGED <<quorum_state, role, election, following, end_offset>>

(***************************************************************************)
(* r would vote for the sender of m. Only a higher epoch is written.       *)
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
(* r refuses. It takes over a higher epoch all the same: its own leader,   *)
(* if it had one, is deposed by that.                                      *)
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

(* The answer m counts in the election that its receiver is in.              *)
Counts(m) ==
  /\ m.type = "VoteResponse"
  /\ m.epoch = epoch[m.to]
  /\ IsNominee(m.to)

(* The receiver of answer m learns who leads its epoch; or where, if it came *)
(* back knowing no more than the leader's name.                              *)
LearnsLeader(m) ==
  /\ ~IsRequest(m)
  /\ m.epoch = epoch[m.to]
  /\ m.leader # Nil
  /\ \/ leader[m.to] = Nil
     \/ leader[m.to] = m.leader /\ role[m.to] = "Unattached"

(* With answer m its receiver has a majority. *)
Wins(m) == m.granted /\ IsMajority(m.to, granted[m.to] \cup {m.from})

(***************************************************************************)
(* An answer that decides nothing is noted.                                *)
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
(* A majority would vote for r: now it stands, in an epoch of its own. Its *)
(* own vote is written before it asks for others.                          *)
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

(* Replica r leads epoch e. It begins it with a record, of which it is the   *)
(* first to count, and tells the others. What it knew to be committed it     *)
(* forgets (!): its own epoch must confirm it first. Its vote for itself is  *)
(* no longer in the file, and need not be: that it leads says as much.       *)
Lead(r, e, bag) ==
  LET entry == [epoch |-> e, kind |-> "LeaderChange", value |-> r] IN
  /\ WriteQuorumState(r, e, r, Nil)
  /\ role' = [role EXCEPT ![r] = "Leader"]
  /\ NoElection(r) /\ NoFollowing(r) /\ NoLeading(r)
  /\ log' = [log EXCEPT ![r] = Append(@, entry)]
  /\ flushed' = [flushed EXCEPT ![r] = FlushedWith(r, LogEnd(r) + 1)]
  /\ UpdateHighWatermark(r, NoOffset, LogEnd(r), Append(History(r), entry),    \* (!)
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
(* The sole voter asks nobody. It leads a new epoch also when the file     *)
(* says that it led the last one: records it did not flush are gone.       *)
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
(* A nominee asks a voter again from which it has no answer.               *)
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
(* A leader tells a voter again that it leads. A voter that forgot it      *)
(* needs that: one that stood in this epoch, followed, and was restarted,  *)
(* comes back as a candidate.                                              *)
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
(* A leader steps down: because it was told to, or because no majority has *)
(* fetched from it for too long. It keeps that it led this epoch, and      *)
(* tells the others that it does no more. Any time will do: it is told to  *)
(* whenever an operator or its state machine likes, so a guard on who      *)
(* fetched would forbid nothing.                                           *)
(*                                                                         *)
(* Kafka: QuorumState.transitionToResigned, LeaderState.timeUntilCheckQuorumExpires. *)
(***************************************************************************)
Resign(r) ==
  /\ Idle(r)
  /\ role[r] = "Leader"
  /\ role' = [role EXCEPT ![r] = "Resigned"]
  /\ NoLeading(r)
  /\ messages' = PutAll(Disconnected(r),
                   QuorumEpochRequests("EndQuorumEpochRequest", r, Voters(r) \ {r}))
  /\ UNCHANGED <<quorum_state, log_state, election, following, commit>>

(* m names a leader of its receiver's epoch that is not the one known there. *)
(* Kafka: KafkaRaftClient.hasConsistentLeader; the process dies.             *)
OtherLeader(m) ==
  LET named == IF IsRequest(m) THEN m.from ELSE m.leader IN
  /\ m.type \notin {"VoteRequest", "FetchRequest", "FetchSnapshotRequest"}
  /\ m.epoch = epoch[m.to]
  /\ named # Nil
  /\ leader[m.to] # Nil
  /\ named # leader[m.to]

(* The receiver of m knows the sender for the leader of m's epoch.           *)
(* A prospective voter that knows it already stays prospective.              *)
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
(* A replica hears who leads. The answer would tell the leader nothing,    *)
(* and is left out.                                                        *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleBeginQuorumEpochRequest.                   *)
(***************************************************************************)
HandleBeginQuorumEpoch(m) ==
  /\ m.type = "BeginQuorumEpochRequest"
  /\ HearOfLeader(m)

(***************************************************************************)
(* A replica hears that its leader has stepped down. It may stand sooner   *)
(* for that; but nothing says here when it may not.                        *)
(*                                                                         *)
(* Kafka: KafkaRaftClient.handleEndQuorumEpochRequest.                     *)
(***************************************************************************)
HandleEndQuorumEpoch(m) ==
  /\ m.type = "EndQuorumEpochRequest"
  /\ HearOfLeader(m)
------------------------------------------------------------------------------
(* Answers and requests of another epoch                                     *)

(***************************************************************************)
(* A request of an epoch that is over is refused, with the newer epoch and *)
(* its leader.                                                             *)
(*                                                                         *)
(* Kafka: Errors.FENCED_LEADER_EPOCH; KafkaRaftClient.validateVoterOnlyRequest, *)
(* validateLeaderOnlyRequest.                                              *)
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
(* An answer shows a higher epoch, or who leads this one. Whatever else it *)
(* says is left; the next request asks for it again.                       *)
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

(* Answer m is for the fetch of a follower by its leader. *)
FromLeader(m) ==
  /\ m.epoch = epoch[m.to]
  /\ role[m.to] = "Follower"
  /\ m.from = leader[m.to]
  /\ m.error = "NONE"

(***************************************************************************)
(* An answer says nothing that its receiver could use.                     *)
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
