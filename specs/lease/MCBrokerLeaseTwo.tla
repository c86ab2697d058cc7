--------------------------- MODULE MCBrokerLeaseTwo ---------------------------
(***************************************************************************)
(* BrokerLease within bounds, from a state in which two brokers run.       *)
(***************************************************************************)
EXTENDS MCBrokerLease

NothingLate == NoMessages
LateRegistration ==
  [type |-> "RegistrationRequest", incarnation |-> p1, awaited |-> FALSE] :> 1

(* Both brokers run, unfenced, before any election. The models of one broker *)
(* cover the steps before that.                                              *)
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
  /\ messages = NothingLate
==============================================================================
