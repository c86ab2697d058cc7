"""Where the spec comes from that judges a trace: the specs at hand, or the text in the trace.

A trace carries the text of its spec if that was not a shipped one. If the specs at hand have the
same text, they judge it; otherwise the trace's own text does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from krafla.manifest import meant
from krafla.oracle import Spec, SpecError
from krafla.oracle.digest import spec_digest, spec_files
from krafla.oracle.loader import find_module
from krafla.project.at_hand import at_hand, installed_specs, known_projects, projects_about
from krafla.scratch import lasting_folder
from krafla.shipped import is_shipped
from krafla.traces import SpecText
from krafla.traces.spec_facts import facts_of
from krafla.values import same
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from pathlib import Path

    from krafla.manifest import Model
    from krafla.traces import PartialTrace, Trace

__all__ = [
    *("SpecSource", "by_specs_at_hand", "configured", "has_other_text_at_hand", "is_at_hand"),
    *("other_text", "source_of", "stands_alone", "text_of"),
]

_ABSENT: Final = "do not have it"
_CONFIG: Final = "model.cfg"
_NAME: Final = re.compile(r"[A-Za-z]\w*")


@dataclass(frozen=True, slots=True)
class SpecSource:
    """The module that judges a trace, its configuration, and where it looks for other modules.

    Without ``config`` the constants of the trace configure it.
    """

    module: Path
    config: Path | None = None
    search_path: tuple[Path, ...] | None = None
    is_carried: bool = False

    @property
    def digest(self) -> str:
        """Return the digest of its modules."""
        return spec_digest(self.module.stem, self.module)


def stands_alone(trace: Trace | PartialTrace) -> bool:
    """Return whether the spec and the constants in the trace suffice to judge it.

    A trace without a model stands alone. So does a trace of a spec whose constants are values:
    ``traces.toml`` says so. Other specs have operators for constants, and their models bound the
    actions: their counterexamples need the model.
    """
    if trace.text is not None:
        return trace.text.config is None
    return trace.model is None or facts_of(trace.spec).stands_alone_for is not None


def source_of(trace: Trace | PartialTrace) -> SpecSource:
    """Return what judges a trace: the text that it carries, unless the specs at hand have the same.

    ``KraflaError`` if it carries none and the specs at hand have no such model or module, or if its
    text is not the one that its digest names.
    """
    text = trace.text
    if text is None:
        return _at_hand(trace)
    if trace.digest is not None and trace.digest != text.digest:
        raise KraflaError(f"carries another version of {trace.spec} than its digest says")
    return _carried(text) if _difference(trace, text) else _at_hand(trace)


def by_specs_at_hand(trace: Trace) -> Trace:
    """Return the trace as the specs at hand judge it: without a text of its own.

    ``KraflaError`` if they lack its spec.
    """
    if trace.text is None:
        return trace
    alone, origin = replace(trace, text=None), trace.origin
    if origin is None:
        return alone
    return replace(alone, origin=replace(origin, digest=source_of(alone).digest))


def text_of(module: Path, config: Path | None = None) -> SpecText | None:
    """Return the text of a module and of all that it uses, ``None`` if all of it was shipped."""
    files = spec_files(module.stem, module)
    if all(map(is_shipped, (*files.values(), *filter(None, (config,))))):
        return None
    modules = {name: file.read_text(encoding="utf-8") for name, file in sorted(files.items())}
    configured = None if config is None else config.read_text(encoding="utf-8")
    return SpecText(module.stem, tuple(modules.items()), configured)


def other_text(trace: Trace | PartialTrace) -> str | None:
    """Return a sentence on which text judges a trace, if the specs at hand have another one."""
    if trace.text is not None:
        how = _difference(trace, trace.text)
        judged_by = f"judged by the version of {trace.spec} that the trace carries"
        if how == _ABSENT:
            return judged_by
        return f"{judged_by}; the specs at hand {how}" if how else None
    try:
        is_same = trace.digest is None or trace.digest == _at_hand(trace).digest
    except KraflaError:
        return None
    if is_same:
        return None
    return (
        f"the trace was made with another version of {trace.spec}, which it does not carry: judged "
        "by the specs at hand (KRAFLA_SPECS names others)"
    )


def has_other_text_at_hand(trace: Trace | PartialTrace) -> bool:
    """Return whether the specs at hand have the spec of a trace, with another text than it has."""
    return trace.text is not None and _difference(trace, trace.text) not in {"", _ABSENT}


def is_at_hand(trace: Trace | PartialTrace) -> bool:
    """Return whether the specs at hand have the spec of a trace, and its model if it needs that."""
    try:
        _at_hand(trace)
    except KraflaError:
        return False
    return True


def _at_hand(trace: Trace | PartialTrace) -> SpecSource:
    model = _model_of(trace)
    if model is not None:
        return SpecSource(model.module, model.config, model.search_path)
    if not _NAME.fullmatch(trace.spec):
        raise KraflaError(f"{trace.spec!r} is no name of a module or of a constant")
    default = None
    if trace.model is None:
        default = projects_about(trace.spec)[0].default_model(trace.spec)
    if default is not None:
        found = SpecSource(default.module, default.config, default.search_path)
        if _is_configured_by(found, trace):
            return found
    return SpecSource(_module(trace.spec, at_hand().listing))


def _is_configured_by(source: SpecSource, trace: Trace | PartialTrace) -> bool:
    """Return whether the configuration of a model at hand is that of a trace without a model."""
    if trace.text is not None:
        return trace.text.config is not None or not trace.constants
    if not trace.constants:
        return True
    if source.module.stem != trace.spec:
        return False
    try:
        own = dict(configured(source).constants_of(trace.spec))
    except SpecError:
        # The constants of the trace may do where the configuration does not.
        return False
    return all(name in own and same(own[name], value) for name, value in trace.constants)


@lru_cache(maxsize=8)
def configured(source: SpecSource) -> Spec:
    """Return a module under its own configuration; loaded once."""
    module = source.module
    return Spec.load(module.stem, cfg=source.config, path=module, search_path=source.search_path)


@lru_cache(maxsize=64)
def _module(name: str, _project: Path) -> Path:
    try:
        return find_module(name, None)
    except KraflaError as error:
        # The reader's spec is not to be looked for in the installation.
        place = None if at_hand().folder == installed_specs() else error.place
        raise KraflaError(f"{error.message}; name its file: --spec {name}.tla", place) from None


def _model_of(trace: Trace | PartialTrace) -> Model | None:
    """Return the model at hand that bounds the spec of a trace; ``None`` if its own spec does."""
    if trace.model is None or stands_alone(trace):
        return None
    model = _model_named(trace.model, trace.spec)
    if model.spec != trace.spec:
        raise KraflaError(f"{model.name} is a model of {model.spec}, not of {trace.spec}")
    return model


def _model_named(name: str, spec: str) -> Model:
    known: list[str] = []
    for project in projects_about(spec):
        models = project.manifest().models
        found = next((one for one in models if one.name == name), None)
        if found is not None:
            return found
        known += [one.name for one in models]
    if _NAME.fullmatch(spec) and not any(one.named(spec) for one in known_projects()):
        _module(spec, at_hand().listing)
    raise KraflaError(f"no model {name!r}{meant(name, known)}", str(at_hand().listing))


def _difference(trace: Trace | PartialTrace, text: SpecText) -> str:
    """Return how the specs at hand differ from a text, as the end of a sentence; empty if not."""
    try:
        return _difference_of(_at_hand(trace), text, trace.model or "")
    except KraflaError:
        return _ABSENT


@lru_cache(maxsize=64)
def _difference_of(source: SpecSource, text: SpecText, model: str) -> str:
    if source.module.stem != text.root:
        return f"have no {text.root}"
    carried = dict(text.modules)
    files = spec_files(source.module.stem, source.module)
    found = {name: file.read_text(encoding="utf-8") for name, file in files.items()}
    names = sorted(
        name for name in found.keys() | carried.keys() if found.get(name) != carried.get(name)
    )
    config = None if source.config is None else source.config.read_text(encoding="utf-8")
    if config != text.config:
        names.append(f"the configuration of {model}")
    return f"differ in {', '.join(names)}" if names else ""


@lru_cache(maxsize=64)
def _carried(text: SpecText) -> SpecSource:
    # Explanations read it as long as this process lives.
    folder = lasting_folder("spec")
    for name, content in text.modules:
        (folder / f"{name}.tla").write_text(content, encoding="utf-8", newline="")
    config = None
    if text.config is not None:
        config = folder / _CONFIG
        config.write_text(text.config, encoding="utf-8", newline="")
    return SpecSource(folder / f"{text.root}.tla", config, (folder,), is_carried=True)
