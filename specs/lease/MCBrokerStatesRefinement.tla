----------------------- MODULE MCBrokerStatesRefinement -----------------------
(***************************************************************************)
(* Every step of BrokerLease, within bounds, is a step of BrokerStates.    *)
(***************************************************************************)
EXTENDS MCBrokerLease, BrokerStatesRefinement
==============================================================================
