"""Which models a run of ``krafla check`` is about: by name, by room or tag, by tier."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import typer

from krafla.manifest import TIERS, meant
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.manifest import Manifest, Model

__all__ = ["ALL", "Selection"]

ALL = "all"


@dataclass(frozen=True, slots=True)
class Selection:
    """The selection of models: names or patterns (``MCKRaft*``), tags or rooms, a tier.

    A model is chosen if a name fits it, if it has one of the tags, and if it is of the tier.
    Without names the tier is ``smoke`` unless another is given.
    """

    names: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    tier: str | None = None

    def models(self, manifest: Manifest) -> tuple[Model, ...]:
        """Return the models in the order of the names, else of the manifest.

        ``KraflaError`` for a name or a tag that no model has, with the nearest ones.
        """
        if self.tier not in {None, ALL, *TIERS}:
            raise typer.BadParameter(f"--tier is one of {', '.join(TIERS)}, all; not {self.tier!r}")
        named = self._named(manifest)
        for tag in self.tags:
            known = {one for model in manifest.models for one in words_of(model)}
            if tag not in known:
                raise KraflaError(f"no room or tag {tag!r}{meant(tag, known)}", str(manifest.path))
        tagged = [one for one in named if not self.tags or {*self.tags} & words_of(one)]
        chosen = tuple(one for one in tagged if self.tiers is None or one.tier in self.tiers)
        if not chosen:
            raise KraflaError(self._nothing(), str(manifest.path))
        return chosen

    @property
    def tiers(self) -> tuple[str, ...] | None:
        """Return the selected tiers, ``None`` for all of them."""
        if self.tier == ALL or (self.tier is None and self.names):
            return None
        return (self.tier or TIERS[0],)

    def _named(self, manifest: Manifest) -> tuple[Model, ...]:
        if not self.names:
            return manifest.models
        chosen: dict[str, Model] = {}
        for name in self.names:
            if any(one in name for one in "*?["):
                fitting = [one for one in manifest.models if fnmatchcase(one.name, name)]
                if not fitting:
                    raise KraflaError(f"no model matches {name!r}", str(manifest.path))
            else:
                fitting = [*manifest.select((name,))]
            chosen |= {one.name: one for one in fitting}
        return tuple(chosen.values())

    def _nothing(self) -> str:
        tier = "" if self.tiers is None else f" of tier {', '.join(self.tiers)}"
        what = f" called {', '.join(self.names)}" if self.names else ""
        what += f" with tag {' or '.join(self.tags)}" if self.tags else ""
        return f"no model{tier}{what}"


def words_of(model: Model) -> frozenset[str]:
    """Return the words by which ``--tag`` selects a model: its room, tags, spec and kind."""
    room = {model.room} if model.room else set()
    return frozenset({*room, *model.tags, model.spec, model.kind})
