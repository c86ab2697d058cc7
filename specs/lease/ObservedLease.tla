---------------------------- MODULE ObservedLease ----------------------------
(***************************************************************************)
(* BrokerLease as the logs of a Kafka cluster show it. Each action below   *)
(* stands for one sentence of a server log or one record of the metadata   *)
(* log: a step of BrokerLease of which a part was written down. The steps  *)
(* that leave no trace (heartbeats, replay, time, loss) are steps of       *)
(* BrokerLease in between.                                                 *)
(*                                                                         *)
(* Saw...: a broker logged what it did or was told. Wrote...: the active   *)
(* controller wrote a record. Says...: the controller's server log adds    *)
(* something to that record.                                               *)
(*                                                                         *)
(* Epochs and offsets are ranks: the record of the n-th operation on the   *)
(* lease has rank n, since BrokerLease counts only such operations. A      *)
(* number in a log that belongs to no such operation has no rank, and is   *)
(* given as a number that is no rank.                                      *)
(***************************************************************************)
EXTENDS BrokerLeaseProperties

------------------------------------------------------------------------------
(* What a broker writes.  Kafka: BrokerLifecycleManager.                     *)

AnswersTo(i) == {m \in InFlight(messages) : m.incarnation = i /\ ~IsRequest(m)}

(* "Incarnation i of broker b in cluster c is now STARTING."                 *)
SawStarting(i, b) ==
  /\ BrokerOf[i] = b
  /\ StartBroker(i)

(* "Successfully registered broker b with broker epoch e" Kafka's process    *)
(* may ask again for the epoch that it holds. Here it does not ask, so there *)
(* is no such answer, but it would not be a wrong one.                       *)
SawRegistered(i, epoch) ==
  /\ Live(i)
  /\ broker_epoch[i] \in {NoEpoch, epoch}
  /\ \E m \in AnswersTo(i) :
       /\ m.type = "RegistrationResponse"
       /\ m.error = "NONE"
       /\ m.epoch = epoch
       /\ HandleRegistrationResponse(m)

(* "Unable to register broker b because the controller returned error ..."   *)
SawRefused(i) ==
  /\ Live(i)
  /\ broker_epoch[i] = NoEpoch
  /\ \E m \in AnswersTo(i) :
       /\ m.type = "RegistrationResponse"
       /\ m.error = "DUPLICATE_BROKER_REGISTRATION"
       /\ HandleRegistrationResponse(m)

(* The answer to a heartbeat, and the broker's state after it. In the log:   *)
(* "The broker has caught up. Transitioning from STARTING to RECOVERY."      *)
(* "The broker is in RECOVERY."                                              *)
(* "The broker has been unfenced. Transitioning from RECOVERY to RUNNING."   *)
(* "The broker is in PENDING_CONTROLLED_SHUTDOWN state, still waiting ..."   *)
(* "The controller has asked us to exit controlled shutdown."                *)
SawAnswer(i, before, after) ==
  /\ status[i] = before
  /\ \E m \in AnswersTo(i) :
       /\ m.type = "HeartbeatResponse"
       /\ m.error = "NONE"
       /\ StatusAfter(before, m) = after
       /\ HandleHeartbeatResponse(m)

(* "Broker b sent a heartbeat request but received error STALE_BROKER_EPOCH" *)
SawStaleEpoch(i) ==
  \E m \in AnswersTo(i) :
    /\ m.type = "HeartbeatResponse"
    /\ m.error = "STALE_BROKER_EPOCH"
    /\ HandleHeartbeatResponse(m)

(* "Beginning controlled shutdown."                                          *)
SawShutdownAsked(i) ==
  /\ status[i] = "RUNNING"
  /\ RequestShutdown(i)

(* "Transitioning from ... to SHUTTING_DOWN.": the process has permission,   *)
(* or it stops before it runs, or it stops without permission.               *)
SawStopping(i, before) ==
  \/ /\ before = "PENDING_CONTROLLED_SHUTDOWN"
     /\ status[i] = "SHUTTING_DOWN"
     /\ UNCHANGED vars
  \/ /\ before \in {"STARTING", "RECOVERY"}
     /\ status[i] = before
     /\ RequestShutdown(i)
  \/ /\ before \in {"RUNNING", "PENDING_CONTROLLED_SHUTDOWN"}
     /\ status[i] = before
     /\ Crash(i)
------------------------------------------------------------------------------
(* What the active controller writes.                                        *)

RequestsOf(b) == {m \in InFlight(messages) : IsRequest(m) /\ BrokerOf[m.incarnation] = b}

(* A record names the registration that it changes. *)
Names(b, epoch) ==
  /\ Registered(b)
  /\ registrations[b].epoch = epoch

(* A message of a process may arrive after its end, but not before its     *)
(* start.                                                                  *)
HasStarted(i) == status[i] # "NOT_RUNNING"

(* RegisterBrokerRecord of a new incarnation. *)
WroteRegistration(b, i, epoch) ==
  /\ BrokerOf[i] = b
  /\ epoch = log_end
  /\ HasStarted(i)
  /\ \E m \in RequestsOf(b) : m.incarnation = i /\ RegisterBroker(m)

(* RegisterBrokerRecord of the registered incarnation. *)
WroteAmendment(b, i, epoch) ==
  /\ Names(b, epoch)
  /\ HasStarted(i)
  /\ \E m \in RequestsOf(b) : m.incarnation = i /\ AmendRegistration(m)

(* BrokerRegistrationChangeRecord that unfences a broker. *)
WroteUnfence(b, epoch) ==
  /\ Names(b, epoch)
  /\ \E m \in RequestsOf(b) : UnfenceBroker(m)

(* BrokerRegistrationChangeRecord that fences a broker, for one of three     *)
(* reasons.                                                                  *)
WroteFenceOfSilent(b, epoch) ==
  /\ Names(b, epoch)
  /\ FenceStaleBroker(b)

WroteLeave(b, epoch) ==
  /\ Names(b, epoch)
  /\ \E m \in RequestsOf(b) : ShutDownNow(m)

WroteFenceAsked(b, epoch) ==
  /\ Names(b, epoch)
  /\ \E m \in RequestsOf(b) : FenceOnRequest(m)

(* BrokerRegistrationChangeRecord with inControlledShutdown. *)
WroteShutdownBegun(b, epoch) ==
  /\ Names(b, epoch)
  /\ \E m \in RequestsOf(b) : BeginControlledShutdown(m)

(* UnregisterBrokerRecord. *)
WroteUnregistration(b, epoch) ==
  /\ Names(b, epoch)
  /\ UnregisterBroker(b)

(* LeaderChange: the controller that it names becomes active. *)
WroteLeaderChange == FailOver
------------------------------------------------------------------------------
(* What the controller's server log adds: just before the record, or for a   *)
(* registration just after it.                                               *)

(* "... New incarnation ID is i ... New broker epoch is e."                  *)
SaysRegistered(b, i, epoch) ==
  /\ Names(b, epoch)
  /\ registrations[b].incarnation = i
  /\ UNCHANGED vars

(* "... has caught up with the offset of its register broker record r."      *)
SaysUnfence(b, record_offset) ==
  /\ Registered(b)
  /\ registrations[b].record_offset = record_offset
  /\ UNCHANGED vars

(* "Fencing broker b at epoch e because its session has timed out."          *)
SaysSilent(b, epoch) ==
  /\ Names(b, epoch)
  /\ UNCHANGED vars

(* "... is now greater than the broker's controlled shutdown offset o."      *)
SaysLeave(b, offset) ==
  /\ Registered(b)
  /\ controlled_shutdown_offset[b] = offset
  /\ UNCHANGED vars
==============================================================================
