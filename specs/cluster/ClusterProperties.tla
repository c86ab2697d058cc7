--------------------------- MODULE ClusterProperties ---------------------------
(***************************************************************************)
(* The properties of Cluster: those that neither the lease nor the         *)
(* partition nor the log has alone. Suffixes: Inv (every state), Prop      *)
(* (every step), Live (in the end), Reach (must be possible). The          *)
(* sentences above each property say what it means, where it comes from,   *)
(* and what breaks it.                                                     *)
(***************************************************************************)
EXTENDS Cluster

(* The images that count or that a node acts by: the committed one, what     *)
(* each controller knows to be committed, what each broker has replayed.     *)
CommittedImages ==
  {committed} \cup (({stable[c] : c \in Controller} \cup {applied[i] : i \in Incarnation}) \ {Nil})
------------------------------------------------------------------------------
(* The log                                                                   *)

(* The written image of an active controller is its stable image with its    *)
(* tail replayed.                                                            *)
(* Source: KIP-631, the controller's state is a replay of its log. Broken    *)
(* by: changing the image in another way than by records.                    *)
WrittenIsReplayOfLogInv ==
  \A c \in active :
    LET Replayed[k \in 0 .. Len(tail[c])] ==
          IF k = 0 THEN stable[c] ELSE ReplayBatch(Replayed[k - 1], tail[c][k].records)
    IN  written[c] = Replayed[Len(tail[c])]

(* All nodes that have replayed the committed log up to one offset have the  *)
(* same image.                                                               *)
(* Source: KIP-500, all nodes replay one log. Broken by: a broker that       *)
(* replays what is only written; a controller that keeps its tail when it is *)
(* deposed and elected again.                                                *)
SameOffsetSameImageInv ==
  \A a, b \in CommittedImages : a.end = b.end => a = b

(* No node acts by uncommitted records.                                      *)
(* Source: KIP-631, brokers replay committed records. Broken by: replaying   *)
(* the active controller's image.                                            *)
CommittedOnlyInv == \A image \in CommittedImages : image.end <= committed.end

(* The leader is active, and knows everything that is committed.             *)
(* Source: Raft, leader completeness. Broken by: electing a controller that  *)
(* lacks a committed record.                                                 *)
LeaderKnowsCommittedInv == leader \in active /\ stable[leader] = committed

(* The committed log only grows.                                             *)
(* Source: Raft, state machine safety. Broken by: a deposed controller whose *)
(* tail is committed.                                                        *)
CommittedGrowsProp == [][committed'.end > committed.end]_committed

(* A controller that renounces keeps nothing, and a controller that claims   *)
(* begins with what is committed.                                            *)
(* Source: Kafka, QuorumController.renounce. Broken by: keeping the tail, or *)
(* the image with it.                                                        *)
RenouncedKeepsNothingInv ==
  \A c \in Controller \ active :
    /\ stable[c] = Nil /\ tail[c] = << >> /\ written[c] = Nil
    /\ contact_age[c] = NoSessions
    /\ metadata_offset[c] = NoOffsets
    /\ controlled_shutdown_offset[c] = NoOffsets

(* If a process would still take the answer to a message in flight, or a     *)
(* controller owes it an answer, the process waits.                          *)
(* Source: Kafka, BrokerLifecycleManager has one request in flight. Broken   *)
(* by: a process that ends, and whose request is answered all the same.      *)
AwaitedIsWaitedForInv ==
  /\ \A m \in InFlight(messages) : (IsRequest(m) => m.awaited) => waiting[m.incarnation]
  /\ \A c \in active : \A k \in DOMAIN tail[c] :
       tail[c][k].reply # Nil => waiting[tail[c][k].reply.incarnation]
------------------------------------------------------------------------------
(* Leases and partitions together                                            *)

(* In every image that a node acts by, the leader is active, and so is every *)
(* member of an ISR with several members. Fencing and the moves of the       *)
(* partition become visible together.                                        *)
(* Source: KIP-631 and KIP-841; KAFKA-18106. Broken by: fencing and moving   *)
(* in two batches; registering a new incarnation without moving what the     *)
(* previous one led.                                                         *)
BatchAtomicInv ==
  \A image \in CommittedImages :
    LET p == image.partition IN
    /\ p.leader # NoLeader => ActiveIn(image, p.leader)
    /\ Cardinality(p.isr) > 1 => p.isr \subseteq ActiveBrokers(image)

(* Controller c gives answer m in this step: to a batch that commits, or at  *)
(* once, while its tail is empty, as it judges the request of m.             *)
AnswersHeartbeat(c, m) ==
  \/ \E count \in DOMAIN tail[c] :
       /\ tail'[c] = SubSeq(tail[c], count + 1, Len(tail[c]))
       /\ \E k \in 1 .. count : tail[c][k].reply = m
  \/ /\ tail[c] = << >> /\ tail'[c] = << >>
     /\ \E request \in InFlight(messages),
           next \in {"FENCED", "UNFENCED", "CONTROLLED_SHUTDOWN"} :
          Heeds(c, request, next) /\ m = HeartbeatReply(c, request, next)

(* A broker is told that it is fenced, or that it is not, only when that is  *)
(* committed: it stands in the stable image of the answering controller.     *)
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
(* if it is lost, another process gets its offset.                           *)
EpochUniqueInv ==
  /\ \A i, j \in Incarnation :
       (i # j /\ broker_epoch[i] # NoEpoch) => broker_epoch[i] # broker_epoch[j]
  /\ \A image \in CommittedImages : \A a, b \in Broker :
       (a # b /\ Registered(image, a) /\ Registered(image, b)) =>
         image.registrations[a].epoch # image.registrations[b].epoch

(* An epoch is an offset of the log, not after that of its record. The       *)
(* process that holds the registered epoch is the registered incarnation.    *)
(* Source: KIP-631. Broken by: an epoch that is taken from the committed log *)
(* end, not from the written one.                                            *)
EpochMatchesLogOffsetInv ==
  \A image \in CommittedImages : \A b \in Broker :
    LET r == image.registrations[b] IN
    r # Nil =>
      /\ r.epoch <= r.record_offset
      /\ r.record_offset < image.end
      /\ \A i \in Incarnation :
           (BrokerOf[i] = b /\ broker_epoch[i] = r.epoch) => r.incarnation = i

(* For each commit: a new epoch lies in the committed batch, beyond          *)
(* everything committed before.                                              *)
EpochIsNewOffsetProp ==
  [][\A b \in Broker :
       LET old == committed.registrations[b] new == committed'.registrations[b] IN
       (new # Nil /\ (old = Nil \/ (old # Nil /\ old.epoch # new.epoch))) =>
         /\ new.epoch >= committed.end
         /\ new.epoch <= new.record_offset
         /\ new.fenced]_committed

(* A broker is unfenced only after its process replayed the last record of   *)
(* its registration, which is therefore committed.                           *)
(* Source: KAFKA-13959. Broken by: unfencing at once: a repeated             *)
(* registration may be written and not committed.                            *)
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

(* The lease survives a failover: a new controller gives each unfenced       *)
(* broker a full session, and a broker is fenced for silence only by the     *)
(* controller that did not hear from it.                                     *)
(* Source: Kafka, ClusterControlManager.activate. Broken by: a claim that    *)
(* treats sessions as over.                                                  *)
LeaseOutlivesFailoverProp ==
  [][\A c \in active' \ active : \A b \in Broker :
       (Registered(written'[c], b) /\ ~written'[c].registrations[b].fenced) =>
         contact_age'[c][b] = Fresh]_active

(* Controller c grants request m, and answers so now or at the commit. *)
Granted(c, m) ==
  \E error \in {"NONE", "NEW_LEADER_ELECTED"} :
    LET response == AlterPartitionReply(m, error) IN
    \/ response \in InFlight(messages') \ InFlight(messages) /\ tail'[c] = tail[c]
    \/ Len(tail'[c]) > Len(tail[c]) /\ tail'[c][Len(tail'[c])].reply = response

(* AlterPartition is granted only to the registered process of the leader,   *)
(* and for the partition of the written image, whatever is committed and     *)
(* whatever another controller has written.                                  *)
(* Source: KIP-497, KIP-631. Broken by: judging by the committed image.      *)
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

(* AlterPartition is granted only for an ISR of active brokers, each under   *)
(* its registered epoch.                                                     *)
(* Source: KIP-903. Broken by: not looking at the members' epochs.           *)
IsrJoinsByCurrentEpochProp ==
  [][\A m \in InFlight(messages) \ InFlight(messages'), c \in active \cap active' :
       (m.type = "AlterPartitionRequest" /\ Granted(c, m)) =>
         \A b \in DOMAIN m.isr :
           /\ ActiveIn(written[c], b)
           /\ m.isr[b] = written[c].registrations[b].epoch]_<<messages, tail>>

(* A new leader comes from the ISR of the image written before, or from the  *)
(* ISR that the former leader asked for in a request that completes a        *)
(* reassignment. The log commits in order, so no election costs committed    *)
(* data.                                                                     *)
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
(* never under one leader epoch. That protects the data.                     *)
(* Source: KIP-631, leader epochs. Broken by: a new leader under the old     *)
(* epoch.                                                                    *)
LeaderEpochTellsApartInv ==
  \A i, j \in Incarnation :
    (/\ BrokerOf[i] # BrokerOf[j]
     /\ TakesItselfForLeader(i)
     /\ TakesItselfForLeader(j)) =>
      applied[i].partition.leader_epoch # applied[j].partition.leader_epoch

(* Not true of two processes of one broker id, and kept to show that: see    *)
(* broken/cluster/TwoOfOneId.cfg. The leader epoch does not tell them apart, *)
(* since the log names a leader by its id; the broker epoch does.            *)
OneLeaderPerEpochInv ==
  \A i, j \in Incarnation :
    (i # j /\ TakesItselfForLeader(i) /\ TakesItselfForLeader(j)) =>
      applied[i].partition.leader_epoch # applied[j].partition.leader_epoch

(* Not true of Kafka, and kept to show that: see                             *)
(* broken/cluster/TwoLeaders.cfg. No two processes take themselves for the   *)
(* leader at once.                                                           *)
OneLeaderInv ==
  \A i, j \in Incarnation : (TakesItselfForLeader(i) /\ TakesItselfForLeader(j)) => i = j

(* The ISR never loses its last member.                                      *)
(* Source: Kafka without ELR. Broken by: an empty ISR.                       *)
IsrNotEmptyInv == \A image \in CommittedImages : image.partition.isr # {}

(* When a process stops with permission, it is fenced, and no active broker  *)
(* still believes that it leads.                                             *)
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

(* A level is committed only if each other controller registered before, in  *)
(* the same log, to support it.                                              *)
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

(* The broker leads, by its own metadata and by the log, and its process is  *)
(* the registered one.                                                       *)
Serves(i) ==
  /\ status[i] = "RUNNING"
  /\ TakesItselfForLeader(i)
  /\ committed.partition.leader = BrokerOf[i]
  /\ committed.registrations[BrokerOf[i]].epoch = broker_epoch[i]

(* If an in-sync replica of the partition runs, the partition is served in   *)
(* the end, whatever was lost with the former controller.                    *)
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

(* Two controllers take themselves for active, and both have uncommitted     *)
(* batches.                                                                  *)
TwoActivesReach ==
  \E c, d \in active : c # d /\ tail[c] # << >> /\ tail[d] # << >>

(* A deposed controller has fenced a broker that is not fenced in the        *)
(* committed log, and whose fencing will never be committed.                 *)
UncommittedFencingLostReach ==
  \E c \in active \ {leader}, b \in Broker :
    /\ Registered(written[c], b) /\ written[c].registrations[b].fenced
    /\ Registered(stable[c], b) /\ ~stable[c].registrations[b].fenced
    /\ Registered(written[leader], b) /\ ~written[leader].registrations[b].fenced
    /\ committed.end > stable[c].end

(* A deposed controller has unfenced a broker that stays fenced.             *)
DeposedUnfenceLostReach ==
  \E c \in active \ {leader}, b \in Broker :
    /\ Registered(written[c], b) /\ ~written[c].registrations[b].fenced
    /\ Registered(stable[c], b) /\ stable[c].registrations[b].fenced
    /\ Registered(committed, b) /\ committed.registrations[b].fenced
    /\ committed.end > stable[c].end

(* The next leader committed what a former leader wrote, and the former      *)
(* leader does not know: the request took effect, and its sender got no      *)
(* answer.                                                                   *)
SurvivedFailOverReach ==
  \E c \in active \ {leader} :
    /\ stable[c].registrations # written[c].registrations
    /\ committed.registrations = written[c].registrations

(* The leader of a partition was told that its broker epoch is stale. *)
StaleAlterPartitionRefusedReach ==
  \E m \in InFlight(messages) :
    m.type = "AlterPartitionResponse" /\ m.error = "STALE_BROKER_EPOCH"

(* The controller refused a request because of its written image, and the    *)
(* reason is not committed yet: the answer waits.                            *)
RefusedByUncommittedReach ==
  \E c \in active : \E k \in DOMAIN tail[c] :
    /\ k > 1
    /\ tail[c][k].reply # Nil
    /\ tail[c][k].records = << >>
    /\ tail[c][k].reply.type = "AlterPartitionResponse"
    /\ tail[c][k].reply.error # "NONE"

(* The reassignment has completed: the replicas differ from the initial      *)
(* ones.                                                                     *)
ReassignedReach ==
  /\ ~Partitions!InProgress(committed.partition)
  /\ Partitions!Members(committed.partition.replicas) # Partitions!Members(Replicas)

(* It completed under a newly elected controller. (Candidates: the models    *)
(* with this witness elect only a controller that does not lead at first.)   *)
ReassignedAfterFailOverReach == ReassignedReach /\ leader \in Candidates

(* A process stopped with permission after a controlled shutdown. *)
StoppedWithLeaveReach ==
  \E i \in Incarnation :
    /\ status[i] = "SHUTTING_DOWN"
    /\ Registered(committed, BrokerOf[i])
    /\ committed.registrations[BrokerOf[i]].in_controlled_shutdown
    /\ committed.registrations[BrokerOf[i]].fenced

(* A starting broker has been unfenced, and leads. *)
StartedAndLeadsReach ==
  \E i \in Incarnation : Serves(i) /\ committed.registrations[BrokerOf[i]].record_offset > 0

(* A registration was lost with its controller, and the next registration in *)
(* the log has the same epoch as the lost one, or a later one.               *)
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
