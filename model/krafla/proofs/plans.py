"""Reading ``specs/proofs.toml``: the proofs, their modules and their conditions."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from krafla.files import unread
from krafla.proofs.types import TYPE_INVARIANT
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

__all__ = ["PLANS_NAME", "Proof", "load_plans", "shows_that_it_is_defined", "trial_plan"]

PLANS_NAME = "proofs.toml"
_REQUIRED = ("name", "of", "module", "what", "invariant")
_LISTS = ("after", "conditions", "step_conditions", "any_parameters", "implies", "steps")


@dataclass(frozen=True, slots=True)
class Proof:
    """One proof: invariants to show inductive together, and the properties that follow from them.

    ``implies`` names properties of states, ``steps`` properties of steps. ``conditions`` (over
    constants) and ``step_conditions`` (over a step) are operators that are assumed. ``after`` names
    the proofs whose invariants are assumed too. Actions in ``any_parameters`` may have any
    parameters, not only those from Next. ``never`` gives each action that the conditions rule out,
    with the reason. If ``is_refuted``, the proof must fail by a behaviour of the spec. If
    ``is_defined``, it also shows that everything an action evaluates has a meaning.
    """

    name: str
    of: str
    module: Path
    what: str
    invariants: tuple[str, ...]
    after: tuple[str, ...]
    conditions: tuple[str, ...]
    step_conditions: tuple[str, ...]
    any_parameters: tuple[str, ...]
    implies: tuple[str, ...]
    steps: tuple[str, ...]
    never: tuple[tuple[str, str], ...]
    is_refuted: bool
    is_defined: bool
    place: str


def load_plans(specs: Path, of: str | None = None) -> tuple[Proof, ...]:
    """Return the proofs of a folder of specs, or those ``of`` one subject, in the file's order.

    ``KraflaError`` names the line and the error.
    """
    path = specs / PLANS_NAME
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise KraflaError(f"not TOML: {error}", str(path)) from error
    except UnicodeDecodeError as error:
        raise KraflaError("not UTF-8 text", f"{path}, byte {error.start}") from error
    except OSError as error:
        raise unread(path, error) from error
    entries = data.get("proof", [])
    if sorted(data) != ["proof"] or not isinstance(entries, list):
        raise KraflaError("this file consists of [[proof]] tables, one at least", str(path))
    places = list(_places(path, text))
    if len(places) != len(entries):
        raise KraflaError("each proof starts with a line [[proof]]", str(path))
    proofs = tuple(
        _proof(specs, entry, place) for entry, place in zip(entries, places, strict=True)
    )
    _check_order(proofs)
    subjects = sorted({proof.of for proof in proofs})
    if of is not None and of not in subjects:
        raise KraflaError(f"nothing is to be proved of {of!r}, but of {', '.join(subjects)}")
    return tuple(proof for proof in proofs if of in (None, proof.of))


def _places(path: Path, text: str) -> Iterator[str]:
    for number, line in enumerate(text.splitlines(), start=1):
        if re.match(r"\s*\[\[\s*proof\s*\]\]", line):
            yield f"{path}:{number}"


def _proof(specs: Path, entry: dict[str, Any], place: str) -> Proof:
    known = {*_REQUIRED, *_LISTS, "never", "expect", "defined"}
    for key in entry:
        if key not in known:
            raise KraflaError(f"there is no key {key!r}; known: {', '.join(sorted(known))}", place)
    for key in _REQUIRED:
        if not isinstance(entry.get(key), str):
            raise KraflaError(f"the key {key!r} is missing, or no text", place)
    lists = {key: entry.get(key, []) for key in _LISTS}
    for key, value in lists.items():
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise KraflaError(f"{key!r} is a list of names, found {value!r}", place)
    never = entry.get("never", {})
    if not isinstance(never, dict) or not all(isinstance(why, str) for why in never.values()):
        raise KraflaError("'never' gives a reason for each action it names", place)
    if entry.get("expect", "proved") not in ("proved", "refuted"):
        raise KraflaError("'expect' is 'proved' (if nothing is said) or 'refuted'", place)
    if not isinstance(entry.get("defined", False), bool):
        raise KraflaError("'defined' is true or false", place)
    module = (specs / entry["module"]).resolve()
    if not module.is_file():
        raise KraflaError(f"there is no file {entry['module']}", place)
    return Proof(
        name=entry["name"], of=entry["of"], module=module, what=entry["what"],
        invariants=(entry["invariant"],), never=tuple(never.items()),
        is_refuted=entry.get("expect") == "refuted", is_defined=entry.get("defined", False),
        place=place,
        **{key: tuple(value) for key, value in lists.items()},
    )  # fmt: skip


def _check_order(proofs: Iterable[Proof]) -> None:
    earlier: dict[str, Proof] = {}
    for proof in proofs:
        if proof.name in earlier:
            raise KraflaError(f"proof {proof.name!r} stands also at {earlier[proof.name].place}",
                              proof.place)  # fmt: skip
        for name in proof.after:
            if name not in earlier:
                raise KraflaError(f"{proof.name!r} builds on {name!r}, no earlier proof",
                                  proof.place)  # fmt: skip
            before = earlier[name]
            if before.is_refuted:
                raise KraflaError(f"{proof.name!r} builds on {name!r}, which must fail",
                                  proof.place)  # fmt: skip
            if before.module != proof.module:
                raise KraflaError(
                    f"{proof.name!r} builds on {name!r}, which is about another module", proof.place
                )
            if not set(before.conditions) <= set(proof.conditions) or not set(
                before.step_conditions
            ) <= set(proof.step_conditions):
                raise KraflaError(
                    f"{proof.name!r} builds on {name!r} without its conditions", proof.place
                )
        earlier[proof.name] = proof
    for proof in proofs:
        if not any(shows_that_it_is_defined(other, proof) for other in proofs):
            raise KraflaError(
                "nothing shows that what its actions evaluate has a meaning: add defined = true, "
                "here or to a proof of this subject and module with no other conditions",
                proof.place,
            )  # fmt: skip


def shows_that_it_is_defined(other: Proof, proof: Proof) -> bool:
    """Return whether one proof shows that what the actions of another evaluate has a meaning.

    It is a proof of the same subject, since those are asked together.
    """
    return (
        other.is_defined
        and not other.is_refuted
        and other.of == proof.of
        and other.module == proof.module
        and set(other.conditions) <= set(proof.conditions)
        and set(other.step_conditions) <= set(proof.step_conditions)
    )


def trial_plan(module: Path, invariants: tuple[str, ...]) -> Proof:
    """Return the plan to show invariants of a module that no list of proofs names.

    ``TypeOK`` is shown with them: z3's types come from it.
    """
    return Proof(
        name=invariants[0], of=module.stem, module=module, is_refuted=False,
        what=f"{' and '.join(dict.fromkeys((*invariants, TYPE_INVARIANT)))}, proved together",
        invariants=tuple(dict.fromkeys((TYPE_INVARIANT, *invariants))), is_defined=True,
        place=str(module), never=(),
        **dict.fromkeys(_LISTS, ()),
    )  # fmt: skip
