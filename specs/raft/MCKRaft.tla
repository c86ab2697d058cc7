------------------------------- MODULE MCKRaft -------------------------------
(***************************************************************************)
(* KRaft within bounds. MaxEpoch bounds elections: no timer expires in the *)
(* last epoch. MaxLogEnd bounds the records that the state machine writes; *)
(* the records that begin epochs are not counted. Neither bound stops      *)
(* recovery.                                                               *)
(*                                                                         *)
(* A model replaces operators of KRaft by the operators below, to leave    *)
(* out what another model covers: `Restart <- NoRestart`. models.toml says *)
(* what is left out and why.                                               *)
(***************************************************************************)
EXTENDS KRaftProperties

CONSTANTS MaxEpoch, MaxLogEnd

ASSUME Bounded == MaxEpoch \in Nat \ {0} /\ MaxLogEnd \in Nat

CONSTANTS r1, r2, r3, r4, r5, v1

OneReplica == {r1}
TwoReplicas == {r1, r2}
ThreeReplicas == {r1, r2, r3}
FiveReplicas == {r1, r2, r3, r4, r5}
OneValue == {v1}
TwoValues == {1, 2}

(* The voters do not change. In models with observers, the first replicas    *)
(* vote.                                                                     *)
AllVote(records) == Replica
OneVotes(records) == {r1}
TwoVote(records) == {r1, r2}

(* Replicas that differ only in their names. *)
Symmetry == Permutations(Replica)
FollowerSymmetry == Permutations(Replica \ {r1})

EpochLeft(r) == epoch[r] < MaxEpoch
RoomLeft(r) == IF LogEnd(r) < MaxLogEnd THEN Value ELSE {}

(* A leader sends all records that it has. Sending them in two parts is      *)
(* covered by another order of steps, in which the two records are appended  *)
(* one after the other.                                                      *)
AllThereIs(r, offset) == {LogEnd(r)}

(* Actions left out. TLC counts them under the name Never.                   *)
Never == \E nothing \in {} : FALSE
NoRestart(r) == Never
NoTailLoss(r) == Never
NoRequestTimeout(r, other) == Never
NoDuplicate(m) == Never
NoResignation(r) == Never
NoHeartbeat(r, other) == Never
NoSnapshot(r, end) == Never
NoServers(r) == {}

(* The observers are brokers, which do not flush what they fetch. *)
NoBrokerFlushes(r) == FALSE

(* At most one request is in flight that its sender no longer awaits. *)
RECURSIVE CopiesOf(_)
CopiesOf(set) ==
  IF set = {} THEN 0
  ELSE LET m == CHOOSE x \in set : TRUE IN messages[m] + CopiesOf(set \ {m})
OneLate == CopiesOf({m \in InFlight(messages) : IsRequest(m) /\ ~m.awaited}) <= 1

