------------------------ MODULE BrokerStatesRefinement ------------------------
(***************************************************************************)
(* BrokerLease => BrokerStates: the lease in KIP-500's four states.        *)
(*                                                                         *)
(*    NOT_RUNNING, SHUTTING_DOWN, CRASHED   Offline                        *)
(*    STARTING, RECOVERY                    Fenced                         *)
(*    RUNNING                               Online; Fenced while its lease *)
(*                                          is void                        *)
(*    PENDING_CONTROLLED_SHUTDOWN           Stopping                       *)
(*                                                                         *)
(* Clients are sent to the registered process, unless it is fenced.        *)
(* SHUTTING_DOWN is Offline: the process has finished with the protocol.   *)
(***************************************************************************)
EXTENDS BrokerLeaseProperties

BrokerStateOf(i) ==
  CASE ~Live(i)                                      -> "Offline"
    [] status[i] \in {"STARTING", "RECOVERY"}        -> "Fenced"
    [] status[i] = "RUNNING"                         -> IF Serving(i) THEN "Online" ELSE "Fenced"
    [] status[i] = "PENDING_CONTROLLED_SHUTDOWN"     -> "Stopping"

ShownOf(b) ==
  IF Registered(b) /\ ~registrations[b].fenced THEN registrations[b].incarnation ELSE Nil

(* Kafka as built: the state of the process and what clients are told follow *)
(* each other with a delay.                                                  *)
AsBuilt == INSTANCE BrokerStates WITH
  broker_state <- [i \in Incarnation |-> BrokerStateOf(i)],
  shown <- [b \in Broker |-> ShownOf(b)],
  OneView <- FALSE

(* KIP-500 as written: the two never disagree on which broker is Online.     *)
AsWritten == INSTANCE BrokerStates WITH
  broker_state <- [i \in Incarnation |-> BrokerStateOf(i)],
  shown <- [b \in Broker |-> ShownOf(b)],
  OneView <- TRUE

(* Every step of the lease is a step of KIP-500's broker, or none.           *)
(* Source: KIP-500, Broker States. Broken by: coming back from a shutdown.   *)
RefinesBrokerStatesProp == AsBuilt!Spec

(* With self-fencing, in time and in order, every step is also a step of the *)
(* broker as KIP-500 describes it.                                           *)
(* Source: KIP-500, Broker States, Fenced. Broken by: a broker that does not *)
(* fence itself; a lease counted from the answer.                            *)
RefinesKip500Prop == AsWritten!Spec

THEOREM Spec => AsBuilt!Spec
==============================================================================
