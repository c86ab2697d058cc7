---------------------------- MODULE WrongMappings -----------------------------
(***************************************************************************)
(* Mappings of the broker lease that look right and are not. Each model    *)
(* here replaces the right mapping by one of them and must fail. So a      *)
(* refinement that holds also says something about its mapping.            *)
(***************************************************************************)
EXTENDS MCBrokerLease, BrokerLeaseRefinement, BrokerStatesRefinement

(* "A broker without a valid session is fenced." A session ends with time,   *)
(* but fencing is a record: the log would change without one.                *)
ProjectedBySession(r) ==
  [incarnation |-> r.incarnation, epoch |-> r.epoch,
   fenced |-> r.fenced \/ ~HasValidSession(BrokerOf[r.incarnation]),
   in_controlled_shutdown |-> r.in_controlled_shutdown]

(* "A broker that is RUNNING is Online." With self-fencing that is true only *)
(* while its lease is fresh.                                                 *)
BrokerStateByStatus(i) ==
  CASE ~Live(i)                                  -> "Offline"
    [] status[i] \in {"STARTING", "RECOVERY"}    -> "Fenced"
    [] status[i] = "RUNNING"                     -> "Online"
    [] status[i] = "PENDING_CONTROLLED_SHUTDOWN" -> "Stopping"
==============================================================================
