-------------------- MODULE ReplicatedPartitionProperties --------------------
(***************************************************************************)
(* The properties of ReplicatedPartition, besides those of Reassignment.   *)
(* Published names are kept: they are Raft's, or those of Kafka's          *)
(* simulation test, or of the specs of Vanlightly and Gustafson. They hold *)
(* unless an election was unclean; a model that allows one leaves them     *)
(* out.                                                                    *)
(***************************************************************************)
EXTENDS ReplicatedPartition, ReassignmentProperties

(* Every replica in sync has all that was committed. So has every replica    *)
(* that may be elected.                                                      *)
(* Source: KIP-966 (LeaderCandidateCompletenessProperty). Broken by: adding  *)
(* a follower that has not reached the leader's epoch start; counting only   *)
(* the replicas known to be in sync while a request is in flight.            *)
CommittedOnIsrInv ==
  Exists => \A r \in partition.isr : Holds(r, consumed)

(* The elected leader has all that was committed.                            *)
(* Source: Raft, LeaderCompleteness. Broken by: electing outside the ISR.    *)
LeaderCompletenessInv ==
  (Exists /\ partition.leader # NoLeader) => Holds(partition.leader, consumed)

(* Some replica has all that was committed.                                  *)
(* Source: KIP-966 (NoCommittedRecordLostGlobally). Broken by: dropping the  *)
(* old replicas before a new one has caught up.                              *)
NoCommittedRecordLostInv ==
  Exists => \E r \in Members(partition.replicas) : Holds(r, consumed)

(* An offset and an epoch name one record: two logs that both have it are    *)
(* the same up to it.                                                        *)
(* Source: Raft, LogMatching; KIP-101.                                       *)
(* Broken by: appending without comparing the last epoch.                    *)
LogMatchingInv ==
  \A a, b \in Broker :
    \A k \in DOMAIN log[a] \cap DOMAIN log[b] :
      (log[a][k] = log[b][k]) => (SubSeq(log[a], 1, k) = SubSeq(log[b], 1, k))

(* Epochs in a log never fall.                                               *)
(* Source: KIP-101, the leader epoch cache. Broken by: a leader that appends *)
(* what another wrote later.                                                 *)
LogEpochsOrderedInv ==
  \A b \in Broker : \A k \in DOMAIN log[b] :
    k > 1 => log[b][k - 1] <= log[b][k]

(* No leader has committed more than it holds.                               *)
(* Source: Kafka, UnifiedLog. Broken by: counting an end that the follower   *)
(* did not reach.                                                            *)
HighWatermarkWithinLogInv ==
  \A b \in Broker : Leads(b) => replica_state[b].high_watermark <= Len(log[b])

(* A read can be repeated. Below its high watermark, every broker that       *)
(* believes it leads has the records that clients were told of.              *)
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

(* A record that clients were told of is never taken back.                   *)
(* Source: Kafka's simulation test, ConsistentCommittedData. Broken by: a    *)
(* leader that commits another record at a committed offset.                 *)
ConsumedGrowsProp ==
  [][/\ Len(consumed') > Len(consumed)
     /\ SubSeq(consumed', 1, Len(consumed)) = consumed]_consumed

(* While a broker leads, also from one epoch to its next, its high watermark *)
(* does not fall, and its log only grows.                                    *)
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

(* The data moved to replicas that were not there initially.                 *)
DataMovedReach ==
  /\ MovedReach
  /\ consumed # << >>
  /\ \A b \in Members(InitialReplicas) \ Members(partition.replicas) : log[b] = << >>

(* A follower will truncate a record that was never committed.               *)
WillTruncateReach == \E f \in Broker : IsHeard(f) /\ Diverges(f)

(* A deposed leader still appends.                                           *)
DeposedAppendsReach ==
  Exists /\ \E b \in Broker :
    /\ Leads(b)
    /\ leading[b].leader_epoch < partition.leader_epoch
    /\ partition.leader # b
    /\ Len(log[b]) > 0 /\ log[b][Len(log[b])] = leading[b].leader_epoch

(* A replica that was not there initially is in sync with a later leader,    *)
(* and has the records that were committed under the first.                  *)
JoinsUnderNewLeaderReach ==
  /\ Exists
  /\ partition.leader_epoch > 0
  /\ consumed # << >>
  /\ \E r \in partition.isr : r \notin Members(InitialReplicas)

(* An unclean election lost records that clients were told of. *)
UncleanLostReach ==
  Exists /\ partition.leader # NoLeader /\ ~Holds(partition.leader, consumed)

(* The leader of such an election knows of it, and has appended since.       *)
UncleanGoesOnReach ==
  /\ UncleanLostReach
  /\ Leads(partition.leader)
  /\ leading[partition.leader].leader_epoch = partition.leader_epoch
  /\ log[partition.leader] # << >>
  /\ log[partition.leader][Len(log[partition.leader])] = partition.leader_epoch

(* The leader has committed a record, and its ISR is being changed.          *)
CommittedWhilePendingReach ==
  \E b \in Broker :
    Leads(b) /\ leading[b].pending # {} /\ replica_state[b].high_watermark > 0
==============================================================================
