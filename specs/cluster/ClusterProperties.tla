--------------------------- MODULE ClusterProperties ---------------------------
(***************************************************************************)
(* The properties of Cluster: those that the lease, the partition and the  *)
(* log cannot promise alone. Suffixes: Inv (every state), Prop (every      *)
(* step), Live (eventually), Reach (must be possible). Each property says  *)
(* what it means, where it comes from, and what breaks it.                 *)
(***************************************************************************)
EXTENDS Cluster

(* The images that count or that a node acts by: the committed one, those    *)
(* that the controllers know to be committed, and those that the brokers     *)
(* have replayed.                                                            *)
CommittedImages ==
  {committed} \cup (({stable[c] : c \in Controller} \cup {applied[i] : i \in Incarnation}) \ {Nil})
------------------------------------------------------------------------------
(* The log                                                                   *)

(* The image that an active controller has written is the image that it      *)
(* knows to be committed, with its tail replayed.                            *)
(* Source: KIP-631, the controller's state is a replay of its log. Broken    *)
(* by: changing the image other than by records.                             *)
WrittenIsReplayOfLogInv ==
  \A c \in active :
    LET Replayed[k \in 0 .. Len(tail[c])] ==
          IF k = 0 THEN stable[c] ELSE ReplayBatch(Replayed[k - 1], tail[c][k].records)
    IN  written[c] = Replayed[Len(tail[c])]

(* Two nodes that have replayed the committed log to the same offset have    *)
(* the same image.                                                           *)
(* Source: KIP-500, all nodes replay one log. Broken by: a broker that       *)
(* replays what is only written; a controller that keeps its tail when it is *)
(* deposed and elected again.                                                *)
SameOffsetSameImageInv ==
  \A a, b \in CommittedImages : a.end = b.end => a = b

(* No node acts by what is not committed.                                    *)
(* Source: KIP-631, brokers replay committed records. Broken by: replaying   *)
(* the active controller's image.                                            *)
CommittedOnlyInv == \A image \in CommittedImages : image.end <= committed.end

(* The leader is active, and knows all that is committed.                    *)
(* Source: Raft, leader completeness. Broken by: electing a controller that  *)
(* misses some of what is committed.                                         *)
LeaderKnowsCommittedInv == leader \in active /\ stable[leader] = committed

(* The committed log only grows.                                             *)
(* Source: Raft, state machine safety. Broken by: committing the tail of a   *)
(* deposed controller.                                                       *)
CommittedGrowsProp == [][committed'.end > committed.end]_committed

(* A controller that is not active keeps no tail, image or sessions.         *)
(* Source: Kafka, QuorumController.renounce. Broken by: keeping the tail, or *)
(* the image with it.                                                        *)
RenouncedKeepsNothingInv ==
  \A c \in Controller \ active :
    /\ stable[c] = Nil /\ tail[c] = << >> /\ written[c] = Nil
    /\ contact_age[c] = NoSessions
    /\ metadata_offset[c] = NoOffsets
    /\ controlled_shutdown_offset[c] = NoOffsets

(* A process waits while a request whose answer it would take is in flight,  *)
(* and while a controller owes it an answer.                                 *)
(* Source: Kafka, BrokerLifecycleManager has one request in flight. Broken   *)
(* by: a process that ends, and whose request is still answered.             *)
AwaitedIsWaitedForInv ==
  /\ \A m \in InFlight(messages) : (IsRequest(m) => m.awaited) => waiting[m.incarnation]
  /\ \A c \in active : \A k \in DOMAIN tail[c] :
       tail[c][k].reply # Nil => waiting[tail[c][k].reply.incarnation]
------------------------------------------------------------------------------
(* Leases and partitions together                                            *)

(* In no image that a node acts by does a fenced, leaving or unregistered    *)
(* broker lead, or stand in the ISR with others. A node sees the fencing     *)
(* together with the partition's move, or sees neither.                      *)
(* Source: KIP-631 and KIP-841; KAFKA-18106. Broken by: fencing and moving   *)
(* in two batches; registering a new incarnation without moving the          *)
(* partitions that the previous one led.                                     *)
BatchAtomicInv ==
  \A image \in CommittedImages :
    LET p == image.partition IN
    /\ p.leader # NoLeader => ActiveIn(image, p.leader)
    /\ Cardinality(p.isr) > 1 => p.isr \subseteq ActiveBrokers(image)

(* The messages of which this step takes a copy. *)
Gone ==
  {m \in InFlight(messages) : m \notin InFlight(messages') \/ messages'[m] < messages[m]}

(* Controller c gives answer m in this step. The answer belongs to a batch   *)
(* that is committed; or it is given at once, while the tail is empty, by    *)
(* the controller's judgement of the request.                                *)
AnswersHeartbeat(c, m) ==
  \/ \E count \in DOMAIN tail[c] :
       /\ tail'[c] = SubSeq(tail[c], count + 1, Len(tail[c]))
       /\ \E k \in 1 .. count : tail[c][k].reply = m
  \/ /\ tail[c] = << >> /\ tail'[c] = << >>
     /\ \E request \in InFlight(messages),
           next \in {"FENCED", "UNFENCED", "CONTROLLED_SHUTDOWN"} :
          Heeds(c, request, next) /\ m = HeartbeatReply(c, request, next)

(* A broker is told that it is fenced, or that it is not, only when that is  *)
(* committed: it must stand in the image that the answering controller knows *)
(* to be committed.                                                          *)
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

(* The epoch that a process is told is the one under which the committed log *)
(* has it registered.                                                        *)
(* Source: KIP-631, BrokerRegistrationResponse. Broken by: telling the       *)
(* offset of the record where the record has the offset of its batch.        *)
EpochToldIsCommittedProp ==
  [][\A m \in InFlight(messages') \ InFlight(messages) :
       (m.type = "RegistrationResponse" /\ m.error = "NONE") =>
         \E c \in active :
           LET r == stable'[c].registrations[BrokerOf[m.incarnation]] IN
           r # Nil /\ r.incarnation = m.incarnation /\ r.epoch = m.epoch]_messages

(* A process keeps its epoch as long as it runs, and moves only along the    *)
(* states of its lifecycle.                                                  *)
(* Source: KIP-631; Kafka, BrokerLifecycleManager. Broken by: a process that *)
(* drops a stale epoch and registers again; a broker that stops unasked.     *)
EpochHeldForLifeProp ==
  [][\A i \in Incarnation :
       (broker_epoch[i] # NoEpoch /\ Live(i)') => broker_epoch'[i] = broker_epoch[i]]_broker_epoch
StatusMoves ==
  {<<"NOT_RUNNING", "STARTING">>, <<"STARTING", "RECOVERY">>, <<"RECOVERY", "RUNNING">>,
   <<"RUNNING", "PENDING_CONTROLLED_SHUTDOWN">>,
   <<"PENDING_CONTROLLED_SHUTDOWN", "SHUTTING_DOWN">>} \cup
  {<<from, "CRASHED">> : from \in {"STARTING", "RECOVERY", "RUNNING", "PENDING_CONTROLLED_SHUTDOWN"}}
StatusMovesProp ==
  [][\A i \in Incarnation :
       status'[i] # status[i] => <<status[i], status'[i]>> \in StatusMoves]_status

(* No two processes hold the same broker epoch.                              *)
(* Source: KIP-631. Broken by: answering a registration when it is written.  *)
(* If the batch is lost, another process gets its offset.                    *)
EpochUniqueInv ==
  /\ \A i, j \in Incarnation :
       (i # j /\ broker_epoch[i] # NoEpoch) => broker_epoch[i] # broker_epoch[j]
  /\ \A image \in CommittedImages : \A a, b \in Broker :
       (a # b /\ Registered(image, a) /\ Registered(image, b)) =>
         image.registrations[a].epoch # image.registrations[b].epoch

(* A broker epoch is an offset of the log, at or before the offset of the    *)
(* registration's last record. A process that holds the registered epoch is  *)
(* the registered incarnation.                                               *)
(* Source: KIP-631. Broken by: taking an epoch from what is committed and    *)
(* not from what is written.                                                 *)
EpochMatchesLogOffsetInv ==
  \A image \in CommittedImages : \A b \in Broker :
    LET r == image.registrations[b] IN
    r # Nil =>
      /\ r.epoch <= r.record_offset
      /\ r.record_offset < image.end
      /\ \A i \in Incarnation :
           (BrokerOf[i] = b /\ broker_epoch[i] = r.epoch) => r.incarnation = i

(* The same for each commit: a new epoch lies in the batch that is           *)
(* committed, after all that was committed before.                           *)
EpochIsNewOffsetProp ==
  [][\A b \in Broker :
       LET old == committed.registrations[b] new == committed'.registrations[b] IN
       (new # Nil /\ (old = Nil \/ (old # Nil /\ old.epoch # new.epoch))) =>
         /\ new.epoch >= committed.end
         /\ new.epoch <= new.record_offset
         /\ new.fenced]_committed

(* A broker is unfenced only after its process has replayed the last record  *)
(* of its registration, which is therefore committed.                        *)
(* Source: KAFKA-13959. Broken by: unfencing at once. A repeated             *)
(* registration may be written and not yet committed.                        *)
UnfencedSawCommittedRegistrationProp ==
  [][\A c \in active \cap active' : \A b \in Broker :
       LET old == written[c].registrations[b] new == written'[c].registrations[b] IN
       (old # Nil /\ new # Nil /\ old.fenced /\ ~new.fenced) =>
         old.record_offset < committed.end]_written

(* Each broker that is unfenced in the image of an active controller has a   *)
(* session at that controller.                                               *)
(* Source: Kafka, BrokerHeartbeatManager. Broken by: a claim that begins no  *)
(* sessions (KAFKA-18138).                                                   *)
UnfencedHasSessionInv ==
  \A c \in active : \A b \in Broker :
    (Registered(written[c], b) /\ ~written[c].registrations[b].fenced) =>
      contact_age[c][b] # NoAge

(* An active controller remembers a controlled shutdown only of a broker     *)
(* that it has written as shutting down, unfenced, and leading nothing.      *)
(* Source: Kafka, BrokerHeartbeatManager.touch. Broken by: fencing a broker  *)
(* without forgetting its controlled shutdown.                               *)
ShuttingDownIsUnfencedInv ==
  \A c \in active : \A b \in Broker :
    controlled_shutdown_offset[c][b] # NoOffset =>
      /\ Registered(written[c], b)
      /\ ~written[c].registrations[b].fenced
      /\ written[c].registrations[b].in_controlled_shutdown
      /\ written[c].partition.leader # b

(* The lease outlives a failover: a new controller gives each broker that is *)
(* unfenced in the committed log a whole session, and writes nothing else    *)
(* with its claim. So only a controller that a broker was silent to fences   *)
(* it for its silence.                                                       *)
(* Source: Kafka, ClusterControlManager.activate. Broken by: a claim that    *)
(* treats sessions as over; a claim that fences the brokers that were silent *)
(* to the former leader.                                                     *)
LeaseOutlivesFailoverProp ==
  [][\A c \in active' \ active :
       /\ written'[c] = committed'
       /\ \A b \in Broker :
            (Registered(committed', b) /\ ~committed'.registrations[b].fenced) =>
              contact_age'[c][b] = Fresh]_active

(* Between two claims, a controller fences a broker only when its session    *)
(* there is over, or because of a heartbeat of the epoch that the controller *)
(* has written. The heartbeat asks for it or to shut down, or its broker is  *)
(* shutting down. (A new incarnation replaces a registration; that does not  *)
(* count.)                                                                   *)
(* Source: Kafka, ReplicationControlManager.maybeFenceOneStaleBroker. Broken *)
(* by: fencing for what another controller remembers.                        *)
FencedOnlyWhenDueProp ==
  [][\A c \in active \cap active' : \A b \in Broker :
       LET old == written[c].registrations[b] new == written'[c].registrations[b] IN
       (old # Nil /\ new # Nil /\ old.incarnation = new.incarnation
         /\ ~old.fenced /\ new.fenced) =>
         \/ contact_age[c][b] = Overdue
         \/ \E m \in Gone :
              /\ m.type = "HeartbeatRequest"
              /\ BrokerOf[m.incarnation] = b
              /\ m.epoch = old.epoch
              /\ \/ m.want_fence
                 \/ m.want_shut_down
                 \/ controlled_shutdown_offset[c][b] # NoOffset]_written

(* As long as its session is valid at a controller, that controller lets no  *)
(* other incarnation displace the one it has written, fenced or not, and     *)
(* committed or not. An incarnation that registers again keeps its epoch.    *)
(* Source: KIP-631; KAFKA-17793, KAFKA-16952. Broken by: looking at the      *)
(* committed registration, which may be older.                               *)
SessionProtectsProp ==
  [][\A c \in active \cap active' : \A b \in Broker :
       LET old == written[c].registrations[b] new == written'[c].registrations[b] IN
       (old # Nil /\ new # Nil /\ old # new) =>
         IF old.incarnation = new.incarnation THEN new.epoch = old.epoch
         ELSE contact_age[c][b] # Fresh]_written

(* A heartbeat that is accepted and causes records is contact, whatever they *)
(* say of the broker.                                                        *)
(* Source: Kafka, BrokerHeartbeatManager.touch. Broken by: ending the        *)
(* session of a broker that gets permission to stop.                         *)
HeartbeatIsContactProp ==
  [][\A c \in active \cap active' :
       LET reply == tail'[c][Len(tail'[c])].reply IN
       (/\ Len(tail'[c]) > Len(tail[c])
        /\ reply # Nil
        /\ reply.type = "HeartbeatResponse"
        /\ reply.error = "NONE") =>
         contact_age'[c][BrokerOf[reply.incarnation]] = Fresh]_tail

(* Only a heartbeat of the epoch that a controller has written renews a      *)
(* session at that controller, and only its own broker's. (A claim begins    *)
(* all sessions.)                                                            *)
(* Source: Kafka, ClusterControlManager.trackBrokerHeartbeat and             *)
(* BrokerHeartbeatTracker.updateContactTime, by broker id and epoch. Broken  *)
(* by: counting a stale heartbeat as contact, or one broker's heartbeat for  *)
(* another.                                                                  *)
SessionRenewedByHeartbeatProp ==
  [][\A c \in active \cap active' : \A b \in Broker :
       (contact_age'[c][b] = Fresh /\ contact_age[c][b] # Fresh) =>
         \E m \in Gone :
           /\ m.type = "HeartbeatRequest"
           /\ BrokerOf[m.incarnation] = b
           /\ Registered(written[c], b)
           /\ m.epoch = written[c].registrations[b].epoch]_contact_age

(* The answers that controllers decide on in this step, and give now or at   *)
(* the commit.                                                               *)
DecidedAnswers ==
  IF tail' = tail THEN InFlight(messages') \ InFlight(messages)
  ELSE {tail'[c][Len(tail'[c])].reply :
          c \in {d \in active : Len(tail'[d]) > Len(tail[d])}} \ {Nil}
Decides(c) == IF tail' = tail THEN tail[c] = << >> ELSE tail'[c] # tail[c]

(* A broker is told that it is caught up if and only if the offset that it   *)
(* reported has reached the newest record of its registration, as the        *)
(* controller has written it.                                                *)
(* Source: Kafka, ReplicationControlManager.processBrokerHeartbeat and       *)
(* ClusterControlManager.registerBrokerRecordOffset (KAFKA-13959). Broken    *)
(* by: comparing with the first record of the registration, or with the      *)
(* newest that is committed.                                                 *)
CaughtUpByWrittenProp ==
  [][\A answer \in DecidedAnswers :
       (answer.type = "HeartbeatResponse" /\ answer.error = "NONE") =>
         \E m \in Gone, c \in active :
           /\ Decides(c)
           /\ m.type = "HeartbeatRequest"
           /\ m.incarnation = answer.incarnation
           /\ LET r == written[c].registrations[BrokerOf[m.incarnation]] IN
                /\ r # Nil
                /\ r.epoch = m.epoch
                /\ answer.is_caught_up =
                     (m.metadata_offset >= r.record_offset)]_<<messages, tail>>

(* Controller c grants request m: it changes the partition for it, or        *)
(* answers so now or at the commit. There is no answer if the sender waits   *)
(* no more.                                                                  *)
Granted(c, m) ==
  \/ written'[c].partition # written[c].partition
  \/ \E error \in {"NONE", "NEW_LEADER_ELECTED"} :
       LET response == AlterPartitionReply(m, error) IN
       \/ response \in InFlight(messages') \ InFlight(messages) /\ tail'[c] = tail[c]
       \/ Len(tail'[c]) > Len(tail[c]) /\ tail'[c][Len(tail'[c])].reply = response

(* AlterPartition is granted only to the registered process of the leader,   *)
(* and for the partition as the controller has written it. What is           *)
(* committed, or what another controller has, does not matter. Nor does it   *)
(* matter whether the sender still waits for the answer.                     *)
(* Source: KIP-497, KIP-631. Broken by: judging by what is committed;        *)
(* judging only the requests that are answered.                              *)
AlterPartitionUsesCurrentEpochProp ==
  [][\A m \in Gone, c \in active \cap active' :
       (m.type = "AlterPartitionRequest" /\ Granted(c, m)) =>
         LET r == written[c].registrations[m.broker] IN
         /\ r # Nil
         /\ r.epoch = m.epoch
         /\ r.incarnation = m.incarnation
         /\ written[c].partition.leader = m.broker
         /\ written[c].partition.leader_epoch = m.leader_epoch
         /\ written[c].partition.partition_epoch = m.partition_epoch]_<<messages, tail>>

(* A request names what its sender has replayed. (Kafka's AlterPartition may *)
(* name what the last answer told.) AlterPartition names the epochs of the   *)
(* partition and of the members, so the controller can tell whether the      *)
(* sender knows what it decides about. A heartbeat names the last offset.    *)
(* Both name the broker epoch that the sender's registration returned,       *)
(* whatever it has replayed about its id since.                              *)
(* Source: KIP-497, KIP-903, KIP-631. Broken by: naming the newest epochs    *)
(* for an ISR that was chosen by older metadata; naming the next offset;     *)
(* naming the broker epoch of the process that took over the id.             *)
AskedByReplayedProp ==
  [][\A m \in InFlight(messages') \ InFlight(messages) :
       LET image == applied[m.incarnation] IN
       /\ (m.type = "AlterPartitionRequest" /\ m.awaited) =>
            /\ m.leader_epoch = image.partition.leader_epoch
            /\ m.partition_epoch = image.partition.partition_epoch
            /\ \A b \in DOMAIN m.isr :
                 m.isr[b] = IF Registered(image, b) THEN image.registrations[b].epoch
                            ELSE NoEpoch
       /\ (m.type = "HeartbeatRequest" /\ m.awaited) =>
            m.metadata_offset + 1 = IF image = Nil THEN 0 ELSE image.end
       /\ (m.type \in {"AlterPartitionRequest", "HeartbeatRequest"} /\ m.awaited) =>
            m.epoch = broker_epoch[m.incarnation]]_messages

(* An answer to AlterPartition belongs to a batch that is committed in this  *)
(* step, or is given while nothing waits to be committed. Then it refuses    *)
(* the request, or grants an ISR that is there already.                      *)
(* Source: KIP-497, KIP-631. Broken by: answering when the batch is written; *)
(* granting without writing.                                                 *)
AlterPartitionAnsweredInTurnProp ==
  [][\A m \in InFlight(messages') \ InFlight(messages) :
       m.type = "AlterPartitionResponse" =>
         \E c \in active :
           \/ /\ stable'[c].end > stable[c].end
              /\ \E count \in DOMAIN tail[c] :
                   /\ tail'[c] = SubSeq(tail[c], count + 1, Len(tail[c]))
                   /\ \E k \in 1 .. count : tail[c][k].reply = m
           \/ /\ tail' = tail /\ tail[c] = << >>
              /\ \E request \in Gone :
                   /\ request.type = "AlterPartitionRequest"
                   /\ request.incarnation = m.incarnation
                   /\ m.error = AlterPartitionError(c, request)
                   /\ m.error = "NONE" =>
                        DOMAIN request.isr = written[c].partition.isr]_messages

(* AlterPartition is granted only for an ISR of active brokers, each under   *)
(* the epoch that it is registered with.                                     *)
(* Source: KIP-903. Broken by: not checking the members' epochs.             *)
IsrJoinsByCurrentEpochProp ==
  [][\A m \in Gone, c \in active \cap active' :
       (m.type = "AlterPartitionRequest" /\ Granted(c, m)) =>
         \A b \in DOMAIN m.isr :
           /\ ActiveIn(written[c], b)
           /\ m.isr[b] = written[c].registrations[b].epoch]_<<messages, tail>>

(* A new leader comes from the ISR that was written before. Or it comes from *)
(* the ISR that the former leader asked for, if that completes a             *)
(* reassignment. The log commits in order, so no election loses committed    *)
(* data.                                                                     *)
(* Source: KIP-631, clean elections. Broken by: electing any active replica. *)
LeaderFromIsrProp ==
  [][\A c \in active \cap active' :
       LET old == written[c].partition new == written'[c].partition IN
       (new.leader # old.leader /\ new.leader # NoLeader) =>
         /\ new.leader \in new.isr
         /\ \/ new.leader \in old.isr
            \/ /\ old.leader # NoLeader
               /\ Partitions!InProgress(old) /\ ~Partitions!InProgress(new)
               /\ \E m \in Gone :
                    /\ m.type = "AlterPartitionRequest"
                    /\ m.broker = old.leader
                    /\ new.leader \in DOMAIN m.isr]_written

(* Two brokers may both believe that they lead the partition, but never      *)
(* under one leader epoch. That protects the data.                           *)
(* Source: KIP-631, leader epochs. Broken by: a new leader under the old     *)
(* epoch.                                                                    *)
LeaderEpochTellsApartInv ==
  \A i, j \in Incarnation :
    (/\ BrokerOf[i] # BrokerOf[j]
     /\ TakesItselfForLeader(i)
     /\ TakesItselfForLeader(j)) =>
      applied[i].partition.leader_epoch # applied[j].partition.leader_epoch

(* This does not hold for two processes of one broker id, and stays here to  *)
(* show that: see broken/cluster/TwoOfOneId.cfg. The leader epoch does not   *)
(* tell them apart, since the log names a leader by its id. The broker epoch *)
(* does.                                                                     *)
OneLeaderPerEpochInv ==
  \A i, j \in Incarnation :
    (i # j /\ TakesItselfForLeader(i) /\ TakesItselfForLeader(j)) =>
      applied[i].partition.leader_epoch # applied[j].partition.leader_epoch

(* No two processes believe at once that they lead. This does not hold for   *)
(* Kafka, and stays here to show that: see broken/cluster/TwoLeaders.cfg.    *)
OneLeaderInv ==
  \A i, j \in Incarnation : (TakesItselfForLeader(i) /\ TakesItselfForLeader(j)) => i = j

(* The ISR never loses its last member.                                      *)
(* Source: Kafka without ELR. Broken by: an empty ISR.                       *)
IsrNotEmptyInv == \A image \in CommittedImages : image.partition.isr # {}

(* A process that stops with permission is fenced, and no active broker      *)
(* believes any more that it leads.                                          *)
(* Source: KIP-631, controlled shutdown; KAFKA-14292. It holds without a     *)
(* failover, and for brokers that were not fenced for silence before: see    *)
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

(* No image below the gate level has a registration of a controller.         *)
(* Source: KIP-919. Broken by: judging the gate by a level that is lost.     *)
RegistrationGatedByMvInv ==
  \A image \in CommittedImages \cup ({written[c] : c \in Controller} \ {Nil}) :
    (\E c \in Controller : image.controllers[c] # Nil) => image.metadata_version >= GateLevel

(* A level is committed only if every controller but its writer, the leader  *)
(* until then, has registered support for it in the log before it. One       *)
(* election may commit several batches of that leader's tail; the last       *)
(* record is then the new leader's own.                                      *)
(* Source: KIP-919, Fix compatibility gates; Kafka,                          *)
(* FeatureControlManager.reasonNotSupported. Broken by: judging an upgrade   *)
(* by a registration that is lost; asking the writer alone.                  *)
UpgradeSupportedByCommittedProp ==
  [][LET After(count) == ReplayBatch(committed, RecordsOf(SubSeq(tail[leader], 1, count)))
         last == committed'.end - (IF leader' = leader THEN 0 ELSE 1)
     IN  \A k \in DOMAIN tail[leader] :
           LET before == After(k - 1)
               after  == After(k)
           IN
           (/\ after.end <= last
            /\ after.metadata_version # before.metadata_version
            /\ before.metadata_version >= GateLevel) =>
             \A other \in Controller \ {leader} :
               /\ before.controllers[other] # Nil
               /\ after.metadata_version \in before.controllers[other].supported]_committed
------------------------------------------------------------------------------
(* Eventually. Under the fairness of MCClusterLive, once the faults are over *)

(* The broker of process i leads, both by its own view and by the log, and i *)
(* is the registered process.                                                *)
Serves(i) ==
  /\ status[i] = "RUNNING"
  /\ TakesItselfForLeader(i)
  /\ committed.partition.leader = BrokerOf[i]
  /\ committed.registrations[BrokerOf[i]].epoch = broker_epoch[i]

(* If a process of an in-sync replica keeps running, the partition is        *)
(* eventually served, whatever was lost with the former controller.          *)
(* Source: KIP-500, failover. Broken by: a claim that begins no sessions, so *)
(* that a dead leader is never fenced; a process that waits forever for the  *)
(* answer of a controller that is gone.                                      *)
SomeInSyncReplicaRuns ==
  \E i \in Incarnation :
    /\ status[i] = "RUNNING"
    /\ BrokerOf[i] \in committed.partition.isr
    /\ Registered(committed, BrokerOf[i])
    /\ committed.registrations[BrokerOf[i]].epoch = broker_epoch[i]
ServesAgainLive ==
  (SomeInSyncReplicaRuns ~> (~SomeInSyncReplicaRuns \/ \E i \in Incarnation : Serves(i)))

(* The partition has no leader only if no member of its ISR is active.       *)
(* Source: Kafka, PartitionChangeBuilder.electLeader. Broken by: electing    *)
(* with the committed brokers.                                               *)
LeaderlessForAReasonInv ==
  \A image \in CommittedImages \cup ({written[c] : c \in Controller} \ {Nil}) :
    image.partition.leader = NoLeader => image.partition.isr \cap ActiveBrokers(image) = {}

(* A controlled shutdown waits until the other brokers have replayed the     *)
(* last record written when it began. They need not replay a later one.      *)
(* Source: KAFKA-14292. Broken by: awaiting the end of the log.              *)
ShutdownOffsetIsLastProp ==
  [][\A c \in active \cap active', b \in Broker :
       (controlled_shutdown_offset'[c][b] \notin {NoOffset, controlled_shutdown_offset[c][b]}) =>
         controlled_shutdown_offset'[c][b] = written'[c].end - 1]_controlled_shutdown_offset

------------------------------------------------------------------------------
(* Witnesses: states that must be possible                                   *)

(* Two controllers believe that they are active, and both have written       *)
(* batches that are not committed.                                           *)
TwoActivesReach ==
  \E c, d \in active : c # d /\ tail[c] # << >> /\ tail[d] # << >>

(* A deposed controller has fenced a broker that is not fenced. What it      *)
(* wrote is lost.                                                            *)
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

(* The next leader committed what this leader had written, and this leader   *)
(* does not know it. The process that asked for it got no answer, but its    *)
(* request took effect.                                                      *)
SurvivedFailOverReach ==
  \E c \in active \ {leader} :
    /\ stable[c].registrations # written[c].registrations
    /\ committed.registrations = written[c].registrations

(* The leader of a partition was told that its broker epoch is stale. *)
StaleAlterPartitionRefusedReach ==
  \E m \in InFlight(messages) :
    m.type = "AlterPartitionResponse" /\ m.error = "STALE_BROKER_EPOCH"

(* A request was refused because of a record that is not committed yet. So   *)
(* the answer waits.                                                         *)
RefusedByUncommittedReach ==
  \E c \in active : \E k \in DOMAIN tail[c] :
    /\ k > 1
    /\ tail[c][k].reply # Nil
    /\ tail[c][k].records = << >>
    /\ tail[c][k].reply.type = "AlterPartitionResponse"
    /\ tail[c][k].reply.error # "NONE"

(* The reassignment is complete: the replicas differ from the initial ones. *)
ReassignedReach ==
  /\ ~Partitions!InProgress(committed.partition)
  /\ Partitions!Members(committed.partition.replicas) # Partitions!Members(Replicas)

(* The reassignment is complete under a controller that was elected.         *)
(* (Candidates: the models that check this elect only controllers that do    *)
(* not lead at first.)                                                       *)
ReassignedAfterFailOverReach == ReassignedReach /\ leader \in Candidates

(* A process stopped with permission after a controlled shutdown. *)
StoppedWithLeaveReach ==
  \E i \in Incarnation :
    /\ status[i] = "SHUTTING_DOWN"
    /\ Registered(committed, BrokerOf[i])
    /\ committed.registrations[BrokerOf[i]].in_controlled_shutdown
    /\ committed.registrations[BrokerOf[i]].fenced

(* A broker that started has been unfenced, and leads. *)
StartedAndLeadsReach ==
  \E i \in Incarnation : Serves(i) /\ committed.registrations[BrokerOf[i]].record_offset > 0

(* A registration was lost with its controller. The next registration in the *)
(* log has the epoch that the lost one would have had, or a later epoch.     *)
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
