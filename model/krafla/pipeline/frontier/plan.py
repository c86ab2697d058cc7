"""What a task must know to step a model: texts, names and samples, without any path.

A task has no disk in common with the driver, so it gets the text of every module. It must also
number strings as every other task does, or equal states would have different fingerprints
(`krafla.oracle.state_bytes`).
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from krafla.oracle.digest import spec_files
from krafla.oracle.jvm import TlcClasses
from krafla.oracle.state_bytes import Names, StateBytes
from krafla.scratch import lasting_folder
from krafla.testing import EvaluationError, Spec, SpecError
from krafla.tlc.comments import without_comments
from krafla.tlc.config import read_config

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.manifest import Model
    from krafla.testing import State

__all__ = ["Plan", "loaded", "plan_of"]

# How many states a walk visits for the dictionary, and how many of them are samples.
_WALK = 64
_SAMPLES = 16
_CHANCE: Final = re.compile(r"\bRandom(Element|Subset\w*|SetOfSubsets)\b")


@dataclass(frozen=True)
class Plan:
    """One model by its content; equal digests mean the same search.

    ``modules`` has the text of each module by name, ``witnesses`` the state predicates to look out
    for. ``dictionary`` compresses states. ``samples`` are states as bytes with their fingerprints:
    a process that does not find the same ones must not take part.
    """

    model: str
    module: str
    modules: dict[str, str]
    config: str
    witnesses: tuple[str, ...]
    strings: tuple[str, ...]
    model_values: tuple[str, ...]
    dictionary: str
    samples: tuple[tuple[str, int], ...]

    @cached_property
    def packed(self) -> bytes:
        """Return the plan as bytes, for tasks."""
        return zlib.compress(json.dumps(asdict(self), sort_keys=True).encode())

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of all that decides what is found, the names and samples included."""
        return hashlib.sha256(zlib.decompress(self.packed)).hexdigest()

    @classmethod
    def unpacked(cls, packed: bytes) -> Plan:
        """Return the plan that these bytes stand for."""
        content: dict[str, Any] = json.loads(zlib.decompress(packed))
        for name in ("witnesses", "strings", "model_values"):
            content[name] = tuple(content[name])
        content["samples"] = tuple(
            (state, fingerprint) for state, fingerprint in content["samples"]
        )
        return cls(**content)

    @property
    def names(self) -> Names:
        """Return the numbering of strings and model values."""
        return Names(self.strings, self.model_values)

    def codec(self, spec: Spec) -> StateBytes:
        """Return what turns states of the loaded spec into bytes and back."""
        return StateBytes(spec, base64.b64decode(self.dictionary))


def plan_of(model: Model) -> tuple[Plan, Spec]:
    """Return the plan of a model, and its spec loaded in this process.

    ``KraflaError`` names a wrong line of the spec or its configuration, and refuses an operator
    that asks chance.
    """
    files = spec_files(model.module.stem, model.module)
    modules = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    for name, text in modules.items():
        if chance := _CHANCE.search(without_comments(text)):
            raise SpecError(
                f"{chance[0]} asks chance: a task that is repeated would find other states",
                str(files[name]),
            )
    spec = Spec.load(
        model.module.stem, path=model.module, cfg=model.config, search_path=model.search_path
    )
    walked = _walk(spec)
    if not walked:
        raise SpecError("no state is initial", f"model {model.name}")
    states = [state.java for state in walked]
    dictionary = StateBytes(spec).dictionary_of(states[-_SAMPLES:])
    packed = StateBytes(spec, dictionary).encode(states[:: max(1, len(states) // _SAMPLES)])
    names = Names.of(spec)
    with spec.reduced():
        prints = [int(java.fingerPrint()) for java in states[:: max(1, len(states) // _SAMPLES)]]
    plan = Plan(
        model.name,
        model.module.stem,
        modules,
        read_config(model.config).text,
        model.witnesses,
        names.strings,
        names.model_values,
        base64.b64encode(dictionary).decode(),
        tuple(
            (base64.b64encode(one).decode(), fingerprint)
            for one, fingerprint in zip(packed, prints, strict=True)
        ),
    )
    return plan, spec


def _walk(spec: Spec) -> list[State]:
    """Return states of one behaviour, the same in every process."""
    found = spec.initial_states()[:1]
    try:
        while found and len(found) < _WALK:
            steps = [after for _, _, after in spec.successors(found[-1]) if after != found[-1]]
            if not steps:
                break
            found.append(steps[(7 * len(found)) % len(steps)])
    except EvaluationError:
        # The search will come to it, and say so with its place.
        pass
    return found


def loaded(plan: Plan) -> Spec:
    """Return the spec of a plan, loaded from its texts; its fingerprints are the plan's.

    ``SpecError`` if they are not.
    """
    folder = lasting_folder("frontier")
    for name, text in plan.modules.items():
        (folder / f"{name}.tla").write_text(text, encoding="utf-8")
    config = folder / f"{plan.module}.cfg"
    config.write_text(plan.config, encoding="utf-8")
    spec = _load(plan, folder, config)
    plan.names.check(spec)
    codec = plan.codec(spec)
    with spec.reduced():
        for text, fingerprint in plan.samples:
            (java,) = codec.decode([base64.b64decode(text)])
            if int(java.fingerPrint()) != fingerprint:
                raise SpecError(f"{plan.model}: two processes give a state two fingerprints")
    return spec


def _load(plan: Plan, folder: Path, config: Path) -> Spec:
    return Spec.load(
        plan.module,
        path=folder / f"{plan.module}.tla",
        cfg=config,
        search_path=[folder],
        classes=plan.names.given_to(TlcClasses()),
    )
