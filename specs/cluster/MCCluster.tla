------------------------------- MODULE MCCluster -------------------------------
(***************************************************************************)
(* Cluster within bounds: two controllers, two brokers, one partition.     *)
(* MaxEnd bounds the records of any image, MaxTail the batches that wait   *)
(* for their commit, MaxInFlight the messages in flight at once.           *)
(*                                                                         *)
(* A model replaces operators of Cluster by those below, to leave out what *)
(* another model covers. models.toml says what each model leaves out and   *)
(* why.                                                                    *)
(***************************************************************************)
EXTENDS ClusterProperties

CONSTANTS MaxEnd, MaxTail, MaxInFlight

ASSUME Bounded == MaxEnd \in Nat /\ MaxTail \in Nat \ {0} /\ MaxInFlight \in Nat \ {0}

CONSTANTS b1, b2, p1, p2, p3, k1, k2, q1, q2, q3

TwoBrokers == {b1, b2}
InOrder == <<b1, b2>>
OneProcess == {p1}
TwoProcesses == {p1, p2}
FirstProcesses == {p1, p3}
ThreeProcesses == {p1, p2, p3}
BrokerOfAll == [i \in Incarnation |-> IF i = p2 THEN b2 ELSE b1]
TwoControllers == {k1, k2}
TwoControllerProcesses == {q1, q2}
ThreeControllerProcesses == {q1, q2, q3}
ControllerOfAll == [i \in ControllerProcess |-> IF i = q1 THEN k1 ELSE k2]
RunningProcesses == [c \in Controller |-> IF c = k1 THEN q1 ELSE q2]
OneLevel == {2}
FromBelow == {1, 2, 3}
AllLevels == [i \in ControllerProcess |-> Level]
OtherIsOld == [i \in ControllerProcess |-> IF i = q2 THEN Level \ {3} ELSE Level]
BothReplicas == <<b1, b2>>
FirstReplica == <<b1>>
SecondOnly == {k2}
AtMostOne(count) == 0 .. IF count = 0 THEN 0 ELSE 1
ToOther == {<<b2>>}
------------------------------------------------------------------------------
(* Where models begin: the first controller leads, and all is committed.     *)

Begin(image, running) ==
  /\ committed = image
  /\ leader = k1
  /\ active = {k1}
  /\ stable = [c \in Controller |-> IF c = k1 THEN image ELSE Nil]
  /\ tail = [c \in Controller |-> << >>]
  /\ written = stable
  /\ contact_age = [c \in Controller |-> [b \in Broker |->
       IF c = k1 /\ ActiveIn(image, b) THEN Fresh ELSE NoAge]]
  /\ metadata_offset = [c \in Controller |-> NoOffsets]
  /\ controlled_shutdown_offset = [c \in Controller |-> NoOffsets]
  /\ status = [i \in Incarnation |->
       IF i \in running THEN "RUNNING"
       ELSE IF \E b \in Broker : Registered(image, b) /\ image.registrations[b].incarnation = i
       THEN "CRASHED" ELSE "NOT_RUNNING"]
  /\ broker_epoch = [i \in Incarnation |->
       IF i \in running THEN image.registrations[BrokerOf[i]].epoch ELSE NoEpoch]
  /\ applied = [i \in Incarnation |-> IF i \in running THEN image ELSE Nil]
  /\ waiting = [i \in Incarnation |-> FALSE]
  /\ messages = NoMessages

RegisteredAt(i, offset, fenced) ==
  [incarnation |-> i, epoch |-> offset, record_offset |-> offset, fenced |-> fenced,
   in_controlled_shutdown |-> FALSE]

(* Both brokers are registered. A replica whose broker is not fenced is in   *)
(* sync.                                                                     *)
BothRegistered(fenced) ==
  LET registrations == [b \in Broker |-> IF b = b1 THEN RegisteredAt(p1, 0, b \in fenced)
                                         ELSE RegisteredAt(p2, 1, b \in fenced)]
  IN  [EmptyImage EXCEPT
         !.registrations = registrations,
         !.partition = Partitions!NewPartition(Replicas, Broker \ fenced),
         !.end = 2]

BothRunning == Begin(BothRegistered({}), {p1, p2})

(* The process of the second broker died a moment ago. *)
SecondGone == Begin(BothRegistered({}), {p1})

(* The process of the first broker, which leads, died a moment ago. *)
FirstGone == Begin(BothRegistered({}), {p2})

(* The second broker is fenced, and its process runs. *)
SecondFenced == Begin(BothRegistered({b2}), {p1, p2})

(* The second broker is not in sync, and its process died a moment ago. The  *)
(* third process belongs to that broker.                                     *)
BrokerOfSecond == [i \in Incarnation |-> IF i = p1 THEN b1 ELSE b2]
SecondOutOfSync ==
  Begin([BothRegistered({}) EXCEPT !.partition = Partitions!NewPartition(Replicas, {b1})], {p1})

(* One broker, whose only process is registered and runs. The other broker   *)
(* never existed.                                                            *)
OneRunning ==
  Begin([EmptyImage EXCEPT !.registrations[b1] = RegisteredAt(p1, 0, FALSE), !.end = 1], {p1})

(* No broker ever existed. *)
NoneRunning == Begin(FirstImage, {})
------------------------------------------------------------------------------
(* Actions left out. TLC counts them under the name Never.                   *)
Never == \E nothing \in {} : FALSE
NoStart(i) == Never
NoRegistration(i) == Never
NoHeartbeat(i) == Never
NoAlterPartition(i, isr) == Never
NoTimeout(i) == Never
NoReplay(i) == Never
NoShutdown(i) == Never
NoCrash(i) == Never
NoSilence(c, silent) == Never
NoReassignment(c, target) == Never
NoCancel(c) == Never
NoControllerRegistration(c, i) == Never
NoUpgrade(c, level) == Never
NoElection(c, survivors) == Never
NoRenounce(c) == Never
NoLoss(m) == Never


RECURSIVE CopiesOf(_)
CopiesOf(set) ==
  IF set = {} THEN 0
  ELSE LET m == CHOOSE x \in set : TRUE IN messages[m] + CopiesOf(set \ {m})

Bounds ==
  /\ CopiesOf(InFlight(messages)) <= MaxInFlight
  /\ \A c \in active : written[c].end <= MaxEnd /\ Len(tail[c]) <= MaxTail
==============================================================================
