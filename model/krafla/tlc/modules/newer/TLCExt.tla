---- MODULE TLCExt ----
(* Operators of newer releases of TLC, for a jar that lacks them.
   Those that only TLC itself can tell have no value here: TLC refuses to evaluate them. *)
LOCAL INSTANCE TLC

AssertEq(left, right) == \/ left = right
                         \/ PrintT(<<left, right>>) /\ FALSE
TLCNoOp(value) == value
TLCCache(expression, closure) == expression
PickSuccessor(expression) == expression
TLCGetOrDefault(key, default) == CHOOSE value : TRUE
TLCGetAndSet(key, Op(_, _), value, default) == CHOOSE value_ : TRUE
AssertError(error, expression) == CHOOSE value : TRUE
Trace == CHOOSE value : TRUE
TLCModelValue(name) == CHOOSE value : TRUE
TLCEvalDefinition(name) == CHOOSE value : TRUE
TLCFP(value) == CHOOSE value_ : TRUE
CounterExample == CHOOSE value : TRUE
ToTrace(counterExample) == CHOOSE value : TRUE
====
