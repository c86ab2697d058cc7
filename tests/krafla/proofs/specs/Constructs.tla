----------------------------- MODULE Constructs -----------------------------
(* One operator for each construct that has a translation.                   *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS Node, Limit, None

ASSUME Limit \in Nat
ASSUME Node # {}

VARIABLES total, count, colour, members, shape, bag

Square == [kind : {"square"}, side : Int]
Circle == [kind : {"circle"}, radius : Int, filled : BOOLEAN]
Shape == Square \cup Circle
ASSUME None \notin Shape
IsBag(b, S) == DOMAIN b \subseteq S /\ \A x \in DOMAIN b : b[x] \in Int

TypeOK ==
  /\ total \in Int
  /\ count \in [Node -> Int]
  /\ colour \in [Node -> {"red", "green"}]
  /\ members \subseteq Node
  /\ shape \in [Node -> Shape \cup {None}]
  /\ IsBag(bag, Shape)
-----------------------------------------------------------------------------
Small(n) == n <= Limit
Sign(n) == CASE n > 0 -> "plus" [] n >= 0 -> "zero" [] OTHER -> "minus"
IsCircle(s) == s # None /\ s.kind = "circle"
Drawn == {n \in Node : shape[n] # None}
Kept == [x \in DOMAIN bag \ Square |-> bag[x]]
Grown == [n \in Node |-> count[n] + 1]

IfIsChosen == (IF total > 0 THEN count ELSE Grown) = count
CaseTakesTheFirst == Sign(total) = "plus" \/ Sign(total) = "zero"
LetIsPutIn == LET twice == 2 * total add(x) == x + twice IN add(1) = 2 * total + 1 /\ twice > 2
Arithmetic == -total < total - 3 * Limit
Interval == total \in -1 .. Limit
NotInInterval == total \notin 0 .. Limit
Implication == (\E n \in Node : count[n] < 0) => total < 0
Equivalence == (total < 0) <=> (members = {})
BooleansAreValues == (total < 0) = (members = {})
Nested == \A a, b \in Node : a = b \/ count[a] # count[b] \/ \E c \in members : c # a
EachInTurn == \A a \in Node, b \in members : count[a] <= count[b]
OverEnumeration == \E n \in {1, total, Limit} : \A c \in Node : count[c] < n
OverBooleans == \A yes \in BOOLEAN : yes \/ total > 0
OverInterval == \E n \in 1 .. 3 : n = total
OverTuples == \E <<a, b>> \in {<<1, total>>, <<2, 3>>} : a = b
StringsDiffer == \A n \in Node : colour[n] # "red"
Strings == \A n \in Node : colour[n] \in STRING \ {"green"}
SetsAreEqual == Drawn = members
SubsetOfSet == Drawn \subseteq members
InPowerset == Drawn \in SUBSET members
UnionOfSets == members \cup Drawn = Node
CommonMembers == members \cap Drawn = {}
Without == members \ Drawn = {}
Image == {count[n] : n \in members} = {total}
ImageMember == total \in {count[n] + 1 : n \in Drawn}
AtMostOne == Cardinality(members) <= 1
ExactlyTwo == Cardinality(members) = 2
NotOne == Cardinality(members) # 1
MoreThanOne == 1 < Cardinality(Drawn)
AtLeastTwoShapes == Cardinality(DOMAIN bag) >= 2
FunctionsAreEqual == count = [n \in Node |-> total]
FunctionInSet == count \in [Node -> 0 .. Limit]
PartialInSet == bag \in [{[kind |-> "square", side |-> 0]} -> {0, 1}]
ExceptOnePoint == \E n \in Node : [count EXCEPT ![n] = 0] = count
ExceptOldValue == \E n \in Node : [count EXCEPT ![n] = @ + total] = [count EXCEPT ![n] = 2]
ExceptTwice == \A n \in Node : [count EXCEPT ![n] = total, ![n] = @ + 1][n] = 2
ExceptField == \A n \in Node : IsCircle(shape[n]) =>
  [shape[n] EXCEPT !.radius = @ + 1] = [shape[n] EXCEPT !.radius = 1]
ExceptNested == \A n \in Drawn : IsCircle(shape[n]) => [shape EXCEPT ![n].filled = TRUE] = shape
ExceptOfUnion == \A s \in DOMAIN bag : [s EXCEPT !.kind = "circle"] = s
RecordSet == \A n \in Drawn : shape[n] \in [kind : {"square"}, side : {0, 1}]
RecordsOfTwoShapes == \A s \in DOMAIN bag : s # [kind |-> "square", side |-> total]
AtomIsNoRecord == None \notin Shape
SharedField == \A s \in DOMAIN bag : s.kind = "square"
OneIsTaken == \E s \in DOMAIN bag : s = [kind |-> "circle", radius |-> total, filled |-> TRUE]
EmptyBag == bag = << >>
Merged == (bag @@ ([kind |-> "square", side |-> 0] :> 7)) = bag
MergedLeftWins ==
  (([kind |-> "square", side |-> 0] :> total) @@ bag)[[kind |-> "square", side |-> 0]] = 1
KeptIsAll == Kept = bag
KeptIsNothing == Kept = << >>
DomainMember == [kind |-> "square", side |-> total] \in DOMAIN bag
Choice == total > 0 /\ bag # << >> => (IF total > 1 THEN bag ELSE << >>) = bag
Tuples == <<total, members>> = <<1, Drawn>>
TupleElement == <<total, Limit>>[1] < <<total, Limit>>[2]
InTuples == <<total, Limit>> \in {<<0, 1>>, <<1, 2>>, <<2, 0>>}
-----------------------------------------------------------------------------
Init == FALSE

Count(n, by) ==
  /\ by > 0
  /\ Small(count[n] + by)
  /\ count' = [count EXCEPT ![n] = @ + by]
  /\ \/ total' = total + by
     \/ total' \in {total} /\ n \in members
  /\ UNCHANGED <<colour, members, <<shape, bag>>>>

Draw(n) ==
  /\ shape[n] = None
  /\ shape' = [shape EXCEPT ![n] = [kind |-> "square", side |-> total]]
  /\ members' = Drawn'
  /\ UNCHANGED <<total, count, colour, bag>>

Throw(s) ==
  /\ s \in DOMAIN bag
  /\ bag' = IF bag[s] > 1 THEN [bag EXCEPT ![s] = @ - 1] ELSE [x \in DOMAIN bag \ {s} |-> bag[x]]
  /\ LET one == CHOOSE n \in Node : shape[n] = s IN
     members' = IF \E n \in Node : shape[n] = s THEN members \ {one} ELSE members
  /\ UNCHANGED <<total, count, colour, shape>>

Put(s, again) ==
  /\ bag' = IF s \in DOMAIN bag /\ again THEN [bag EXCEPT ![s] = @ + 1] ELSE bag @@ (s :> 1)
  /\ UNCHANGED <<total, count, colour, members, shape>>

Next ==
  \/ \E n \in Node, by \in {1, 2} : Count(n, by)
  \/ \E n \in Node : Draw(n)
  \/ \E s \in DOMAIN bag : Throw(s)
  \/ \E s \in DOMAIN bag, again \in BOOLEAN : Put(s, again)

Start ==
  /\ total = 0
  /\ count = [n \in Node |-> 0]
  /\ colour = [n \in Node |-> "red"]
  /\ members = {}
  /\ shape = [n \in Node |-> None]
  /\ bag = ([kind |-> "square", side |-> 0] :> 2) @@ ([kind |-> "square", side |-> 1] :> 1)

TotalGrowsProp == [][total' >= total]_total
StaysDrawnProp == [][\A n \in Node : (shape[n] # None) => (n \in Drawn)']_<<shape, members>>
=============================================================================
