------------------------ MODULE MCBrokerLeaseInductive ------------------------
(***************************************************************************)
(* The clauses of BrokerLeaseInductive within bounds: true of every state  *)
(* that TLC reaches, as they must be before a proof is worth attempting.   *)
(***************************************************************************)
EXTENDS MCBrokerLease, BrokerLeaseInductive

(* Two processes of one broker, and one of the other.                        *)
BrokerOfSome == [i \in Incarnation |-> IF i = p3 THEN b2 ELSE b1]
==============================================================================
