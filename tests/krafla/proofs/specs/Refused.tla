------------------------------ MODULE Refused ------------------------------
(* One operator for each reason to refuse.                                   *)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS Node
ASSUME Node # {}

VARIABLES x, f

TypeOK == x \in Int /\ f \in [Node -> Int]

RECURSIVE Sum(_)
Sum(n) == IF n = 0 THEN 0 ELSE n + Sum(n - 1)
Twice(Op(_)) == Op(Op(x))
Next(n) == n + 1

SizeOfSet == Cardinality({n \in Node : f[n] = x}) = x
CaseWithoutOther == CASE x > 0 -> TRUE [] x = 0 -> FALSE
NumberIsNoString == x = "one"
NumberIsNoSet == x \in x
Recursive == Sum(3) = 6
OverFunctions == \E g \in [Node -> Int] : g = f
OverSubsets == \A s \in SUBSET Node : s = {}
HigherOrder == Twice(Next) = 2
Sequence == Append(<<1>>, 2) = <<1, 2>>
UnboundedChoice == (CHOOSE n : n = x) = 1
ChoiceInProperty == (CHOOSE n \in Node : TRUE) \in Node
ChoiceUnderQuantifier == \A n \in Node : (CHOOSE m \in Node : m # n) # n
AnotherState == x' = x
IsEnabled == ENABLED (x' = x + 1)
Remainder == x % 2 = 0
=============================================================================
