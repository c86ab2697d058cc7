------------------------- MODULE ReplicatedPartition -------------------------
(***************************************************************************)
(* The data of a partition while it is reassigned. A leader appends,       *)
(* followers fetch, and a record is committed when every replica that may  *)
(* be in sync has it. The module extends Reassignment and takes its steps  *)
(* as they are.                                                            *)
(*                                                                         *)
(* Sources: KIP-101, KIP-279 and KIP-320 (leader epochs, truncation),      *)
(* KIP-497 (the ISR a leader must count), KIP-903 (broker epochs in        *)
(* fetches), and Kafka 4.1 as built.                                       *)
(*                                                                         *)
(* Kafka's handler -> actions here (Partition where no class is given)     *)
(*   makeLeader -> BecomeLeader                                            *)
(*   makeFollower -> BecomeFollower                                        *)
(*   ReplicaManager.stopPartitions -> DropReplica                          *)
(*   ClusterControlManager.registerBroker, LogManager.loadLogs ->          *)
(*     RestartBroker                                                       *)
(*   appendRecordsToLeader -> AppendRecord                                 *)
(*   fetchRecords, updateFollowerFetchState -> FetchRecords                *)
(*   AbstractFetcherThread.truncateOnFetchResponse -> TruncateLog          *)
(*   maybeIncrementLeaderHW -> AdvanceHighWatermark                        *)
(*   isFollowerInSync, maybeExpandIsr -> ExpandIsr                         *)
(*   maybeShrinkIsr -> ShrinkIsr                                           *)
(*   the handlers of Reassignment -> its actions, which leave the data as  *)
(*     it is: ReassignmentStarted, ReassignmentCancelled, LeaderPreferred, *)
(*     LeaderForced, BrokerFenced, BrokerUnfenced, ShutdownBegun,          *)
(*     RequestRepeated, RequestRefused, RequestGranted, AnswerReceived     *)
(*                                                                         *)
(* What is not modelled                                                    *)
(*  - Values. A record is the epoch of the leader that wrote it. One       *)
(*    leader writes in an epoch, so an offset and an epoch name one        *)
(*    record.                                                              *)
(*  - Fetches in flight. The leader gets the fetch, and the follower its   *)
(*    answer, in one step of one record.                                   *)
(*  - The high watermark of followers. A new leader finds its own afresh.  *)
(*    That only makes it easier for a follower to join the ISR.            *)
(*  - Transactions, retention, compaction, tiers, min.insync.replicas      *)
(*    (which lets a leader refuse records, and commits none).              *)
(*  - A replica's lag in time. A leader may drop any replica from the ISR. *)
(*  - A log that loses its end in a restart, unless a model allows it      *)
(*    (SurvivingEnds).                                                     *)
(***************************************************************************)
EXTENDS Reassignment

VARIABLES
  log,         \* [Broker -> sequence of leader epochs]: the records each broker holds.
  following,   \* [Broker -> [leader, leader_epoch] or Nil]: the leader it fetches from.
  replica_state, \* [Broker -> state or Nil]: what a leader remembers of its replicas.
  consumed     \* The committed records, as clients were told. No step reads it.

data_vars == <<log, following, replica_state, consumed>>
all_vars == <<vars, data_vars>>
------------------------------------------------------------------------------
(* Values                                                                    *)

Offset == Nat
IsLog(sequence) == sequence \in Seq(Nat)

(* epoch_start: the end of the log when the epoch began. fetched: for each   *)
(* replica, the offset of its last fetch of this epoch and the broker epoch  *)
(* of the fetching process; or Nil.                                          *)
(* Kafka: Partition.leaderEpochStartOffsetOpt, Replica.replicaState.         *)
ReplicaState ==
  [epoch_start : Offset, high_watermark : Offset,
   fetched : [Broker -> [end : Offset, broker_epoch : Nat] \cup {Nil}]]

DataTypeOK ==
  /\ DOMAIN log = Broker /\ \A b \in Broker : IsLog(log[b])
  /\ following \in [Broker -> [leader : Broker, leader_epoch : Nat] \cup {Nil}]
  /\ replica_state \in [Broker -> ReplicaState \cup {Nil}]
  /\ \A b \in Broker : Leads(b) <=> replica_state[b] # Nil
  /\ IsLog(consumed)

Holds(b, records) ==
  Len(records) <= Len(log[b]) /\ SubSeq(log[b], 1, Len(records)) = records

DataInit ==
  /\ Init
  /\ log = [b \in Broker |-> << >>]
  /\ following = [b \in Broker |-> Nil]
  /\ replica_state = [b \in Broker |-> Nil]
  /\ consumed = << >>
------------------------------------------------------------------------------
(* A broker replays the metadata                                             *)

Replays == UNCHANGED <<partition, registrations, messages, consumed>>

(***************************************************************************)
(* A broker learns that it leads, or that the partition it leads has       *)
(* changed. In a new leader epoch it knows nothing of its followers, and   *)
(* notes where the epoch begins (epoch_start |-> Len(log[b])). Before a    *)
(* follower has reached that offset, the leader does not know what was     *)
(* committed before.                                                       *)
(*                                                                         *)
(* Kafka: Partition.makeLeader.                                            *)
(***************************************************************************)
BecomeLeader(b) ==
  LET view == ViewOf(b, partition) IN
  /\ view # Nil
  /\ IsNews(b)
  /\ leading' = [leading EXCEPT ![b] = view]
  /\ following' = [following EXCEPT ![b] = Nil]
  /\ replica_state' = [replica_state EXCEPT ![b] =
       IF Leads(b) /\ leading[b].leader_epoch = view.leader_epoch THEN @
       ELSE [epoch_start |-> Len(log[b]),
             high_watermark |-> IF Leads(b) THEN @.high_watermark ELSE 0,
             fetched |-> [r \in Broker |-> Nil]]]
  /\ UNCHANGED log
  /\ Replays

(***************************************************************************)
(* A broker learns which leader it follows, if there is a leader.          *)
(*                                                                         *)
(* Kafka: Partition.makeFollower.                                          *)
(***************************************************************************)
BecomeFollower(b) ==
  LET source == IF partition.leader = NoLeader THEN Nil
                ELSE [leader |-> partition.leader, leader_epoch |-> partition.leader_epoch]
  IN
  /\ Exists
  /\ b \in Members(partition.replicas)
  /\ partition.leader # b
  /\ Leads(b) \/ following[b] # source
  /\ leading' = [leading EXCEPT ![b] = Nil]
  /\ following' = [following EXCEPT ![b] = source]
  /\ replica_state' = [replica_state EXCEPT ![b] = Nil]
  /\ UNCHANGED log
  /\ Replays

(***************************************************************************)
(* A broker learns that it is not a replica, or is one no longer. It       *)
(* deletes the data that it has.                                           *)
(*                                                                         *)
(* Kafka: ReplicaManager.stopPartitions.                                   *)
(***************************************************************************)
DropReplica(b) ==
  /\ Exists => b \notin Members(partition.replicas)
  /\ Leads(b) \/ following[b] # Nil \/ log[b] # << >>
  /\ leading' = [leading EXCEPT ![b] = Nil]
  /\ following' = [following EXCEPT ![b] = Nil]
  /\ replica_state' = [replica_state EXCEPT ![b] = Nil]
  /\ log' = [log EXCEPT ![b] = << >>]
  /\ Replays

(***************************************************************************)
(* A broker's process restarts. Its log keeps what was on disk.            *)
(*                                                                         *)
(* Kafka: ClusterControlManager.registerBroker, LogManager.loadLogs.       *)
(***************************************************************************)
RestartBroker(b, end) ==
  /\ end <= Len(log[b])
  /\ RegisterBroker(b)
  /\ following' = [following EXCEPT ![b] = Nil]
  /\ replica_state' = [replica_state EXCEPT ![b] = Nil]
  /\ log' = [log EXCEPT ![b] = SubSeq(@, 1, end)]
  /\ UNCHANGED consumed
------------------------------------------------------------------------------
(* Records                                                                   *)

(***************************************************************************)
(* A leader appends a record, even if it was deposed and has not heard.    *)
(*                                                                         *)
(* Kafka: Partition.appendRecordsToLeader.                                 *)
(***************************************************************************)
AppendRecord(b) ==
  /\ Leads(b)
  /\ log' = [log EXCEPT ![b] = Append(@, leading[b].leader_epoch)]
  /\ UNCHANGED <<vars, following, replica_state, consumed>>

(* The leader accepts the fetches of follower f: both are in the same epoch, *)
(* and the leader counts f as a replica. KIP-320 fences every other fetch.   *)
IsHeard(f) ==
  /\ following[f] # Nil
  /\ LET l == following[f].leader IN
       /\ Leads(l)
       /\ leading[l].leader_epoch = following[f].leader_epoch
       /\ f \in leading[l].replicas

(* The last record of f differs from the leader's record at that offset.     *)
Diverges(f) ==
  LET l == following[f].leader
      end == Len(log[f])
  IN  end > 0 /\ (end > Len(log[l]) \/ (end <= Len(log[l]) /\ log[f][end] # log[l][end]))

(***************************************************************************)
(* A follower fetches. The leader learns the end of the follower's log and *)
(* the fetching process. The follower gets the next record, if there is    *)
(* one.                                                                    *)
(*                                                                         *)
(* Kafka: Partition.fetchRecords, updateFollowerFetchState.                *)
(***************************************************************************)
FetchRecords(f) ==
  LET l == following[f].leader
      end == Len(log[f])
  IN
  /\ IsHeard(f)
  /\ ~Diverges(f)
  /\ replica_state' = [replica_state EXCEPT ![l].fetched[f] =
       [end |-> end, broker_epoch |-> registrations[f].epoch]]
  /\ log' = IF end = Len(log[l]) THEN log
            ELSE [log EXCEPT ![f] = Append(@, log[l][end + 1])]
  /\ UNCHANGED <<vars, following, consumed>>

(* The end offset, in a log, of all epochs up to the given one.              *)
EndOfEpoch(sequence, epoch) ==
  Cardinality({k \in DOMAIN sequence : sequence[k] <= epoch})

(***************************************************************************)
(* A follower fetches and learns that its last record is not the leader's. *)
(* It truncates its log to the offset up to which the two may agree, and   *)
(* fetches again.                                                          *)
(*                                                                         *)
(* Kafka: AbstractFetcherThread.truncateOnFetchResponse (KIP-320).         *)
(***************************************************************************)
TruncateLog(f) ==
  LET l == following[f].leader
      leader_end == EndOfEpoch(log[l], log[f][Len(log[f])])
      epoch == IF leader_end = 0 THEN -1 ELSE log[l][leader_end]
      own_end == EndOfEpoch(log[f], epoch)
  IN
  /\ IsHeard(f)
  /\ Diverges(f)
  /\ log' = [log EXCEPT ![f] =
       SubSeq(@, 1, IF leader_end < own_end THEN leader_end ELSE own_end)]
  /\ UNCHANGED <<vars, following, replica_state, consumed>>

(* The end offset of replica r, as far as leader l knows.                    *)
EndKnown(l, r) ==
  IF r = l THEN Len(log[l])
  ELSE IF replica_state[l].fetched[r] = Nil THEN 0 ELSE replica_state[l].fetched[r].end

(***************************************************************************)
(* A leader advances the high watermark to the lowest end offset among the *)
(* replicas that may be in sync. These are the members of the ISR that it  *)
(* knows and of the ISR that it asked for (MaximalIsr(l)). Clients learn   *)
(* of it.                                                                  *)
(*                                                                         *)
(* Kafka: Partition.maybeIncrementLeaderHW.                                *)
(***************************************************************************)
AdvanceHighWatermark(l) ==
  LET ends == {EndKnown(l, r) : r \in MaximalIsr(l)}
      end == CHOOSE e \in ends : \A other \in ends : e <= other
  IN
  /\ Leads(l)
  /\ end > replica_state[l].high_watermark
  /\ replica_state' = [replica_state EXCEPT ![l].high_watermark = end]
  /\ consumed' = IF end > Len(consumed) THEN SubSeq(log[l], 1, end) ELSE consumed
  /\ UNCHANGED <<vars, log, following>>
------------------------------------------------------------------------------
(* A leader and its ISR                                                      *)

(* The broker epochs under which leader l knows the members of an ISR. It    *)
(* has them from their fetches in this leader epoch; NoEpoch if there was    *)
(* none.                                                                     *)
KnownEpochs(l, isr) ==
  [r \in isr |-> IF r = l THEN registrations[l].epoch
                 ELSE IF replica_state[l].fetched[r] = Nil THEN NoEpoch
                 ELSE replica_state[l].fetched[r].broker_epoch]

(* Follower f has all that was committed, and all that the leader held when  *)
(* its epoch began. The leader may not know that some of that is committed.  *)
(* Kafka: Partition.isFollowerInSync.                                        *)
CaughtUp(l, f) ==
  /\ replica_state[l].fetched[f] # Nil
  /\ replica_state[l].fetched[f].end >= replica_state[l].high_watermark
  /\ replica_state[l].fetched[f].end >= replica_state[l].epoch_start

(***************************************************************************)
(* A leader asks to add a follower that has caught up.                     *)
(*                                                                         *)
(* Kafka: Partition.maybeExpandIsr.                                        *)
(***************************************************************************)
ExpandIsr(l, f) ==
  /\ Leads(l)
  /\ f \notin leading[l].isr
  /\ CaughtUp(l, f)
  /\ RequestIsr(l, KnownEpochs(l, leading[l].isr \cup {f}))
  /\ UNCHANGED data_vars

(***************************************************************************)
(* A leader asks to remove followers.                                      *)
(*                                                                         *)
(* Kafka: Partition.maybeShrinkIsr.                                        *)
(***************************************************************************)
ShrinkIsr(l, isr) ==
  /\ Leads(l)
  /\ isr \subseteq leading[l].isr
  /\ RequestIsr(l, KnownEpochs(l, isr))
  /\ UNCHANGED data_vars
------------------------------------------------------------------------------
(* Steps of Reassignment, at the controller and between the controller and   *)
(* the leader. The replicas do not know of them yet.                         *)

ReassignmentStarted(target) == StartReassignment(target) /\ UNCHANGED data_vars
ReassignmentCancelled == CancelReassignment /\ UNCHANGED data_vars
LeaderPreferred == ElectPreferredLeader /\ UNCHANGED data_vars
LeaderForced == ElectUncleanLeader /\ UNCHANGED data_vars
BrokerFenced(b) == FenceBroker(b) /\ UNCHANGED data_vars
BrokerUnfenced(b) == UnfenceBroker(b) /\ UNCHANGED data_vars
ShutdownBegun(b) == BeginControlledShutdown(b) /\ UNCHANGED data_vars
RequestRepeated(m) == RetryAlterPartition(m) /\ UNCHANGED data_vars
RequestRefused(m) == RefuseAlterPartition(m) /\ UNCHANGED data_vars
RequestGranted(m) == GrantAlterPartition(m) /\ UNCHANGED data_vars
AnswerReceived(m) == HandleAlterPartitionResponse(m) /\ UNCHANGED data_vars

(* The ends that a log may have after a restart. It loses nothing, unless a  *)
(* model says otherwise (AnyEndButTheLasts).                                 *)
SurvivingEnds(b) == {Len(log[b])}

ControllerNext ==
  \/ \E target \in SomeTargets : ReassignmentStarted(target)
  \/ ReassignmentCancelled
  \/ LeaderPreferred
  \/ LeaderForced
  \/ \E b \in Broker : BrokerFenced(b)
  \/ \E b \in Broker : BrokerUnfenced(b)
  \/ \E b \in Broker : ShutdownBegun(b)
  \/ \E m \in InFlight(messages) : RequestRefused(m)
  \/ \E m \in InFlight(messages) : RequestGranted(m)

ReplicaNext ==
  \/ \E b \in Broker : BecomeLeader(b)
  \/ \E b \in Broker : BecomeFollower(b)
  \/ \E b \in Broker : DropReplica(b)
  \/ \E b \in Broker : \E end \in SurvivingEnds(b) : RestartBroker(b, end)
  \/ \E b \in Broker : AppendRecord(b)
  \/ \E b \in Broker : FetchRecords(b)
  \/ \E b \in Broker : TruncateLog(b)
  \/ \E b \in Broker : AdvanceHighWatermark(b)
  \/ \E l, f \in Broker : ExpandIsr(l, f)
  \/ \E l \in Broker, isr \in SUBSET Broker : ShrinkIsr(l, isr)
  \/ \E m \in InFlight(messages) : RequestRepeated(m)
  \/ \E m \in InFlight(messages) : AnswerReceived(m)

DataNext == ControllerNext \/ ReplicaNext

DataSpec == DataInit /\ [][DataNext]_all_vars
==============================================================================
