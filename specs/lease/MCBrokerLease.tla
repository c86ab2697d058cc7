---------------------------- MODULE MCBrokerLease ----------------------------
(***************************************************************************)
(* BrokerLease within bounds. MaxLogEnd bounds the records, and with them  *)
(* failovers, registrations and changes of fencing; MaxInFlight bounds the *)
(* messages under way at once. Time has no end.                            *)
(***************************************************************************)
EXTENDS BrokerLeaseProperties

CONSTANTS MaxLogEnd, MaxInFlight

CONSTANTS b1, b2, p1, p2, p3

OneBroker == {b1}
TwoBrokers == {b1, b2}
OneProcess == {p1}
TwoProcesses == {p1, p2}
BrokerOfAll == [i \in Incarnation |-> b1]
BrokerOfEach == [i \in Incarnation |-> IF i = p1 THEN b1 ELSE b2]

(* A process that replays at all replays all there is. The offsets between   *)
(* are told apart by nothing but heartbeats sent in between.                 *)
OnlyLatest == {log_end - 1}

RECURSIVE CopiesOf(_)
CopiesOf(set) ==
  IF set = {} THEN 0
  ELSE LET m == CHOOSE x \in set : TRUE IN messages[m] + CopiesOf(set \ {m})

Bounds ==
  /\ log_end <= MaxLogEnd
  /\ CopiesOf(InFlight(messages)) <= MaxInFlight
==============================================================================
