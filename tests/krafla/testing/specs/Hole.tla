------------------------------- MODULE Hole -------------------------------
(* Actions and an invariant that TLC cannot evaluate everywhere: the spec is at fault. *)
EXTENDS Naturals, Sequences, TLC

VARIABLE queue

Init == queue = <<>>

Push(n) == queue' = Append(queue, n)

Pop == queue' = Tail(queue)

Choose == queue' = <<CHOOSE n \in {1, 2} : n > 5>>

Forbid == Assert(FALSE, "never") /\ UNCHANGED queue

(* There are places 1 to 3 only. *)
Put(n) == queue' = Append(queue, <<4, 5, 6>>[n])

Next == Pop \/ Choose \/ Forbid \/ (\E n \in 1..3 : Push(n) \/ Put(n))

FirstInv == queue[1] < 3

ShortInv == Len(queue) < 2
=============================================================================
