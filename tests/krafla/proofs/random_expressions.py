"""Random TLA+ expressions over everything that has a translation to z3.

An expression of a kind is drawn with `draw`, which picks from a list. ``names`` are the bound names
that it may use, with their kinds.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

_BOUND = re.compile(r"\b([xynbzs])\b")
Pick = Callable[[Sequence[Any]], Any]

NUMBERS = ("(-1)", "0", "1", "2", "3")
TEXTS = ('"red"', '"green"')
SQUARES = ('[kind |-> "red", side |-> 0]', '[kind |-> "red", side |-> 1]')
# An EXCEPT, and another in its value.
NESTED = ("counts", "node", "counts", "node", "number", "node")
SIDES_IN_EACH_OTHER = "[{} EXCEPT !.side = LET z == @ IN [{} EXCEPT !.side = z - @].side]"
# What an expression of a kind is made of: a template, and the kinds of its parts. A part after a
# colon binds the name before it: `x:number` may use x, which is a number.
FORMS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "truth": (
        ("TRUE", ()),
        ("FALSE", ()),
        ("yes", ()),
        ("({} /\\ {})", ("truth", "truth")),
        ("({} \\/ {})", ("truth", "truth")),
        ("(~{})", ("truth",)),
        ("({} => {})", ("truth", "truth")),
        ("({} <=> {})", ("truth", "truth")),
        ("(IF {} THEN {} ELSE {})", ("truth", "truth", "truth")),
        ("(CASE {} -> {} [] {} -> {} [] OTHER -> {})", ("truth",) * 5),
        ("({} = {})", ("truth", "truth")),
        ("({} = {})", ("number", "number")),
        ("({} # {})", ("number", "number")),
        ("({} < {})", ("number", "number")),
        ("({} > {})", ("number", "number")),
        ("({} <= {})", ("number", "number")),
        ("({} >= {})", ("number", "number")),
        ("({} = {})", ("text", "text")),
        ("({} # {})", ("text", "text")),
        ("({} \\in STRING)", ("text",)),
        ("({} \\in BOOLEAN)", ("truth",)),
        ("({} \\in Int)", ("number",)),
        ("({} \\in Nat)", ("number",)),
        ("({} \\in {})", ("number", "numbers")),
        ("({} \\notin {})", ("number", "numbers")),
        # A member that only the last one, or only the condition, decides about.
        ("(LET z == {} IN z \\in {{{}, z}})", ("number", "number")),
        ("(LET z == {} IN z \\in {{x \\in {{z}} : {}}})", ("number", "x:number:truth")),
        ("({} = {})", ("numbers", "numbers")),
        ("({} \\subseteq {})", ("numbers", "numbers")),
        ("({} \\in SUBSET {})", ("numbers", "numbers")),
        ("(\\A x \\in {} : {})", ("numbers", "x:number:truth")),
        ("(\\E x \\in {} : {})", ("numbers", "x:number:truth")),
        ("(\\A x, y \\in {} : {})", ("numbers", "x,y:number:truth")),
        ("(\\A n \\in Node : {})", ("n:node:truth",)),
        ("(\\E n \\in Node : {})", ("n:node:truth",)),
        ("(\\E <<x, y>> \\in {{<<{}, {}>>}} : {})", ("number", "number", "x,y:number:truth")),
        ("(\\A b \\in BOOLEAN : {})", ("b:truth:truth",)),
        ("(Cardinality({}) = 1)", ("numbers",)),
        ("(Cardinality({}) > 1)", ("numbers",)),
        ("(Cardinality({}) <= 2)", ("numbers",)),
        ("(2 # Cardinality({}))", ("numbers",)),
        ("({} \\in {})", ("node", "nodes")),
        ("({} = {})", ("nodes", "nodes")),
        ("({} = {})", ("node", "node")),
        ("({} = {})", ("counts", "counts")),
        ("({} \\in [Node -> {}])", ("counts", "numbers")),
        ("({} = None)", ("shape",)),
        ("({} # {})", ("shape", "shape")),
        ("({} \\in Square)", ("shape",)),
        ("({} \\in [kind : {{\"red\"}}, side : {}])", ("shape", "numbers")),
        ("({} \\in DOMAIN {})", ("square", "bag")),
        ("({} = {})", ("bag", "bag")),
        ("({} = << >>)", ("bag",)),
        ("(<<{}, {}>> = <<{}, {}>>)", ("number", "text", "number", "text")),
        ("(LET z == {} IN {})", ("number", "z:number:truth")),
        ("marked[{}]", ("truth",)),
        ("({} = {})", ("marks", "marks")),
        ("({} \\in [BOOLEAN -> BOOLEAN])", ("marks",)),
        ("({} \\in {})", ("text", "words")),
        ("({} \\subseteq {})", ("words", "words")),
        ("({} = {})", ("words", "words")),
        ("({} = {})", ("box", "box")),
        ("({} \\in [in : [deep : {}], wide : BOOLEAN])", ("box", "numbers")),
        ("{}.wide", ("box",)),
        ("({} = {})", ("levels", "levels")),
        ("({} = {})", ("level", "level")),
        ("(None \\in DOMAIN {})", ("level",)),
    ),
    "number": (
        *((one, ()) for one in NUMBERS),
        ("total", ()),
        ("({} + {})", ("number", "number")),
        ("({} - {})", ("number", "number")),
        ("({} * {})", ("number", "number")),
        ("(-{})", ("number",)),
        ("(IF {} THEN {} ELSE {})", ("truth", "number", "number")),
        ("(CASE {} -> {} [] OTHER -> {})", ("truth", "number", "number")),
        ("{}[{}]", ("counts", "node")),
        ("{}.side", ("square",)),
        ("<<{}, {}>>[2]", ("text", "number")),
        ("[x \\in {{{}}} |-> {}][{}]", ("number", "x:number:number", "number")),
        ("(LET z == {} IN [x \\in {{z}} |-> {}][z])", ("number", "x:number:number")),
        ("[kind |-> {}, side |-> {}].side", ("text", "number")),
        ("(CHOOSE x \\in {} : {})", ("numbers", "x:number:truth")),
        ("{}[{}]", ("bag", "square")),
        # Two squares are rarely the same: TLC mostly stops at the form above.
        ("(LET s == {} IN (s :> {})[s])", ("square", "number")),
        ("(LET s == {} IN ((s :> {}) @@ {})[s])", ("square", "number", "bag")),
        ("(LET s == {} IN ((s :> {}) @@ (s :> {}))[s])", ("square", "number", "number")),
        (f"{SIDES_IN_EACH_OTHER}.side", ("square", "square")),
        ("{}.in.deep", ("box",)),
    ),
    "text": (
        *((one, ()) for one in TEXTS),
        ("colour", ()),
        ("{}.kind", ("square",)),
        ("{}.kind", ("shape",)),
        ("(IF {} THEN {} ELSE {})", ("truth", "text", "text")),
    ),
    "node": (("(CHOOSE n \\in Node : TRUE)", ()),),
    "numbers": (
        ("{{}}", ()),
        ("{{{}}}", ("number",)),
        ("{{{}, {}}}", ("number", "number")),
        ("(0 .. 2)", ()),
        ("({} .. {})", ("number", "number")),
        ("({} \\cup {})", ("numbers", "numbers")),
        ("({} \\cap {})", ("numbers", "numbers")),
        ("({} \\ {})", ("numbers", "numbers")),
        ("{{x \\in {} : {}}}", ("numbers", "x:number:truth")),
        ("{{{} : x \\in {}}}", ("x:number:number", "numbers")),
        ("{{{}[n] : n \\in {}}}", ("counts", "nodes")),
        ("numbers", ()),
    ),
    "nodes": (
        ("{{}}", ()),
        ("Node", ()),
        ("members", ()),
        ("({} \\cup {})", ("nodes", "nodes")),
        ("({} \\cap {})", ("nodes", "nodes")),
        ("({} \\ {})", ("nodes", "nodes")),
        ("{{n \\in {} : {}}}", ("nodes", "n:node:truth")),
    ),
    "counts": (
        ("count", ()),
        ("[n \\in Node |-> {}]", ("n:node:number",)),
        ("[{} EXCEPT ![{}] = {}]", ("counts", "node", "number")),
        ("[{} EXCEPT ![{}] = @ + {}]", ("counts", "node", "number")),
        ("[{} EXCEPT ![{}] = @ + [{} EXCEPT ![{}] = @ - {}][{}]]", NESTED),
        ("[{} EXCEPT ![{}] = [{} EXCEPT ![{}] = @ - {}][{}] - @]", NESTED),
        ("[{} EXCEPT ![{}] = LET z == @ + 1 IN [{} EXCEPT ![{}] = z + {}][{}]]", NESTED),
        ("[{} EXCEPT ![{}] = LET z == @ y == z - 1 IN [{} EXCEPT ![{}] = y - @ + {}][{}]]", NESTED),
        ("(IF {} THEN {} ELSE {})", ("truth", "counts", "counts")),
    ),
    "square": (
        *((one, ()) for one in SQUARES),
        ("[kind |-> {}, side |-> {}]", ("text", "number")),
        ("[{} EXCEPT !.side = {}]", ("square", "number")),
        ("[{} EXCEPT !.side = @ + 1]", ("square",)),
        (SIDES_IN_EACH_OTHER, ("square", "square")),
        ("(IF {} THEN {} ELSE {})", ("truth", "square", "square")),
    ),
    "shape": (
        ("None", ()),
        ("shape", ()),
        ("{}", ("square",)),
        ("[kind |-> {}, radius |-> {}, filled |-> {}]", ("text", "number", "truth")),
        ("(IF {} THEN {} ELSE {})", ("truth", "shape", "shape")),
    ),
    "box": (
        ("box", ()),
        ("[in |-> [deep |-> {}], wide |-> {}]", ("number", "truth")),
        ("[{} EXCEPT !.in.deep = {}]", ("box", "number")),
        ("[{} EXCEPT !.in.deep = @ + {}, !.wide = ~@]", ("box", "number")),
        ("[{} EXCEPT !.in = [@ EXCEPT !.deep = @ + 1]]", ("box",)),
        ("(IF {} THEN {} ELSE {})", ("truth", "box", "box")),
    ),
    "marks": (
        ("marked", ()),
        ("[b \\in BOOLEAN |-> {}]", ("b:truth:truth",)),
        ("[{} EXCEPT ![{}] = ~@]", ("marks", "truth")),
        ("[{} EXCEPT ![{}] = {}]", ("marks", "truth", "truth")),
    ),
    "words": (
        ("words", ()),
        ("{{}}", ()),
        ("{{{}}}", ("text",)),
        ("({} \\cup {})", ("words", "words")),
        ("({} \\ {})", ("words", "words")),
    ),
    "levels": (
        ("nested", ()),
        ("[n \\in {{None}} |-> {}]", ("level",)),
        ("(IF {} THEN {} ELSE {})", ("truth", "levels", "levels")),
    ),
    "level": (
        ("nested[None]", ()),
        ("[n \\in {{None}} |-> {}]", ("number",)),
        ("[n \\in {{}} |-> 0]", ()),
    ),
    "bag": (
        ("bag", ()),
        ("<< >>", ()),
        ("({} :> {})", ("square", "number")),
        ("({} @@ {})", ("bag", "bag")),
        ("[s \\in DOMAIN bag |-> bag[s] + 1]", ()),
        ("(IF {} THEN {} ELSE {})", ("truth", "bag", "bag")),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Drawer:
    """Draws expressions; a form that an ``only`` word is in is taken where one can be."""

    pick: Pick
    only: str | None = None
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def expression(self, kind: str, depth: int) -> str:
        """Return an expression of a kind, with at most ``depth`` forms in each other."""
        forms = FORMS[kind]
        if depth <= 0:
            forms = tuple(form for form in forms if not form[1]) or forms[:1]
        elif self.only is not None and self.pick((True, True, False)):
            forms = tuple(form for form in forms if self.only in form[0]) or forms
        named = self.names.get(kind, ())
        if named and self.pick((True, False)):
            return str(self.pick(named))
        template, parts = self.pick(forms)
        # SANY refuses a name that is bound twice, one inside the other.
        at = next(self.numbers)
        text = _BOUND.sub(rf"\g<1>{at}", template)
        return str(text).format(*(self._part(part, depth - 1, at) for part in parts))

    def _part(self, part: str, depth: int, at: int) -> str:
        if ":" not in part:
            return self.expression(part, depth)
        bound, kind, inner = part.split(":")
        more = tuple(f"{name}{at}" for name in bound.split(","))
        names = {**self.names, kind: (*self.names.get(kind, ()), *more)}
        return Drawer(self.pick, self.only, names, self.numbers).expression(inner, depth)
