--------------------------- MODULE MCReassignment ---------------------------
(***************************************************************************)
(* Reassignment within bounds. MaxPartitionEpoch bounds how often the      *)
(* partition changes, MaxBrokerEpoch how often a broker restarts,          *)
(* MaxInFlight the messages in flight at once.                             *)
(*                                                                         *)
(* A model replaces operators of Reassignment by those below, to leave out *)
(* what another model covers: `FenceBroker <- NoFence`. models.toml says   *)
(* what each model leaves out and why.                                     *)
(***************************************************************************)
EXTENDS ReassignmentProperties

CONSTANTS MaxPartitionEpoch, MaxBrokerEpoch, MaxInFlight

ASSUME Bounded ==
  /\ MaxPartitionEpoch \in Nat \ {0}
  /\ MaxBrokerEpoch \in Nat
  /\ MaxInFlight \in Nat

CONSTANTS b1, b2, b3, b4

TwoBrokers == {b1, b2}
ThreeBrokers == {b1, b2, b3}
ThreeInOrder == <<b1, b2, b3>>
FourBrokers == {b1, b2, b3, b4}
FourInOrder == <<b1, b2, b3, b4>>
OnlyFirst == <<b1>>
FirstTwo == <<b1, b2>>
AllThree == <<b1, b2, b3>>

(* Targets. *)
Swap == {<<b1, b3>>}
SwapLeader == {<<b3, b2>>}
SwapEither == {<<b1, b3>>, <<b3, b2>>}
LastTwo == {<<b2, b3>>}
Remove == {<<b2>>}
RemoveThird == {<<b1, b2>>}
AddSecond == {<<b1, b2>>}
AddThird == {<<b1, b2, b3>>}
Moves == {<<b1, b3>>, <<b3, b2>>, <<b2>>, <<b1, b2, b3>>}
MovesOfFour == {<<b1, b3>>, <<b3, b4>>}
AnyOfThree == Assignments(ThreeBrokers)

(* A swap, and the way back while it is in progress; a swap, and then all    *)
(* three.                                                                    *)
ThereAndBack == {<<b1, b3>>, <<b1, b2>>}
KeepAll == {<<b1, b3>>, <<b3, b1, b2>>}

(* A target only while no reassignment is in progress.                       *)
SwapOnce ==
  IF Exists /\ InProgress(partition) THEN {} ELSE {<<b3, b2>>, <<b1, b2, b3>>, <<b1>>}

(* The rule before KAFKA-15665. *)
OldCompletable(ask) ==
  /\ InProgress(ask)
  /\ Members(ask.replicas) \ ask.removing # {}
  /\ ask.adding \subseteq ask.isr
  /\ ask.isr \ ask.removing # {}

(* Actions left out. TLC counts them under the name Never.                   *)
Never == \E nothing \in {} : FALSE
NoTarget == {}
NoCancel == Never
NoPreferredElection == Never
NoUncleanElection == Never
NoDelete == Never
NoUnregister(b) == Never
NoFence(b) == Never
NoUnfence(b) == Never
NoShutdown(b) == Never
NoRegister(b) == Never
NoRetry(m) == Never
NoRequest(b, isr) == Never

(* Requests that no broker sent. For each check of AlterPartition there is   *)
(* one that only this check refuses, in a partition that may be in its first *)
(* or second version.                                                        *)
Stray(b, leader_epoch, partition_epoch, isr, recovery) ==
  [type |-> "AlterPartitionRequest", broker |-> b, broker_epoch |-> 0,
   leader_epoch |-> leader_epoch, partition_epoch |-> partition_epoch, isr |-> isr,
   recovery |-> recovery]
One == [r \in {b1} |-> 0]
Strays ==
  {Stray(b1, 1, 0, One, "RECOVERED"), Stray(b1, 0, 1, One, "RECOVERED"),
   Stray(b2, 0, 0, One, "RECOVERED"), Stray(b2, 0, 2, [r \in {b2, b3} |-> 0], "RECOVERED"),
   Stray(b1, 0, 0, [r \in {b1, b3} |-> 0], "RECOVERED"),
   Stray(b1, 0, 0, [r \in {b2} |-> 0], "RECOVERED"),
   Stray(b1, 0, 0, [r \in {b1, b2} |-> 0], "RECOVERING"),
   Stray(b1, 0, 0, One, "RECOVERING"),
   Stray(b1, 0, 0, [r \in {b1, b2} |-> NoEpoch], "RECOVERED"),
   [Stray(b1, 0, 0, One, "RECOVERED") EXCEPT !.broker_epoch = 1]}

RECURSIVE CopiesOf(_)
CopiesOf(set) ==
  IF set = {} THEN 0
  ELSE LET m == CHOOSE x \in set : TRUE IN messages[m] + CopiesOf(set \ {m})

Bounds ==
  /\ Exists => partition.partition_epoch <= MaxPartitionEpoch
  /\ \A b \in Broker : registrations[b].epoch <= MaxBrokerEpoch
  /\ CopiesOf(InFlight(messages)) <= MaxInFlight
==============================================================================