(* Kafka before KAFKA-12619: the offset of an epoch's first record counts as *)
(* reached without that record. For broken/raft.                             *)
CountsOldEpochs(r, old, start, voters, ends) ==
  LET offset == MajorityOffset(voters, ends) IN
  IF offset >= start /\ offset > old THEN offset ELSE old

(* Kafka before KAFKA-10527. For broken/raft.                                *)
LeaderAtBoot(r, voters) ==
  IF leader[r] = r THEN "Leader" ELSE IF voted[r] = r THEN "Candidate" ELSE "Follower"

(* A pre-vote that is won at once. A pre-vote only adds delay: a replica     *)
(* that wins one could as well have won it at once. For models about logs.   *)
StandAtOnce(r) ==
  /\ Idle(r)
  /\ IsVoter(r)
  /\ Voters(r) # {r}
  /\ role[r] \in {"Unattached", "Follower", "Candidate"}
  /\ TimerExpired(r)
  /\ WriteQuorumState(r, epoch[r] + 1, Nil, r)
  /\ Stand(r, epoch[r] + 1, "Candidate", Disconnected(r))
  /\ UNCHANGED <<log_state, commit>>

(* l leads epoch 1, and all replicas follow it and have its first record.    *)
FirstRecordOf(l) == [epoch |-> 1, kind |-> "LeaderChange", value |-> l]
FirstRecord == FirstRecordOf(r1)
SettledUnder(l) ==
  LET first  == FirstRecordOf(l)
      voters == VotersOf(<<first>>)
  IN
  /\ epoch = [r \in Replica |-> 1]
  /\ leader = [r \in Replica |-> l]
  /\ voted = [r \in Replica |-> IF r \in voters \ {l} THEN l ELSE Nil]
  /\ log = [r \in Replica |-> <<first>>]
  /\ log_start = [r \in Replica |-> 0]
  /\ flushed = [r \in Replica |-> 1]
  /\ snapshots = [r \in Replica |-> {}]
  /\ role = [r \in Replica |-> IF r = l THEN "Leader" ELSE "Follower"]
  /\ granted = [r \in Replica |-> {}]
  /\ rejected = [r \in Replica |-> {}]
  /\ has_fetched = [r \in Replica |-> r # l]
  /\ fetching_snapshot = [r \in Replica |-> Nil]
  /\ end_offset = [r \in Replica |->
       IF r = l THEN [other \in Replica |-> IF other = l THEN NoOffset ELSE 1]
       ELSE NoEndOffsets]
  /\ high_watermark = [r \in Replica |-> 1]
  /\ messages = NoMessages
  /\ committed = <<first>>
Settled == SettledUnder(r1)
(* This state is reachable from the first start: MCKRaftTwo reaches it with  *)
(* two voters, and MCKRaftRefinement with three. Any replica may lead: where *)
(* names are symmetric, TLC keeps one of the states that differ only in      *)
(* names.                                                                    *)
SettledReach == \E l \in Replica : SettledUnder(l)
SettledSpec == Settled /\ [][Next]_vars

(* Figure 8 of the Raft paper: r1 wrote a record in epoch 1 that no other    *)
(* replica has, r2 led epoch 2 and no other replica has its first record,    *)
(* and now r1 leads epoch 3. That this state is reachable is the paper's     *)
(* argument; no model reaches it.                                            *)
FigureEight ==
  LET second == [epoch |-> 2, kind |-> "LeaderChange", value |-> r2]
      data   == [epoch |-> 1, kind |-> "Data", value |-> v1]
      third  == [epoch |-> 3, kind |-> "LeaderChange", value |-> r1]
  IN
  /\ epoch = [r \in Replica |-> IF r = r2 THEN 2 ELSE 3]
  /\ leader = [r \in Replica |-> IF r = r2 THEN r2 ELSE r1]
  /\ voted = [r \in Replica |-> IF r = r3 THEN r1 ELSE Nil]
  /\ log = [r \in Replica |-> CASE r = r1 -> <<FirstRecord, data, third>>
                                 [] r = r2 -> <<FirstRecord, second>>
                                 [] OTHER -> <<FirstRecord>>]
  /\ log_start = [r \in Replica |-> 0]
  /\ flushed = [r \in Replica |-> Len(log[r])]
  /\ snapshots = [r \in Replica |-> {}]
  /\ role = [r \in Replica |-> IF r = r3 THEN "Follower" ELSE "Leader"]
  /\ granted = [r \in Replica |-> {}]
  /\ rejected = [r \in Replica |-> {}]
  /\ has_fetched = [r \in Replica |-> FALSE]
  /\ fetching_snapshot = [r \in Replica |-> Nil]
  /\ end_offset = [r \in Replica |-> NoEndOffsets]
  /\ high_watermark = [r \in Replica |-> IF r = r3 THEN 1 ELSE NoOffset]
  /\ messages = PutAll(NoMessages, QuorumEpochRequests("BeginQuorumEpochRequest", r1, {r2}))
  /\ committed = <<FirstRecord>>
FigureEightSpec == FigureEight /\ [][Next]_vars
==============================================================================
