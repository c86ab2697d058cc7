------------------------ MODULE BrokerLeaseRefinement ------------------------
(***************************************************************************)
(* BrokerLease => UntimedLease. Without time, heartbeats and processes,    *)
(* the records that the controller writes follow the rules of a committed  *)
(* log.                                                                    *)
(***************************************************************************)
EXTENDS BrokerLeaseProperties

Projected(r) ==
  [incarnation |-> r.incarnation, epoch |-> r.epoch, fenced |-> r.fenced,
   in_controlled_shutdown |-> r.in_controlled_shutdown]

Log == INSTANCE UntimedLease WITH
  registrations <- [b \in {x \in Broker : Registered(x)} |-> Projected(registrations[b])],
  log_end <- log_end,
  epoch_floor <- log_end

RefinesUntimedLeaseProp == Log!Spec

THEOREM Spec => Log!Spec
==============================================================================
