------------------------ MODULE MCBrokerLeaseInductive ------------------------
(***************************************************************************)
(* The clauses of BrokerLeaseInductive within bounds. They must be true of *)
(* every state that TLC reaches before a proof is worth attempting.        *)
(***************************************************************************)
EXTENDS MCBrokerLeaseTwo, BrokerLeaseInductive
==============================================================================
