---------------------------- MODULE WrongMappings -----------------------------
(***************************************************************************)
(* Mappings of the broker lease that look right and are not. A model here  *)
(* puts one of them in the place of the right one and must fail: so a      *)
(* refinement that holds says something about the mapping too.             *)
(***************************************************************************)
EXTENDS MCBrokerLease, BrokerLeaseRefinement, BrokerStatesRefinement

(* "Who has no valid session is fenced." A session ends with time, fencing   *)
(* is a record: the log would change without one.                            *)
ProjectedBySession(r) ==
  [incarnation |-> r.incarnation, epoch |-> r.epoch,
   fenced |-> r.fenced \/ ~HasValidSession(BrokerOf[r.incarnation]),
   in_controlled_shutdown |-> r.in_controlled_shutdown]

(* "A broker that is RUNNING is Online." With self-fencing it is, only while *)
(* its lease is fresh.                                                       *)
BrokerStateByStatus(i) ==
  CASE ~Live(i)                                  -> "Offline"
    [] status[i] \in {"STARTING", "RECOVERY"}    -> "Fenced"
    [] status[i] = "RUNNING"                     -> "Online"
    [] status[i] = "PENDING_CONTROLLED_SHUTDOWN" -> "Stopping"
==============================================================================
