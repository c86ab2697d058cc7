------------------------------- MODULE Shapes -------------------------------
(* One use of every construct that the oracle must understand.               *)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Colour, Table, Red

VARIABLES queue, total, grid, mode

vars == <<queue, total, grid, mode>>

Gauge == INSTANCE Meter WITH Limit <- 6, reading <- total

Init ==
  /\ queue = << >>
  /\ total \in {0, 1}
  /\ grid = [c \in Colour |-> [x \in 0 .. 1 |-> 0]]
  /\ mode = [name |-> "idle", since |-> -1]

RECURSIVE Sum(_)
Sum(s) == IF s = << >> THEN 0 ELSE Head(s) + Sum(Tail(s))

Short(limit) == Len(queue) < limit
Weight(n) == CASE n = 1 -> 1 [] n = 2 -> 3 [] OTHER -> 0

(* Nested LET, with a primed one, and a CASE. *)
Push(n) ==
  /\ Short(2)
  /\ LET heavier == n + 1
     IN  LET longer == Append(queue, heavier)
         IN  /\ queue' = longer
             /\ LET grown == Len(queue') IN
                mode' = [mode EXCEPT !.name = CASE grown = 1 -> "one" [] grown = 2 -> "two" [] OTHER -> "many"]
  /\ UNCHANGED <<total, grid>>

(* The element is chosen from a set that depends on the state. *)
Pop(position) ==
  /\ queue # << >>
  /\ position \in DOMAIN queue
  /\ \E keep \in SUBSET {position} :
       /\ Cardinality(keep) = 1
       /\ queue' = SubSeq(queue, position + 1, Len(queue))
  /\ IF Sum(queue) > 3
     THEN mode' = [name |-> "heavy", since |-> Sum(queue)]
     ELSE /\ mode.name # "heavy"
          /\ mode' = [mode EXCEPT !.since = 0]
  /\ UNCHANGED <<total, grid>>

(* Several outcomes for the same parameters. *)
Paint(c) ==
  /\ \E x \in 0 .. 1 : grid' = [grid EXCEPT ![c][x] = 1 - @]
  /\ UNCHANGED <<queue, total, mode>>

Tick(n) == Gauge!Advance(n) /\ UNCHANGED <<queue, grid, mode>>

Reset ==
  \/ /\ total = 6
     /\ total' = 0
     /\ UNCHANGED <<queue, grid, mode>>
  \/ /\ total > 100
     /\ UNCHANGED vars

Clear ==
  /\ mode.name \in {"heavy"}
  /\ mode' = [name |-> "idle", since |-> -1]
  /\ UNCHANGED <<queue, total, grid>>

Work == \/ \E n \in 1 .. 2 : Push(n)
        \/ \E position \in 1 .. Len(queue) : Pop(position) \/ Pop(position)
        \/ Clear

Next == Work \/ Reset \/ (\E n \in 1 .. 3 : Tick(n)) \/ \E c \in Colour : Paint(c)

Spec == Init /\ [][Next]_vars

(* Not in Next: actions that a caller may name all the same. *)
Store(value) == mode' = [mode EXCEPT !.since = value] /\ UNCHANGED <<queue, total, grid>>

Grow(n) ==
  /\ queue' = Append(queue, n)
  /\ Len(queue') <= 1
  /\ UNCHANGED <<total, grid, mode>>

Pick ==
  \E i \in 1 .. 3 :
    /\ i # 2
    /\ i = 1 => total = 9
    /\ total > i + 10
    /\ UNCHANGED vars

(* Values of every kind. *)
Kinds ==
  <<TRUE, -7, "text with \"quotes\"", Red, {1, 2}, 3 .. 5, <<1, <<2>>>>, [a |-> 1, b |-> {}],
    Table, [x \in {2, 3} |-> x * x], SUBSET {1, 2}, {1} \cup {5}, {1, 2} \X {"a"},
    [{1, 2} -> BOOLEAN], [p : {1}, q : {2, 3}], {x \in 1 .. 6 : x % 2 = 0}, UNION {{1}, {2}},
    {1, 2, 3} \ {2}, {1, 2} \cap {2, 3}, << >>, {}, Red :> 1 @@ "x" :> 2, [i \in 1 .. 2 |-> i]>>

Identity(x) == x
Halve(n) == n \div 2
RefinesMeter == Gauge!Spec
Busy == []<>(queue # << >>)
GaugeInRange == Gauge!InRange
Fine == mode.name # "heavy" \/ \A i \in 1 .. Len(queue) : queue[i] < 3
AlwaysFine == []Fine
NeverTwo == ~ \E i \in 1 .. Len(queue) : queue[i] = 2
TotalOnlyGrows == [][total' >= total]_total /\ [][grid' \in [Colour -> [0 .. 1 -> 0 .. 1]]]_grid
=============================================================================
