-------------------------------- MODULE Wrong -------------------------------
(* Invariants that are false in the state of test_oracle_values.py, each for  *)
(* a reason that its text does not tell.                                      *)
EXTENDS Integers, Sequences, FiniteSets

CONSTANTS Broker, Max, Nil

VARIABLES leads, epoch, seen

vars == <<leads, epoch, seen>>

Init ==
  /\ leads = [b \in Broker |-> FALSE]
  /\ epoch = [b \in Broker |-> 0]
  /\ seen = [at |-> 0, by |-> Nil]

Next == UNCHANGED vars

Leaders == {b \in Broker : leads[b]}
Highest(S) == CHOOSE x \in S : \A y \in S : y <= x
Seen == [at : 0 .. Max, by : Broker \cup {Nil}]

SizeInv == Cardinality({b \in Broker : leads[b]}) <= 1
NamedInv == Cardinality(Leaders) <= 1
LetInv == LET n == Cardinality(Leaders) IN n <= 1
SubsetInv == Leaders \subseteq {b \in Broker : epoch[b] > 0}
SubsetsInv == Leaders \in SUBSET {1}
FunctionInv == epoch \in [Broker -> 0 .. Max]
DomainInv == epoch \in [{1, 2} -> Int]
RecordInv == seen \in Seen
ElementInv == \A b \in Broker : epoch[b] \in 0 .. Max
EquivalentInv == \A b \in Broker : leads[b] <=> epoch[b] > 0
SumInv == epoch[1] + epoch[2] <= Max
IfInv == (IF leads[1] THEN epoch[1] ELSE 0) = 0
ChooseInv == (CHOOSE b \in Broker : leads[b]) = 3
MapInv == [b \in Broker |-> epoch[b] + 1] = [b \in Broker |-> 1]
OperatorInv == Highest({epoch[b] : b \in Broker}) <= Max
NeitherInv == ~(leads[1] /\ leads[2])
NoneInv == ~ \E b \in Broker : leads[b] /\ epoch[b] = 0
SomeInv == \E b \in Broker : leads[b] /\ epoch[b] = Max
ManyInv == Cardinality(SUBSET (1 .. 20)) < epoch[1]
StaysProp == [][UNCHANGED <<leads, epoch>>]_vars
=============================================================================
