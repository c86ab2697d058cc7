---------------------------- MODULE MCBrokerLease ----------------------------
(***************************************************************************)
(* BrokerLease within bounds. MaxLogEnd bounds the records, and with them  *)
(* failovers, registrations and changes of fencing. MaxInFlight bounds the *)
(* messages in flight at once. Time has no end.                            *)
(*                                                                         *)
(* A model replaces operators of BrokerLease by those below, to leave out  *)
(* what another model covers: `FailOver <- NoFailOver`. models.toml says   *)
(* what is left out and why.                                               *)
(***************************************************************************)
EXTENDS BrokerLeaseProperties

CONSTANTS MaxLogEnd, MaxInFlight

ASSUME Bounded == MaxLogEnd \in Nat \ {0} /\ MaxInFlight \in Nat \ {0}

CONSTANTS b1, b2, p1, p2, p3

OneBroker == {b1}
TwoBrokers == {b1, b2}
OneProcess == {p1}
TwoProcesses == {p1, p2}
ThreeProcesses == {p1, p2, p3}
BrokerOfAll == [i \in Incarnation |-> b1]
BrokerOfEach == [i \in Incarnation |-> IF i = p2 THEN b2 ELSE b1]

(* A process that replays at all replays everything. Only heartbeats sent in *)
(* between could tell the offsets in between apart.                          *)
OnlyLatest == {log_end - 1}

(* Every clock shows the same. For models without SelfFence, in which the    *)
(* brokers' clocks have no effect.                                           *)
OneClock == {[i \in Incarnation |-> elapsed] : elapsed \in {0, 1}}

(* Actions left out. TLC counts them under the name Never.                   *)
Never == \E nothing \in {} : FALSE
NoFailOver == Never
NoUnregister(b) == Never
NoElection(b) == Never
NoStaleFence(b) == Never
NoStart(i) == Never
NoRegistration(i) == Never
NoCrash(i) == Never
NoShutdown(i) == Never
NoRequestTimeout(i) == Never
NoLoss(m) == Never
NoDuplicate(m) == Never
NoTick(by_controller, by_broker) == Never

RECURSIVE CopiesOf(_)
CopiesOf(set) ==
  IF set = {} THEN 0
  ELSE LET m == CHOOSE x \in set : TRUE IN messages[m] + CopiesOf(set \ {m})

Bounds ==
  /\ log_end <= MaxLogEnd
  /\ CopiesOf(InFlight(messages)) <= MaxInFlight
==============================================================================
