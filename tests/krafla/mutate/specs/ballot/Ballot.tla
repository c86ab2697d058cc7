------------------------------- MODULE Ballot -------------------------------
(* Ballots by epoch: one is opened, nodes grant it, a majority closes it.    *)
EXTENDS Integers, FiniteSets

CONSTANTS Node, MaxEpoch, Nil

VARIABLES epoch, status, granted, closed, last

Status == {"IDLE", "OPEN", "DONE"}

TypeOK ==
  /\ epoch \in 0 .. MaxEpoch
  /\ status \in Status
  /\ granted \subseteq Node
  /\ closed \subseteq 1 .. MaxEpoch
  /\ last \in [epoch : 0 .. MaxEpoch, is_final : BOOLEAN]

ballot == <<status, granted>>
vars == <<epoch, status, granted, closed, last>>

Init ==
  /\ epoch = 0
  /\ status = "IDLE"
  /\ granted = {n \in Node : FALSE}
  /\ closed = {}
  /\ last = [epoch |-> 0, is_final |-> FALSE]

IsMajority(nodes) == Cardinality(nodes) * 2 > Cardinality(Node)

(* A ballot of the next epoch is opened. *)
Open ==
  /\ status = "IDLE"
  /\ epoch < MaxEpoch
  /\ epoch' = epoch + 1
  /\ status' = "OPEN"
  /\ UNCHANGED <<granted, closed, last>>

Grant(n) ==
  /\ status = "OPEN" /\ n \notin granted
  /\ granted' = granted \cup {n}
  /\ UNCHANGED <<epoch, status, closed, last>>

Close ==
  LET final == epoch = MaxEpoch IN
  /\ status = "OPEN"
  /\ IsMajority(granted)
  /\ \A n \in granted : n \in Node
  /\ IF final
     THEN /\ status' = "DONE"
          /\ granted' = {}
     ELSE /\ status' = "IDLE"
          /\ granted' = {}
  /\ closed' = closed \cup {epoch}
  /\ last' = [last EXCEPT !.epoch = epoch, !.is_final = final]
  /\ UNCHANGED epoch

(* The ballot is given up. *)
Abandon ==
  /\ status = "OPEN"
  /\ granted = {}
  /\ epoch' = epoch
  /\ UNCHANGED <<ballot, closed, last>>

Next ==
  \/ Open
  \/ \E n \in Node : Grant(n)
  \/ Close
  \/ Abandon

Spec == Init /\ [][Next]_vars
=============================================================================
