"""Random behaviours of a spec, the same ones for the same seed."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from krafla.testing.setting import NamedTrace
from krafla.traces import Claim, ClaimKind, Origin, Step, Trace
from krafla.traces.trace import INITIAL
from krafla.values import sort_key
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krafla.oracle import Spec, State
    from krafla.testing.setting import Setting
    from krafla.values import Value

__all__ = ["RandomWalks", "random_walks", "walk"]


def random_walks(
    count: int, steps: int, seed: int | str = 0, *, rare_first: bool = False
) -> RandomWalks:
    """Return ``count`` random behaviours of at most ``steps`` steps, the same for the same seed.

    Each step is drawn from all that the spec allows, one as likely as another. With ``rare_first``
    its action is drawn first, the likelier the less often the walk took it; that reaches actions
    which few steps take. A walk ends early only where no step is left, or only steps that leave the
    CONSTRAINT of the cfg.
    """
    if count < 1 or steps < 1:
        raise KraflaError("random_walks needs at least one walk of at least one step")
    return RandomWalks(count, steps, seed, rare_first)


@dataclass(frozen=True, slots=True)
class RandomWalks:
    """Random behaviours; ``random_walks`` makes it."""

    count: int
    steps: int
    seed: int | str
    rare_first: bool

    def cases(self, setting: Setting) -> Sequence[NamedTrace]:
        """Return one case for each walk; the spec is not needed to name them."""
        return [
            NamedTrace(f"walk {n}", partial(self._walk, setting, n))
            for n in range(1, self.count + 1)
        ]

    def _walk(self, setting: Setting, number: int) -> Trace:
        seed = f"{self.seed}/{number}"
        return walk(setting.spec, self.steps, seed, rare_first=self.rare_first)


def walk(spec: Spec, steps: int, seed: str, *, rare_first: bool = False) -> Trace:
    """Return one random behaviour; ``KraflaError`` if the spec has no initial state."""
    chance = random.Random(seed)  # noqa: S311 - draws tests, guards nothing
    beginnings = [one for one in spec.initial_states() if spec.in_model(one)]
    if not beginnings:
        raise KraflaError("no state is initial and within the bounds", spec.name)
    state = chance.choice(sorted(beginnings, key=_key))
    taken = [Step(INITIAL, (), state.as_function())]
    places = {one.name: f"{one.place.module}:{one.place.line}" for one in spec.actions}
    counts: Counter[str] = Counter()
    for _ in range(steps):
        ways = _ways(spec, state)
        if not ways:
            break
        if rare_first:
            names = list(dict.fromkeys(name for name, _, _ in ways))
            (name,) = chance.choices(names, [1 / (1 + counts[one]) ** 2 for one in names])
            ways = [one for one in ways if one[0] == name]
        name, parameters, state = chance.choice(ways)
        counts[name] += 1
        taken.append(Step(name, parameters, state.as_function(), places[name]))
    return Trace(
        spec.name, tuple(taken), spec.constants_of(spec.name), Claim(ClaimKind.BEHAVIOUR),
        origin=Origin("oracle", seed=seed),
    )  # fmt: skip


def _ways(spec: Spec, state: State) -> list[tuple[str, tuple[Value, ...], State]]:
    """Return the steps from a state within the bounds, in an order that no hash decides."""
    allowed = spec.tool.isInActions
    inside = [
        one
        for one in spec.successors(state)
        if spec.in_model(one[2]) and spec.asked(allowed, state.java, one[2].java)
    ]
    # TLC's order of strings depends on what its classes have seen before.
    order = {one.name: number for number, one in enumerate(spec.actions)}
    keyed = [((order[one[0]], *map(sort_key, one[1])), one) for one in inside]
    if len({key for key, _ in keyed}) < len(keyed):
        keyed = [((*key, _key(one[2])), one) for key, one in keyed]
    return [one for _, one in sorted(keyed, key=lambda pair: pair[0])]


def _key(state: State) -> tuple[object, ...]:
    return tuple(sort_key(state[name]) for name in state)
