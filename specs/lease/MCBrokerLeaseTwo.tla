--------------------------- MODULE MCBrokerLeaseTwo ---------------------------
(***************************************************************************)
(* BrokerLease within bounds, from a state in which two brokers run.       *)
(***************************************************************************)
EXTENDS MCBrokerLease

NothingLate == NoMessages
LateRegistration ==
  [type |-> "RegistrationRequest", incarnation |-> p1, awaited |-> FALSE] :> 1
LateHeartbeat ==
  [type |-> "HeartbeatRequest", incarnation |-> p1, awaited |-> FALSE, epoch |-> 0,
   metadata_offset |-> 3, want_fence |-> TRUE, want_shut_down |-> FALSE] :> 1

(* Both brokers run, unfenced, and some lead. The models of one broker cover *)
(* the steps before that.                                                    *)
Both(broker_state, leading) ==
  LET epoch == [i \in Incarnation |-> IF BrokerOf[i] = b1 THEN 0 ELSE 1] IN
  /\ registrations = [b \in Broker |->
       LET i == CHOOSE i \in Incarnation : BrokerOf[i] = b IN
       [incarnation |-> i, epoch |-> epoch[i], record_offset |-> epoch[i],
        fenced |-> FALSE, in_controlled_shutdown |-> FALSE]]
  /\ log_end = 4
  /\ leads = leading
  /\ contact_age = [b \in Broker |-> 0]
  /\ metadata_offset = [b \in Broker |-> NoOffset]
  /\ controlled_shutdown_offset = [b \in Broker |-> NoOffset]
  /\ status = [i \in Incarnation |-> broker_state]
  /\ broker_epoch = epoch
  /\ applied_offset = [i \in Incarnation |-> 3]
  /\ request_age = [i \in Incarnation |-> NoAge]
  /\ lease_age = [i \in Incarnation |-> NoAge]
  /\ clock_lead = [i \in Incarnation |-> 0]
  /\ messages = NothingLate

BothRunning == Both("RUNNING", {})
BothStopping == Both("PENDING_CONTROLLED_SHUTDOWN", Broker)
==============================================================================
