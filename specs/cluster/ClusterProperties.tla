--------------------------- MODULE ClusterProperties ---------------------------
(***************************************************************************)
(* What must be true of Cluster: what neither the lease nor the partition  *)
(* nor the log promises alone. Suffixes: Inv (every state), Prop (every    *)
(* step), Live (in the end), Reach (must be possible). Each says what it   *)
(* means, where it comes from, and what breaks it.                         *)
(***************************************************************************)
EXTENDS Cluster

(* The images that somebody acts by or that count: what is committed, what a *)
(* controller knows to be committed, what a broker has replayed.             *)
CommittedImages ==
  {committed} \cup (({stable[c] : c \in Controller} \cup {applied[i] : i \in Incarnation}) \ {Nil})
------------------------------------------------------------------------------
(* The log                                                                   *)

(* What an active controller has written is what is committed, as far as it  *)
(* knows, with its tail replayed.                                            *)
(* Source: KIP-631, the controller's state is a replay of its log. Broken    *)
(* by: changing the image besides the records.                               *)
WrittenIsReplayOfLogInv ==
  \A c \in active :
    LET Replayed[k \in 0 .. Len(tail[c])] ==
          IF k = 0 THEN stable[c] ELSE ReplayBatch(Replayed[k - 1], tail[c][k].records)
    IN  written[c] = Replayed[Len(tail[c])]

(* Whoever has replayed the committed log up to one offset knows the same.   *)
(* Source: KIP-500, all nodes replay one log. Broken by: a broker that       *)
(* replays what is only written; a controller that keeps its tail when it    *)
(* is deposed and elected again.                                             *)
SameOffsetSameImageInv ==
  \A a, b \in CommittedImages : a.end = b.end => a = b

(* Nobody acts by what is not committed.                                     *)
(* Source: KIP-631, brokers replay committed records. Broken by: replaying   *)
(* the active controller's image.                                            *)
CommittedOnlyInv == \A image \in CommittedImages : image.end <= committed.end

(* The leader is active, and knows all that is committed.                    *)
(* Source: Raft, leader completeness. Broken by: electing one that misses    *)
(* what is committed.                                                        *)
LeaderKnowsCommittedInv == leader \in active /\ stable[leader] = committed

(* What is committed only grows.                                             *)
(* Source: Raft, state machine safety. Broken by: a deposed controller whose *)
(* tail is committed.                                                        *)
CommittedGrowsProp == [][committed'.end > committed.end]_committed

(* A controller that renounces keeps nothing, and one that claims begins     *)
(* with what is committed.                                                   *)
(* Source: Kafka, QuorumController.renounce. Broken by: keeping the tail, or *)
(* the image with it.                                                        *)
RenouncedKeepsNothingInv ==
  \A c \in Controller \ active :
    /\ stable[c] = Nil /\ tail[c] = << >> /\ written[c] = Nil
    /\ contact_age[c] = NoSessions
    /\ metadata_offset[c] = NoOffsets
    /\ controlled_shutdown_offset[c] = NoOffsets

(* A process waits for whatever is under way that it would take an answer    *)
(* of, and for the answer that a controller owes it.                         *)
(* Source: Kafka, BrokerLifecycleManager has one request in flight. Broken   *)
(* by: a process that ends, and whose request is answered all the same.      *)
AwaitedIsWaitedForInv ==
  /\ \A m \in InFlight(messages) : (IsRequest(m) => m.awaited) => waiting[m.incarnation]
  /\ \A c \in active : \A k \in DOMAIN tail[c] :
       tail[c][k].reply # Nil => waiting[tail[c][k].reply.incarnation]
------------------------------------------------------------------------------
(* Leases and partitions together                                            *)

(* In no image that anybody acts by does a broker lead, or keep others       *)
(* company in the ISR, that is fenced, leaving or gone: fencing and the      *)
(* moves of the partition are seen together or not at all.                   *)
(* Source: KIP-631 and KIP-841; KAFKA-18106. Broken by: fencing and moving   *)
(* in two batches; registering a new incarnation without moving what the     *)
(* previous one led.                                                         *)
BatchAtomicInv ==
  \A image \in CommittedImages :
    LET p == image.partition IN
    /\ p.leader # NoLeader => ActiveIn(image, p.leader)
    /\ Cardinality(p.isr) > 1 => p.isr \subseteq ActiveBrokers(image)

(* Controller c gives answer m in this step: to a batch that commits, or at  *)
(* once, with nothing in its tail, as it judges the request that m answers.  *)
AnswersHeartbeat(c, m) ==
  \/ \E count \in DOMAIN tail[c] :
       /\ tail'[c] = SubSeq(tail[c], count + 1, Len(tail[c]))
       /\ \E k \in 1 .. count : tail[c][k].reply = m
  \/ /\ tail[c] = << >> /\ tail'[c] = << >>
     /\ \E request \in InFlight(messages),
           next \in {"FENCED", "UNFENCED", "CONTROLLED_SHUTDOWN"} :
          Heeds(c, request, next) /\ m = HeartbeatReply(c, request, next)

(* A broker is told it is fenced, or is not, only when that is committed: in *)
(* the image of the controller that answers, as far as it knows to be        *)
(* committed.                                                                *)
(* Source: KIP-631, answers wait for the commit. Broken by: answering when   *)
(* the batch is written.                                                     *)
FencedByCommitProp ==
  [][\A m \in InFlight(messages') \ InFlight(messages) :
       (m.type = "HeartbeatResponse" /\ m.error = "NONE") =>
         \E c \in active :
           LET r == stable'[c].registrations[BrokerOf[m.incarnation]] IN
           AnswersHeartbeat(c, m) /\ r # Nil /\ r.fenced = m.is_fenced]_messages

(* A process holds an epoch only if its registration is committed.           *)
(* Source: KIP-631, answers wait for the commit. Broken by: answering a      *)
(* registration when it is written.                                          *)
EpochHeldIsCommittedInv ==
  \A i \in Incarnation : broker_epoch[i] # NoEpoch => broker_epoch[i] < committed.end

(* No two processes hold one epoch.                                          *)
(* Source: KIP-631. Broken by: answering a registration when it is written:  *)
(* if it is lost, another gets its offset.                                   *)
EpochUniqueInv ==
  /\ \A i, j \in Incarnation :
       (i # j /\ broker_epoch[i] # NoEpoch) => broker_epoch[i] # broker_epoch[j]
  /\ \A image \in CommittedImages : \A a, b \in Broker :
       (a # b /\ Registered(image, a) /\ Registered(image, b)) =>
         image.registrations[a].epoch # image.registrations[b].epoch

(* An epoch is an offset of the log, not after that of its record; and who   *)
(* holds the registered epoch is the registered incarnation.                 *)
(* Source: KIP-631. Broken by: an epoch that is taken from what is           *)
(* committed, not from what is written.                                      *)
EpochMatchesLogOffsetInv ==
  \A image \in CommittedImages : \A b \in Broker :
    LET r == image.registrations[b] IN
    r # Nil =>
      /\ r.epoch <= r.record_offset
      /\ r.record_offset < image.end
      /\ \A i \in Incarnation :
           (BrokerOf[i] = b /\ broker_epoch[i] = r.epoch) => r.incarnation = i

(* The same of each commit: a new epoch lies in the batch that is committed, *)
(* beyond all that was committed before.                                     *)
EpochIsNewOffsetProp ==
  [][\A b \in Broker :
       LET old == committed.registrations[b] new == committed'.registrations[b] IN
       (new # Nil /\ (old = Nil \/ (old # Nil /\ old.epoch # new.epoch))) =>
         /\ new.epoch >= committed.end
         /\ new.epoch <= new.record_offset
         /\ new.fenced]_committed

(* A broker is unfenced only after its process replayed the last record of   *)
(* its registration, which is therefore committed.                           *)
(* Source: KAFKA-13959. Broken by: unfencing at once: a registration that    *)
(* was repeated may be written and not committed.                            *)
UnfencedSawCommittedRegistrationProp ==
  [][\A c \in active \cap active' : \A b \in Broker :
       LET old == written[c].registrations[b] new == written'[c].registrations[b] IN
       (old # Nil /\ new # Nil /\ old.fenced /\ ~new.fenced) =>
         old.record_offset < committed.end]_written

(* Each broker that is unfenced in the image of an active controller has a   *)
(* session there.                                                            *)
(* Source: Kafka, BrokerHeartbeatManager. Broken by: a claim that begins no  *)
(* sessions (KAFKA-18138).                                                   *)
UnfencedHasSessionInv ==
  \A c \in active : \A b \in Broker :
    (Registered(written[c], b) /\ ~written[c].registrations[b].fenced) =>
      contact_age[c][b] # NoAge

(* The lease outlives a failover: a new controller gives each unfenced       *)
(* broker a whole session, and nobody is fenced for silence but by the       *)
(* controller to whom he was silent.                                         *)
(* Source: Kafka, ClusterControlManager.activate. Broken by: a claim that    *)
(* takes sessions for over.                                                  *)
LeaseOutlivesFailoverProp ==
  [][\A c \in active' \ active : \A b \in Broker :
       (Registered(written'[c], b) /\ ~written'[c].registrations[b].fenced) =>
         contact_age'[c][b] = Fresh]_active

(* Controller c grants request m, and will say so. *)
Granted(c, m) ==
  \E error \in {"NONE", "NEW_LEADER_ELECTED"} :
    LET response == AlterPartitionReply(m, error) IN
    \/ response \in InFlight(messages') \ InFlight(messages) /\ tail'[c] = tail[c]
    \/ Len(tail'[c]) > Len(tail[c]) /\ tail'[c][Len(tail'[c])].reply = response

(* AlterPartition is granted only to the registered process of the leader,   *)
(* for the partition as it is written, whatever is committed and whatever    *)
(* another controller thinks.                                                *)
(* Source: KIP-497, KIP-631. Broken by: judging by what is committed.        *)
AlterPartitionUsesCurrentEpochProp ==
  [][\A m \in InFlight(messages) \ InFlight(messages'), c \in active \cap active' :
       (m.type = "AlterPartitionRequest" /\ Granted(c, m)) =>
         LET r == written[c].registrations[m.broker] IN
         /\ r # Nil
         /\ r.epoch = m.epoch
         /\ r.incarnation = m.incarnation
         /\ written[c].partition.leader = m.broker
         /\ written[c].partition.leader_epoch = m.leader_epoch
         /\ written[c].partition.partition_epoch = m.partition_epoch]_<<messages, tail>>

(* It is granted only for an ISR of active brokers, each under the epoch     *)
(* that it is registered with.                                               *)
(* Source: KIP-903. Broken by: not looking at the members' epochs.           *)
IsrJoinsByCurrentEpochProp ==
  [][\A m \in InFlight(messages) \ InFlight(messages'), c \in active \cap active' :
       (m.type = "AlterPartitionRequest" /\ Granted(c, m)) =>
         \A b \in DOMAIN m.isr :
           /\ ActiveIn(written[c], b)
           /\ m.isr[b] = written[c].registrations[b].epoch]_<<messages, tail>>

(* A new leader comes from the ISR that was written before; or from the one  *)
(* that the former leader asked for, and that completes a reassignment. The  *)
(* log commits in order, so no election costs what is committed.             *)
(* Source: KIP-631, clean elections. Broken by: electing any active replica. *)
LeaderFromIsrProp ==
  [][\A c \in active \cap active' :
       LET old == written[c].partition new == written'[c].partition IN
       (new.leader # old.leader /\ new.leader # NoLeader) =>
         /\ new.leader \in new.isr
         /\ \/ new.leader \in old.isr
            \/ /\ old.leader # NoLeader
               /\ Partitions!InProgress(old) /\ ~Partitions!InProgress(new)]_written

(* Two brokers may both take themselves for the leader of the partition, but *)
(* never under one leader epoch: that is what protects the data.             *)
(* Source: KIP-631, leader epochs. Broken by: a new leader under the old     *)
(* epoch.                                                                    *)
LeaderEpochTellsApartInv ==
  \A i, j \in Incarnation :
    (/\ BrokerOf[i] # BrokerOf[j]
     /\ TakesItselfForLeader(i)
     /\ TakesItselfForLeader(j)) =>
      applied[i].partition.leader_epoch # applied[j].partition.leader_epoch

(* Not true of two processes of one broker id, and kept for that: see        *)
(* broken/cluster/TwoOfOneId.cfg. The leader epoch does not tell them apart, *)
(* since the log names a leader by its id; the broker epoch does.            *)
OneLeaderPerEpochInv ==
  \A i, j \in Incarnation :
    (i # j /\ TakesItselfForLeader(i) /\ TakesItselfForLeader(j)) =>
      applied[i].partition.leader_epoch # applied[j].partition.leader_epoch

(* Not true of Kafka, and kept for that: see broken/cluster/TwoLeaders.cfg.  *)
(* No two processes take themselves for the leader at once.                  *)
OneLeaderInv ==
  \A i, j \in Incarnation : (TakesItselfForLeader(i) /\ TakesItselfForLeader(j)) => i = j

(* The ISR never loses its last member.                                      *)
(* Source: Kafka without ELR. Broken by: an empty ISR.                       *)
IsrNotEmptyInv == \A image \in CommittedImages : image.partition.isr # {}

(* A process that stops with leave is fenced, and no active broker believes  *)
(* any more that it leads.                                                   *)
(* Source: KIP-631, controlled shutdown; KAFKA-14292. True without failover, *)
(* and of brokers that were not fenced for their silence before: see         *)
(* broken/cluster/ForgottenLeave.cfg and FencedLeave.cfg. Broken by: not     *)
(* waiting for the others; answering before the commit.                      *)
ShutdownSafeProp ==
  [][\A i \in Incarnation :
       (status[i] = "PENDING_CONTROLLED_SHUTDOWN" /\ status'[i] = "SHUTTING_DOWN") =>
         LET b == BrokerOf[i] IN
         /\ ~ActiveIn(committed, b)
         /\ committed.partition.leader # b
         /\ \A j \in Incarnation :
              (/\ BrokerOf[j] # b
               /\ Live(j)
               /\ broker_epoch[j] # NoEpoch
               /\ ActiveIn(committed, BrokerOf[j])
               /\ committed.registrations[BrokerOf[j]].epoch = broker_epoch[j]
               /\ applied[j] # Nil) =>
                 applied[j].partition.leader # b]_status

(* No controller is registered below the gate, in any image.                 *)
(* Source: KIP-919. Broken by: judging the gate by a level that is lost.     *)
RegistrationGatedByMvInv ==
  \A image \in CommittedImages \cup ({written[c] : c \in Controller} \ {Nil}) :
    (\E c \in Controller : image.controllers[c] # Nil) => image.metadata_version >= GateLevel

(* A level is committed that each other controller registered to support, in *)
(* the same log, before.                                                     *)
(* Source: KIP-919, Fix compatibility gates. Broken by: judging an upgrade   *)
(* by a registration that is lost.                                           *)
UpgradeSupportedByCommittedProp ==
  [][(committed'.metadata_version # committed.metadata_version
       /\ committed.metadata_version >= GateLevel) =>
       \E c \in Controller : \A other \in Controller \ {c} :
         /\ committed.controllers[other] # Nil
         /\ committed'.metadata_version \in committed.controllers[other].supported]_committed
------------------------------------------------------------------------------
(* In the end. Under the fairness of MCClusterLive, once the faults are over *)

(* The broker leads, by its own opinion and the log's, and its process is    *)
(* the registered one.                                                       *)
Serves(i) ==
  /\ status[i] = "RUNNING"
  /\ TakesItselfForLeader(i)
  /\ committed.partition.leader = BrokerOf[i]
  /\ committed.registrations[BrokerOf[i]].epoch = broker_epoch[i]

(* A partition of which an in-sync replica runs is served in the end,        *)
(* whatever was lost with the former controller.                             *)
(* Source: KIP-500, failover. Broken by: a claim that begins no sessions: a  *)
(* dead leader is never fenced; a process that waits for ever for the answer *)
(* of a controller that is gone.                                             *)
SomeInSyncReplicaRuns ==
  \E i \in Incarnation :
    /\ status[i] = "RUNNING"
    /\ BrokerOf[i] \in committed.partition.isr
    /\ Registered(committed, BrokerOf[i])
    /\ committed.registrations[BrokerOf[i]].epoch = broker_epoch[i]
ServesAgainLive ==
  (SomeInSyncReplicaRuns ~> (~SomeInSyncReplicaRuns \/ \E i \in Incarnation : Serves(i)))
------------------------------------------------------------------------------
(* Witnesses                                                                 *)

(* Two controllers take themselves for active, and both have written what is *)
(* not committed.                                                            *)
TwoActivesReach ==
  \E c, d \in active : c # d /\ tail[c] # << >> /\ tail[d] # << >>

(* A controller that was deposed has fenced a broker that is not fenced, and *)
(* never will be by that.                                                    *)
UncommittedFencingLostReach ==
  \E c \in active \ {leader}, b \in Broker :
    /\ Registered(written[c], b) /\ written[c].registrations[b].fenced
    /\ Registered(stable[c], b) /\ ~stable[c].registrations[b].fenced
    /\ Registered(written[leader], b) /\ ~written[leader].registrations[b].fenced
    /\ committed.end > stable[c].end

(* A controller that was deposed has unfenced a broker that stays fenced.    *)
DeposedUnfenceLostReach ==
  \E c \in active \ {leader}, b \in Broker :
    /\ Registered(written[c], b) /\ ~written[c].registrations[b].fenced
    /\ Registered(stable[c], b) /\ stable[c].registrations[b].fenced
    /\ Registered(committed, b) /\ committed.registrations[b].fenced
    /\ committed.end > stable[c].end

(* What a leader wrote was committed by the next one, and it does not know:  *)
(* whoever asked for it was not answered, and has it all the same.           *)
SurvivedFailOverReach ==
  \E c \in active \ {leader} :
    /\ stable[c].registrations # written[c].registrations
    /\ committed.registrations = written[c].registrations

(* The leader of a partition was told that its broker epoch is stale. *)
StaleAlterPartitionRefusedReach ==
  \E m \in InFlight(messages) :
    m.type = "AlterPartitionResponse" /\ m.error = "STALE_BROKER_EPOCH"

(* A request was refused by what was written, and the reason for that is not *)
(* committed yet: the answer waits.                                          *)
RefusedByUncommittedReach ==
  \E c \in active : \E k \in DOMAIN tail[c] :
    /\ k > 1
    /\ tail[c][k].reply # Nil
    /\ tail[c][k].records = << >>
    /\ tail[c][k].reply.type = "AlterPartitionResponse"
    /\ tail[c][k].reply.error # "NONE"

(* The reassignment has come to its end: other replicas than at first. *)
ReassignedReach ==
  /\ ~Partitions!InProgress(committed.partition)
  /\ Partitions!Members(committed.partition.replicas) # Partitions!Members(Replicas)

(* It came to its end under a controller that was elected. (Candidates: the  *)
(* models that ask for this elect only who does not lead at first.)          *)
ReassignedAfterFailOverReach == ReassignedReach /\ leader \in Candidates

(* A process stopped with leave after a controlled shutdown. *)
StoppedWithLeaveReach ==
  \E i \in Incarnation :
    /\ status[i] = "SHUTTING_DOWN"
    /\ Registered(committed, BrokerOf[i])
    /\ committed.registrations[BrokerOf[i]].in_controlled_shutdown
    /\ committed.registrations[BrokerOf[i]].fenced

(* A broker that starts has been unfenced, and leads. *)
StartedAndLeadsReach ==
  \E i \in Incarnation : Serves(i) /\ committed.registrations[BrokerOf[i]].record_offset > 0

(* A registration was lost with its controller, and the next one in the log  *)
(* has the epoch that it would have had, or a later one.                     *)
RegistrationLostReach ==
  \E c \in active \ {leader}, b \in Broker :
    /\ Registered(written[c], b)
    /\ written[c].registrations[b] # stable[c].registrations[b]
    /\ Registered(committed, b)
    /\ committed.registrations[b].epoch >= written[c].registrations[b].epoch
    /\ committed.registrations[b].incarnation # written[c].registrations[b].incarnation

(* An upgrade was lost with its controller. *)
UpgradeLostReach ==
  \E c \in active \ {leader} :
    /\ written[c].metadata_version > stable[c].metadata_version
    /\ committed.metadata_version < written[c].metadata_version
    /\ committed.end > stable[c].end
==============================================================================
