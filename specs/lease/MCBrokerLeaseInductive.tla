------------------------ MODULE MCBrokerLeaseInductive ------------------------
(***************************************************************************)
(* The clauses of BrokerLeaseInductive within bounds: true of every state  *)
(* that TLC reaches, as they must be before a proof is worth attempting.   *)
(***************************************************************************)
EXTENDS MCBrokerLeaseTwo, BrokerLeaseInductive
==============================================================================
