----------------------- MODULE MCBrokerLeaseRefinement -----------------------
(***************************************************************************)
(* Every step of BrokerLease, within bounds, is a step of UntimedLease.    *)
(***************************************************************************)
EXTENDS MCBrokerLease, BrokerLeaseRefinement
==============================================================================
