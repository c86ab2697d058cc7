"""Random modules with claims, some true and some false, that z3 and TLC are both asked about."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.krafla.proofs.random_expressions import FORMS, NUMBERS, TEXTS, Drawer

from krafla.values import ModelValue, record

if TYPE_CHECKING:
    from tests.krafla.proofs.random_expressions import Pick

    from krafla.values import Value

# The variables, their types, and values that are known where nothing else is.
VARIABLES = {
    "total": ("Int", ("0", "2")),
    "yes": ("BOOLEAN", ("TRUE", "FALSE")),
    "colour": ('{"red", "green"}', TEXTS),
    "members": ("SUBSET Node", ("{}", "Node")),
    "shape": ("Shape \\cup {None}", ("None", '[kind |-> "green", side |-> 1]')),
    "held": ("Square", ('[kind |-> "red", side |-> 0]', '[kind |-> "green", side |-> 2]')),
    "count": ("[Node -> Int]", ("[n \\in Node |-> 0]", "[n \\in Node |-> 2]")),
    "marked": ("[BOOLEAN -> BOOLEAN]", ("[b \\in BOOLEAN |-> b]", "[b \\in BOOLEAN |-> TRUE]")),
    "numbers": ("SUBSET Int", ("{}", "{0, 2}")),
    "words": ("SUBSET STRING", ("{}", '{"red"}')),
    "box": (
        "[in : [deep : Int], wide : BOOLEAN]",
        (
            "[in |-> [deep |-> 0], wide |-> TRUE]",
            "[in |-> [deep |-> 2], wide |-> FALSE]",
        ),
    ),
    "nested": (
        "[{None} -> [{None} -> Int] \\cup [{} -> Int]]",
        (
            "[n \\in {None} |-> [m \\in {None} |-> 0]]",
            "[n \\in {None} |-> [m \\in {} |-> 0]]",
        ),
    ),
    "bag": (None, ("<< >>", '([kind |-> "red", side |-> 0] :> 2)')),
}
RESULTS = {
    "truth": ("BOOLEAN", ("TRUE", "FALSE")),
    "number": ("Int", NUMBERS),
    "text": ('{"red", "green"}', TEXTS),
}
HEAD = """---- MODULE {name} ----
EXTENDS Integers, FiniteSets, TLC
CONSTANTS Node, None
ASSUME Node # {{}}
VARIABLES {variables}
vars == <<{variables}>>
Square == [kind : {{"red", "green"}}, side : Int]
Shape == Square \\cup [kind : {{"red", "green"}}, radius : Int, filled : BOOLEAN]
ASSUME None \\notin {assumed}
IsBag(b, S) == DOMAIN b \\subseteq S /\\ \\A s \\in DOMAIN b : b[s] \\in Int
TypeOK ==
{types}
"""


# What is assumed of None, and what None may then be. In a module without `shape` and `held`, the
# types do not ask for more.
_RED = '[kind : {"red"}, side : Int]'
ASSUMED: tuple[tuple[str, Value], ...] = (
    ("Shape", ModelValue("None")),
    (_RED, record(kind="green", side=1)),
    ('[kind : {"green"}, side : 0 .. 1]', record(kind="red", side=0)),
    (f"{_RED} \\cup [kind : {{}}, side : Int]", record(kind="green", side=2)),
)


@dataclass(frozen=True)
class RandomModule:
    """The text of a module, the names of the claims in it, and a value for None."""

    name: str
    text: str
    claims: tuple[str, ...]
    none: Value = ASSUMED[0][1]


def _types(variables: dict[str, str | None]) -> str:
    lines = [
        f"  /\\ IsBag({name}, Square)" if type_ is None else f"  /\\ {name} \\in {type_}"
        for name, type_ in variables.items()
    ]
    return "\n".join(lines)


def _head(name: str, types: dict[str, str | None], assumed: str) -> str:
    return HEAD.format(name=name, variables=", ".join(types), types=_types(types), assumed=assumed)


def evaluating(pick: Pick, name: str, *, only: str | None = None, depth: int = 3) -> RandomModule:
    """Return a module whose one step assigns expressions over known values.

    Each claim says of one variable that it has its first value or another one. In the end only the
    claim with the expression's value is true. With ``only``, expressions are of kinds that can have
    that word in them, and mostly have it.
    """
    apt = [kind for kind in RESULTS if only and any(only in form for form, _ in FORMS[kind])]
    kinds = [pick(tuple(apt or RESULTS)) for _ in range(3)]
    results = {f"result{at}": kind for at, kind in enumerate(kinds, start=1)}
    known = {one: pick(values) for one, (_, values) in VARIABLES.items()}
    types: dict[str, str | None] = {one: type_ for one, (type_, _) in VARIABLES.items()}
    types |= {one: RESULTS[kind][0] for one, kind in results.items()}
    first = {one: pick(RESULTS[kind][1]) for one, kind in results.items()}
    lines = [_head(name, types, ASSUMED[0][0])]
    lines.append("KnownInv ==")
    lines += [f"  /\\ {one} = {value}" for one, value in known.items()]
    lines.append("Init ==\n  /\\ KnownInv")
    lines += [f"  /\\ {one} = {value}" for one, value in first.items()]
    lines.append("Evaluate ==")
    for one, kind in results.items():
        lines.append(f"  /\\ \\/ {one}' = {Drawer(pick, only).expression(kind, depth)}")
        lines.append(f"     \\/ FALSE /\\ {one}' = {first[one]}")
    lines.append(f"  /\\ UNCHANGED <<{', '.join(VARIABLES)}>>")
    lines.append("Next == Evaluate\nSpec == Init /\\ [][Next]_vars")
    claims = []
    for one, kind in results.items():
        for at, value in enumerate(RESULTS[kind][1]):
            claims.append(f"{one.capitalize()}Is{at}Inv")
            lines.append(f"{claims[-1]} == {one} \\in {{{first[one]}, {value}}}")
    return RandomModule(name, "\n".join([*lines, "===="]) + "\n", tuple(claims))


def stepping(pick: Pick, name: str, *, depth: int = 2) -> RandomModule:
    """Return a module of several actions with guards, parameters and values of any kind.

    Some values leave their variable's type, some sets are smaller than the type, and Next takes
    actions more than once. None may be a record that no ASSUME puts it outside of.
    """
    chosen = sorted({pick(tuple(VARIABLES)) for _ in range(3)} | {"total"})
    types = {one: VARIABLES[one][0] for one in chosen}
    assumed, none = pick(ASSUMED) if "shape" not in chosen else ASSUMED[0]
    lines = [_head(name, types, assumed)]
    draw = _Stepping(pick, tuple(chosen), depth)
    lines.append("Init ==")
    lines += [f"  /\\ {draw.start(one)}" for one in chosen]
    actions = ("First", "Second")
    for action in actions:
        lines.append(f"{action}(p) ==")
        lines += [f"  /\\ {part}" for part in draw.action()]
    uses = [
        f"\\E p \\in {pick(('{0}', '{1, 2}', '{-1}', '0 .. 2'))} : {action}(p)"
        for action in (*actions, *(pick((actions, ()))))
    ]
    lines.append("Next == " + " \\/ ".join(f"({use})" for use in uses))
    lines.append("Spec == Init /\\ [][Next]_vars")
    claims = []
    for at in range(6):
        claims.append(f"Claim{at}Inv")
        lines.append(f"{claims[-1]} == {draw.claim()}")
    return RandomModule(name, "\n".join([*lines, "===="]) + "\n", tuple(claims), none)


_KINDS = {
    "total": "number", "yes": "truth", "colour": "text", "members": "nodes", "shape": "shape",
    "held": "shape", "count": "counts", "bag": "bag", "marked": "marks", "numbers": "numbers",
    "words": "words", "box": "box", "nested": "levels",
}  # fmt: skip
_UNKNOWN = re.compile(
    r"\b(total|yes|colour|members|shape|held|count|bag|marked|numbers|words|box|nested)\b"
)


@dataclass(frozen=True)
class _Stepping:
    pick: Pick
    chosen: tuple[str, ...]
    depth: int

    def _over_chosen(self, kind: str, depth: int, **names: tuple[str, ...]) -> str:
        """Return an expression that uses the module's own variables only."""
        text = Drawer(self.pick, names=names).expression(kind, depth)
        return _UNKNOWN.sub(
            lambda found: found[0] if found[0] in self.chosen else VARIABLES[found[0]][1][0], text
        )

    def start(self, name: str) -> str:
        values = VARIABLES[name][1]
        if self.pick((True, True, True, False)):
            return f"{name} = {self.pick(values)}"
        other = self.pick(("None", values[1])) if name in ("shape", "held") else values[1]
        return f"{name} \\in {{{values[0]}, {other}}}"

    def action(self) -> list[str]:
        parts = []
        if self.pick((True, False)):
            parts.append(self._over_chosen("truth", self.depth, number=("p",)))
        return [*parts, *map(self._assignment, self.chosen)]

    def _assignment(self, name: str) -> str:
        how = self.pick(("same", "value", "value", "branches", "member", "if", "narrow"))
        if how == "same":
            return f"UNCHANGED {name}"
        value = self._value(name)
        if how == "branches":
            return f"({name}' = {value} \\/ {name}' = {self._value(name)})"
        if how == "member":
            return f"{name}' \\in {{{value}, {self._value(name)}}}"
        if how == "if":
            guard = self._over_chosen("truth", 1, number=("p",))
            return f"IF {guard} THEN {name}' = {value} ELSE UNCHANGED {name}"
        if how == "narrow" and name == "count":
            return f"count' = [n \\in {self._over_chosen('nodes', 1)} |-> {self.pick(NUMBERS)}]"
        return f"{name}' = {value}"

    def _value(self, name: str) -> str:
        return self._over_chosen(_KINDS[name], self.depth, number=("p",))

    def claim(self) -> str:
        if "total" in self.chosen and self.pick((True, False)):
            return f"total {self.pick(('>=', '<=', '#'))} {self.pick((*NUMBERS, '-2', '5'))}"
        # TLC refuses a claim about no variable.
        return f"total = total /\\ {self._over_chosen('truth', self.depth)}"
