------------------------------- MODULE Layout -------------------------------
(* Nothing but ways to write things down that an edit could break.           *)
EXTENDS Integers, FiniteSets

VARIABLES count, mode, seen

Modes == {"A", "B", "C"}

Init == count = 0 /\ mode = "A" /\ seen = {}

Long ==
  /\ \/ mode = "A"      \* a list in a list
     \/ /\ mode = "B"
        /\ count > 0    (* not /\ this *)
  /\ IF count >= 2 THEN /\ count' = 0
                        /\ mode' = "B"
     ELSE IF count = 1 /\ mode = "A" /\ seen = {} THEN
            /\ count' = count + 1
            /\ mode' = mode
     ELSE /\ count' = CASE mode = "A" -> 1
                        [] mode = "B" -> 2
                        [] OTHER -> 0
          /\ mode' = "C"
  /\ UNCHANGED seen

Short == (mode = "C") /\ (count < 3 \/ seen # {}) /\ count' = count /\ mode' = "A"
         /\ seen' = (seen \cup {count}) \ {9}

Next == Long \/ Short

Spec == Init /\ [][Next]_<<count, mode, seen>>
=============================================================================
