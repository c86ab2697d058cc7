----------------------- MODULE MCControllerRegistration -----------------------
(***************************************************************************)
(* ControllerRegistration within bounds. MaxInFlight bounds the messages   *)
(* in flight at once; records have no bound. There are two controller ids, *)
(* of which the first may have two processes.                              *)
(*                                                                         *)
(* A model replaces operators of the spec by those below, to leave out     *)
(* what another model covers. models.toml says what is left out and why.   *)
(***************************************************************************)
EXTENDS ControllerRegistrationProperties

CONSTANTS MaxInFlight

ASSUME Bounded == MaxInFlight \in Nat \ {0}

CONSTANTS c1, c2, c3, p1, p2, p3, p4

OneController == {c1}
TwoControllers == {c1, c2}
ThreeControllers == {c1, c2, c3}
FirstProcesses == {p1, p2}
TwoProcesses == {p1, p3}
ThreeProcesses == {p1, p2, p3}
FourProcesses == {p1, p2, p3, p4}
ControllerOfAll ==
  [i \in Incarnation |-> IF i \in {p1, p2} THEN c1 ELSE IF i = p3 THEN c2 ELSE c3]

(* Levels: 1 is below the gate, 2 is the gate, 3 above it.                   *)
FromBelow == {1, 2, 3}
FromGate == {2, 3}
NoneRegistered == {}

(* The software of each process. *)
AllNew == [i \in Incarnation |-> Level]
FirstIsOld == [i \in Incarnation |-> IF i = p1 THEN Level \ {3} ELSE Level]
SecondIsOld == [i \in Incarnation |-> IF i = p2 THEN Level \ {3} ELSE Level]
OtherIsOld == [i \in Incarnation |-> IF i = p3 THEN Level \ {3} ELSE Level]

(* The operator starts no older software than before. *)
NeverOlder(i) ==
  \A j \in Incarnation :
    (ControllerOf[j] = ControllerOf[i] /\ status[j] # "NOT_RUNNING") =>
      Supported[j] \subseteq Supported[i]

(* An upgrade waits for the current voters (KAFKA-20295), and a controller   *)
(* joins the voters only if it supports the metadata version. Kafka does     *)
(* neither.                                                                  *)
CurrentVoters == voters
SupportsLevel(i) == metadata_version \in Supported[i]

(* A process asks without looking at the gate. *)
Eager(i) == TRUE

(* Both ids are registered, and the process of the first is active.          *)
BothRegistered ==
  LET r(i) == [incarnation |-> i, supported |-> Supported[i]] IN
  /\ registrations = [c \in Controller |-> r(CHOOSE i \in Incarnation : ControllerOf[i] = c)]
  /\ metadata_version = GateLevel
  /\ voters = Controller
  /\ active = CHOOSE i \in Incarnation : ControllerOf[i] = c1
  /\ status = [i \in Incarnation |-> "RUNNING"]
  /\ image = [i \in Incarnation |-> [incarnation |-> i, metadata_version |-> GateLevel]]
  /\ pending = [i \in Incarnation |-> FALSE]
  /\ messages = NoMessages

(* Actions left out. TLC counts them under the name Never.                   *)
Never == \E nothing \in {} : FALSE
NoCrash(i) == Never
NoTimeout(i) == Never
NoLoss(m) == Never
NoDuplicate(m) == Never
NoWrongController(m) == Never
NoUpgrade(level) == Never
NoUnregister(c) == Never
NoRemoveVoter(c) == Never
NoAddVoter(c) == Never

RECURSIVE CopiesOf(_)
CopiesOf(set) ==
  IF set = {} THEN 0
  ELSE LET m == CHOOSE x \in set : TRUE IN messages[m] + CopiesOf(set \ {m})

Bounds == CopiesOf(InFlight(messages)) <= MaxInFlight
==============================================================================
