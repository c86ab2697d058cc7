-------------------- MODULE ReplicatedPartitionProperties --------------------
(***************************************************************************)
(* What must be true of ReplicatedPartition, besides what is true of       *)
(* Reassignment. Names that are published are kept: they are Raft's, of    *)
(* Kafka's simulation test, or of the specs of Vanlightly and Gustafson.   *)
(* Unless an election was unclean: a model that allows one leaves these    *)
(* out.                                                                    *)
(***************************************************************************)
EXTENDS ReplicatedPartition, ReassignmentProperties

(* What was committed is on every replica that is in sync, so on every one   *)
(* that may be elected.                                                      *)
(* Source: KIP-966 (LeaderCandidateCompletenessProperty). Broken by: letting *)
(* a follower in that has not come to the leader's epoch start; counting     *)
(* only those that are known to be in sync while a request is under way.     *)
CommittedOnIsrInv ==
  Exists => \A r \in partition.isr : Holds(r, consumed)

(* The elected leader has all that was committed.                            *)
(* Source: Raft, LeaderCompleteness. Broken by: electing outside the ISR.    *)
LeaderCompletenessInv ==
  (Exists /\ partition.leader # NoLeader) => Holds(partition.leader, consumed)

(* What was committed is somewhere among the replicas.                       *)
(* Source: KIP-966 (NoCommittedRecordLostGlobally). Broken by: dropping the  *)
(* old replicas before a new one has caught up.                              *)
NoCommittedRecordLostInv ==
  Exists => \E r \in Members(partition.replicas) : Holds(r, consumed)

(* A record at an offset with an epoch is one record: who has it has the     *)
(* same before it. Source: Raft, LogMatching; KIP-101.                       *)
(* Broken by: appending without comparing the last epoch.                    *)
LogMatchingInv ==
  \A a, b \in Broker :
    \A k \in DOMAIN log[a] \cap DOMAIN log[b] :
      (log[a][k] = log[b][k]) => (SubSeq(log[a], 1, k) = SubSeq(log[b], 1, k))

(* Epochs in a log never fall. Source: KIP-101, the leader epoch cache.      *)
(* Broken by: a leader that appends what another wrote later.                *)
LogEpochsOrderedInv ==
  \A b \in Broker : \A k \in DOMAIN log[b] :
    k > 1 => log[b][k - 1] <= log[b][k]

(* No leader has committed more than it holds.                               *)
(* Source: Kafka, UnifiedLog. Broken by: counting a follower's end that it   *)
(* did not reach.                                                            *)
HighWatermarkWithinLogInv ==
  \A b \in Broker : Leads(b) => replica_state[b].high_watermark <= Len(log[b])

(* What was read once is read again: below their high watermarks, all that   *)
(* take themselves for leaders have what clients were told.                  *)
(* Source: ConsistentReadProperty (Vanlightly). Broken by: a deposed leader  *)
(* that commits alone.                                                       *)
ConsistentReadInv ==
  \A b \in Broker : Leads(b) =>
    LET end == replica_state[b].high_watermark
        known == IF end < Len(consumed) THEN end ELSE Len(consumed)
    IN  /\ end <= Len(consumed)
        /\ SubSeq(log[b], 1, known) = SubSeq(consumed, 1, known)
------------------------------------------------------------------------------
(* Steps                                                                     *)

(* What clients were told is never taken back.                               *)
(* Source: Kafka's simulation test, ConsistentCommittedData. Broken by: a    *)
(* leader that commits something else at an offset that is committed.        *)
ConsumedGrowsProp ==
  [][/\ Len(consumed') > Len(consumed)
     /\ SubSeq(consumed', 1, Len(consumed)) = consumed]_consumed

(* While a broker leads in one epoch its high watermark does not fall, and   *)
(* its log only grows.                                                       *)
(* Source: Raft, LeaderAppendOnly; Kafka's simulation test,                  *)
(* MonotonicHighWatermark. Broken by: a leader that truncates.               *)
LeaderAppendOnlyProp ==
  [][\A b \in Broker :
       (Leads(b) /\ Leads(b)') =>
         /\ replica_state'[b].high_watermark >= replica_state[b].high_watermark
         /\ Len(log'[b]) >= Len(log[b])
         /\ SubSeq(log'[b], 1, Len(log[b])) = log[b]]_<<log, replica_state>>
------------------------------------------------------------------------------
(* Must be possible                                                          *)

(* The data moved to replicas that were not there in the beginning.          *)
DataMovedReach ==
  /\ MovedReach
  /\ consumed # << >>
  /\ \A b \in Members(InitialReplicas) \ Members(partition.replicas) : log[b] = << >>

(* A record that was never committed is cut off.                             *)
WillTruncateReach == \E f \in Broker : IsHeard(f) /\ Diverges(f)

(* A deposed leader still appends.                                           *)
DeposedAppendsReach ==
  Exists /\ \E b \in Broker :
    /\ Leads(b)
    /\ leading[b].leader_epoch < partition.leader_epoch
    /\ partition.leader # b
    /\ Len(log[b]) > 0 /\ log[b][Len(log[b])] = leading[b].leader_epoch

(* A replica that was not there before is in sync with a leader that was not *)
(* the first, and has what was committed under the first.                    *)
JoinsUnderNewLeaderReach ==
  /\ Exists
  /\ partition.leader_epoch > 0
  /\ consumed # << >>
  /\ \E r \in partition.isr : r \notin Members(InitialReplicas)

(* An unclean election lost what clients were told. *)
UncleanLostReach ==
  Exists /\ partition.leader # NoLeader /\ ~Holds(partition.leader, consumed)

(* The leader commits a record while its ISR is being changed.               *)
CommittedWhilePendingReach ==
  \E b \in Broker :
    Leads(b) /\ leading[b].pending # {} /\ replica_state[b].high_watermark > 0
==============================================================================
