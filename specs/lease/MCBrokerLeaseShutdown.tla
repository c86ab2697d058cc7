------------------------ MODULE MCBrokerLeaseShutdown ------------------------
(***************************************************************************)
(* Two brokers that run, and a history variable: the offset of the record  *)
(* that began each broker's controlled shutdown. The controller should     *)
(* remember it; a new controller does not.                                 *)
(***************************************************************************)
EXTENDS MCBrokerLeaseTwo

VARIABLE shutdown_record   \* [Broker -> offset]: history, not part of the protocol.

InControlledShutdown(b) == Registered(b) /\ registrations[b].in_controlled_shutdown

HistoryInit == BothRunning /\ shutdown_record = [b \in Broker |-> NoOffset]
HistoryNext ==
  /\ Next
  /\ shutdown_record' = [b \in Broker |->
       IF InControlledShutdown(b)' /\ ~InControlledShutdown(b) THEN log_end
       ELSE shutdown_record[b]]
HistorySpec == HistoryInit /\ [][HistoryNext]_<<vars, shutdown_record>>

(* Process i runs, and is the registered process of an active broker. *)
ActiveProcess(i) ==
  /\ Live(i)
  /\ Active(BrokerOf[i])
  /\ registrations[BrokerOf[i]].epoch = broker_epoch[i]

(* A broker that began a controlled shutdown, and was not fenced since, gets *)
(* permission only when every process of an active broker has replayed the   *)
(* record that began it, and so knows the new leaders.                       *)
(* Source: Kafka, BrokerHeartbeatManager.calculateNextBrokerState. False     *)
(* after a failover or an amended registration, which lose the offset: see   *)
(* broken/lease/ForgottenShutdown.cfg and broken/lease/AmendedShutdown.cfg.  *)
ShutdownSeenByOthersProp ==
  [][\A i \in Incarnation :
       (/\ LeaveGiven(i)
        /\ InControlledShutdown(BrokerOf[i])
        /\ ~registrations[BrokerOf[i]].fenced) =>
         \A j \in Incarnation :
           ActiveProcess(j) /\ BrokerOf[j] # BrokerOf[i] =>
             applied_offset[j] >= shutdown_record[BrokerOf[i]]]_vars
==============================================================================
