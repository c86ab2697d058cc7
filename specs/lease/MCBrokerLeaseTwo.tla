--------------------------- MODULE MCBrokerLeaseTwo ---------------------------
(***************************************************************************)
(* Two brokers that run, within bounds, and a history variable: the offset *)
(* of the record that began each broker's controlled shutdown. It is what  *)
(* the controller should remember; a new controller does not.              *)
(***************************************************************************)
EXTENDS MCBrokerLease

VARIABLE shutdown_record   \* [Broker -> offset]: history, not part of the protocol.

(* Both brokers run, unfenced, before anything was elected: what lies before *)
(* is looked at in the models of one broker.                                 *)
BothRunning ==
  LET epoch == [i \in Incarnation |-> IF BrokerOf[i] = b1 THEN 0 ELSE 1] IN
  /\ registrations = [b \in Broker |->
       LET i == CHOOSE i \in Incarnation : BrokerOf[i] = b IN
       [incarnation |-> i, epoch |-> epoch[i], record_offset |-> epoch[i],
        fenced |-> FALSE, in_controlled_shutdown |-> FALSE]]
  /\ log_end = 4
  /\ leads = {}
  /\ contact_age = [b \in Broker |-> 0]
  /\ metadata_offset = [b \in Broker |-> NoOffset]
  /\ controlled_shutdown_offset = [b \in Broker |-> NoOffset]
  /\ status = [i \in Incarnation |-> "RUNNING"]
  /\ broker_epoch = epoch
  /\ applied_offset = [i \in Incarnation |-> 3]
  /\ request_age = [i \in Incarnation |-> NoAge]
  /\ lease_age = [i \in Incarnation |-> NoAge]
  /\ clock_lead = [i \in Incarnation |-> 0]
  /\ messages = NoMessages

InControlledShutdown(b) == Registered(b) /\ registrations[b].in_controlled_shutdown

HistoryInit == BothRunning /\ shutdown_record = [b \in Broker |-> NoOffset]
HistoryNext ==
  /\ Next
  /\ shutdown_record' = [b \in Broker |->
       IF InControlledShutdown(b)' /\ ~InControlledShutdown(b) THEN log_end
       ELSE shutdown_record[b]]
HistorySpec == HistoryInit /\ [][HistoryNext]_<<vars, shutdown_record>>

(* A broker that began a controlled shutdown, and was not fenced since, gets *)
(* leave only when every process of an active broker has replayed the record *)
(* that began it, and so knows who leads now.                                *)
(* Source: Kafka, BrokerHeartbeatManager.calculateNextBrokerState.           *)
(* False after a failover or an amended registration, which lose the offset: *)
(* see broken/ForgottenShutdown.cfg and broken/AmendedShutdown.cfg.          *)
ShutdownSeenByOthersProp ==
  [][\A i \in Incarnation :
       (/\ LeaveGiven(i)
        /\ InControlledShutdown(BrokerOf[i])
        /\ ~registrations[BrokerOf[i]].fenced) =>
         \A j \in Incarnation :
           ActiveProcess(j) /\ BrokerOf[j] # BrokerOf[i] =>
             applied_offset[j] >= shutdown_record[BrokerOf[i]]]_vars
==============================================================================
