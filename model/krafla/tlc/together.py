"""What the models of a tier must show together, and no single one can.

Each model may leave actions out, with its reason. The models that held must together take every
action of a spec. And every claim of a room must be checked by a model or a proof.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krafla.project.tree import Tree
from krafla.tlc.comments import without_comments
from krafla.tlc.config import read_config
from krafla.tlc.next_actions import actions_of
from krafla.tlc.outcome import Finished
from krafla.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from krafla.manifest import Manifest, Model
    from krafla.tlc.model_check import Check
    from krafla.tlc.run import ActionCoverage

__all__ = ["Shown", "SpecTotal", "manifest_doubts", "spec_totals"]

_DEFINITION = re.compile(r"^(?P<name>[A-Za-z]\w*)(?P<formals>\([^=]*?\))?[ \t]*==", re.MULTILINE)
_CLAIM = re.compile(r"\w+(?:Inv|Prop|Live|Reach)")
_PROOFS_NAME = "proofs.toml"


@dataclass(frozen=True, slots=True)
class SpecTotal:
    """What the models of one spec showed together: the actions of its Next, and the witnesses.

    ``taken`` and ``reached`` are those of models that held. ``lent`` are actions that no model of
    this spec took, but a model of another spec with the same definition, such as the base that
    this one extends.
    """

    spec: str
    actions: tuple[str, ...]
    taken: frozenset[str]
    witnesses: tuple[str, ...]
    reached: frozenset[str]
    lent: frozenset[str] = frozenset()

    @property
    def missed_actions(self) -> tuple[str, ...]:
        """Return the actions that no model took."""
        return tuple(name for name in self.actions if name not in self.taken | self.lent)

    @property
    def missed_witnesses(self) -> tuple[str, ...]:
        """Return the witnesses that no model reached."""
        return tuple(name for name in self.witnesses if name not in self.reached)

    @property
    def is_whole(self) -> bool:
        """Return whether every action was taken and every witness reached."""
        return not self.missed_actions and not self.missed_witnesses

    def __str__(self) -> str:
        taken = len(self.actions) - len(self.missed_actions)
        text = f"{self.spec}: {taken} of {len(self.actions)} actions taken"
        if self.lent:
            text += f" ({len(self.lent)} only in models of specs that share them)"
        if self.witnesses:
            reached = len(self.witnesses) - len(self.missed_witnesses)
            text += f", {reached} of {len(self.witnesses)} witnesses reached"
        return text

    def doubts(self) -> tuple[str, ...]:
        """Return a sentence for each kind of thing that is missing."""
        found = []
        if self.missed_actions:
            found.append(f"taken in no model that held: {', '.join(self.missed_actions)}")
        if self.missed_witnesses:
            found.append(f"reached in no model that held: {', '.join(self.missed_witnesses)}")
        return tuple(f"{self.spec}: {what}" for what in found)


@dataclass(frozen=True, slots=True)
class Shown:
    """The actions that a model that held took, and the witnesses that it reached."""

    model: Model
    taken: frozenset[str]
    reached: frozenset[str]

    @classmethod
    def by(cls, check: Check) -> Shown | None:
        """Return what a check shows; None if its model did not hold, or was not searched whole."""
        outcome = check.result.outcome
        whole = isinstance(outcome, Finished) and not outcome.simulated
        if not whole or check.verdict is not Verdict.HELD or check.model.expect != "holds":
            return None
        return cls.in_search(check.model, check.result.coverage or (), check.result.reached)

    @classmethod
    def in_search(
        cls, model: Model, actions: Iterable[ActionCoverage], reached: Iterable[str]
    ) -> Shown:
        """Return what a search shows; of an action also the name of what the cfg replaces by it."""
        names = {one.name for one in actions if one.taken}
        # TLC tells an action of an instance with the instance: Raft!Timeout.
        taken = names | {name.rpartition("!")[2] for name in names}
        stand_ins = read_config(model.config).replacements
        taken |= {name for name, other in stand_ins if other in taken}
        return cls(model, frozenset(taken), frozenset(reached))


def spec_totals(models: Sequence[Model], shown: Iterable[Shown]) -> tuple[SpecTotal, ...]:
    """Return the total of each spec over what ``models`` have shown, in the models' order.

    A spec without a model that is searched whole has none. ``KraflaError`` if the module of a spec
    cannot be read.
    """
    searched = [one for one in models if one.expect == "holds" and one.kind != "simulation"]
    held = tuple(shown)
    specs = dict.fromkeys(one.spec for one in searched)
    actions = {
        spec: actions_of(next(one for one in searched if one.spec == spec)) for spec in specs
    }
    taken = {
        spec: frozenset(name for one in held if one.model.spec == spec for name in one.taken)
        for spec in specs
    }
    shared = {one for spec in specs for one in actions[spec] if one.name in taken[spec]}
    return tuple(
        SpecTotal(
            spec,
            tuple(one.name for one in actions[spec]),
            taken[spec],
            tuple(sorted({name for one in searched if one.spec == spec for name in one.witnesses})),
            frozenset(n for one in held if one.model.spec == spec for n in one.reached),
            frozenset(
                one.name for one in actions[spec] if one in shared and one.name not in taken[spec]
            ),
        )
        for spec in specs
    )


def manifest_doubts(manifest: Manifest, rooms: Collection[str] | None = None) -> tuple[str, ...]:
    """Return the cfg files and claims of the rooms that no model asks about.

    A claim is a definition that ends in Inv, Prop, Live or Reach. It is asked about if a cfg or a
    list of witnesses names it, if a proof does, or if another claim that is asked about uses it.
    """
    folder = manifest.path.parent
    chosen = [
        one
        for one in Tree(folder).rooms()
        if rooms is None or str(one.relative_to(folder)) in rooms
    ]
    doubts = [
        f"{path.relative_to(folder)} is in no [[model]] of the manifest"
        for path in manifest.unlisted
        if rooms is None or any(_belongs(path, folder, one) for one in chosen)
    ]
    asked = _asked(manifest)
    for room in chosen:
        bodies = {
            path: definitions(path.read_text(encoding="utf-8", errors="replace"))
            for path in sorted(room.glob("*.tla"))
        }
        known = _closure(asked, [one for found in bodies.values() for one in found.items()])
        doubts += [
            f"{path.relative_to(folder)}: no model asks about {name}"
            for path, found in bodies.items()
            for name in found
            if _CLAIM.fullmatch(name) and name not in known
        ]
    return tuple(doubts)


def _belongs(path: Path, folder: Path, room: Path) -> bool:
    name = room.relative_to(folder)
    return path.is_relative_to(room) or path.is_relative_to(folder / "broken" / name)


def _asked(manifest: Manifest) -> set[str]:
    asked = {name for model in manifest.models for name in model.witnesses}
    for model in manifest.models:
        config = read_config(model.config)
        asked |= {*config.invariants, *config.properties}
    proofs = manifest.path.parent / _PROOFS_NAME
    if proofs.is_file():
        asked |= set(re.findall(r"\w+", proofs.read_text(encoding="utf-8")))
    return asked


def definitions(text: str) -> dict[str, str]:
    """Return the operators without parameters that a module defines, with their bodies."""
    plain = without_comments(text)
    heads = list(_DEFINITION.finditer(plain))
    ends = [head.start() for head in heads[1:]] + [len(plain)] * bool(heads)
    return {
        head["name"]: plain[head.end() : end]
        for head, end in zip(heads, ends, strict=True)
        if head["formals"] is None
    }


def _closure(asked: set[str], bodies: Sequence[tuple[str, str]]) -> set[str]:
    """Return the names asked about, and those that their definitions use, and so on."""
    uses: dict[str, set[str]] = {}
    for name, body in bodies:
        uses.setdefault(name, set()).update(re.findall(r"\w+", body))
    known, waiting = set(asked), [*asked]
    while waiting:
        more = {one for one in uses.get(waiting.pop(), ()) if one in uses and one not in known}
        known |= more
        waiting += more
    return known
