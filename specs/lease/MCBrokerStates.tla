---------------------------- MODULE MCBrokerStates ----------------------------
(***************************************************************************)
(* BrokerStates is already finite: this module only names the processes.   *)
(***************************************************************************)
EXTENDS BrokerStates

CONSTANTS b1, p1, p2

OneBroker == {b1}
TwoProcesses == {p1, p2}
BrokerOfAll == [i \in Incarnation |-> b1]
==============================================================================
