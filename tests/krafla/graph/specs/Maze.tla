---- MODULE Maze ----
(* Rooms with one-way doors, few enough to be checked by hand:                *)
(*   0 -> 1 -> 2 -> 0      a ring with ways out                               *)
(*   2 -> 3                a dead end                                         *)
(*   1 -> 4 <-> 5          a livelock: round for ever, and the goal is far    *)
(*   2 -> 6 -> 7 -> 7      the goal is 7, where one can only stay             *)
(*   6 -> 9                leads out of the bounds                            *)
EXTENDS Naturals

VARIABLES room, walls

Ring(to) == room \in 0 .. 2 /\ to = (room + 1) % 3 /\ room' = to /\ UNCHANGED walls
Fall == room = 2 /\ room' = 3 /\ UNCHANGED walls
Trap == room = 1 /\ room' = 4 /\ UNCHANGED walls
Circle == room \in 4 .. 5 /\ room' = 9 - room /\ UNCHANGED walls
Leave == room = 2 /\ room' = 6 /\ UNCHANGED walls
Arrive == room = 6 /\ room' = 7 /\ UNCHANGED walls
Stay == room = 7 /\ UNCHANGED <<room, walls>>
Escape == room = 6 /\ room' = 9 /\ UNCHANGED walls
Never == room < 0 /\ UNCHANGED <<room, walls>>

Init == room = 0 /\ walls = {"</script>", "&lt;"}
Next ==
  \/ \E to \in 0 .. 2 : Ring(to)
  \/ Fall \/ Trap \/ Circle \/ Leave \/ Arrive \/ Stay \/ Escape \/ Never

InBounds == room < 9
AtGoal == room = 7
Nowhere == room = 8
InHouse == room < 10

(* No walker is in the trap.                                                  *)
NotTrapped == room /= 4

Climbs == [][room' >= room \/ room = 5]_room
====
