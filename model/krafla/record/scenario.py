"""A scenario and its file: a head of `word: value`, then one step on each line."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Scenario", "ScenarioStep", "Shape", "load", "parse", "shipped", "with_controllers"]

_HEAD = re.compile(r"([a-z-]+):\s*(.*)")
_OPTION = re.compile(r"([A-Za-z0-9._-]+)=(.*)")
_SUFFIX = ".scenario"
_COUNTED_CONTROLLERS = re.compile(r"^(\s*controllers:\s*\d+).*$", re.MULTILINE)
FIRST_CONTROLLER = 3000
# More JVMs than this, and a small machine spends its time on starting them.
_MOST_NODES = 9


@dataclass(frozen=True, slots=True)
class Shape:
    """The cluster: the number of nodes of each kind, the kind of its quorum, the settings of all.

    Controllers are numbered from 3000, brokers from 0, combined nodes from 1. A dynamic quorum
    (KIP-853) begins with its first controller as the only voter. `kraft_ids` are the controllers
    that run `kraft server start`; all other nodes run Kafka.
    """

    controllers: int = 0
    brokers: int = 0
    combined: int = 0
    dynamic: bool = False
    metadata_version: str | None = None
    properties: tuple[tuple[str, str], ...] = ()
    kraft_ids: tuple[int, ...] = ()

    @property
    def controller_ids(self) -> tuple[int, ...]:
        """Return the ids of all nodes with the role of a controller."""
        pure = range(FIRST_CONTROLLER, FIRST_CONTROLLER + self.controllers)
        return (*pure, *range(1, 1 + self.combined))

    @property
    def broker_ids(self) -> tuple[int, ...]:
        """Return the ids of all nodes with the role of a broker."""
        return (*range(self.brokers), *range(1, 1 + self.combined))

    @property
    def node_ids(self) -> tuple[int, ...]:
        """Return all ids, each once, controllers first."""
        return tuple(dict.fromkeys((*self.controller_ids, *self.broker_ids)))

    @property
    def first_voters(self) -> tuple[int, ...]:
        """Return the controllers that are voters when the cluster has booted."""
        return self.controller_ids[:1] if self.dynamic else self.controller_ids


@dataclass(frozen=True, slots=True)
class ScenarioStep:
    """One step: its verb, its arguments, its options, its line.

    With `may_fail` (`try` in the file) the scenario continues when Kafka refuses the step.
    """

    verb: str
    arguments: tuple[str, ...]
    options: Mapping[str, str] = field(hash=False)
    may_fail: bool
    text: str
    place: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """A cluster and the steps on it, in order. `text` is the file."""

    name: str
    sentence: str
    shape: Shape
    steps: tuple[ScenarioStep, ...]
    text: str


def shipped() -> dict[str, str]:
    """Return the text of each scenario of this project by its name, in order of the names."""
    folder = resources.files("krafla.record") / "scenarios"
    files = [entry for entry in folder.iterdir() if entry.name.endswith(_SUFFIX)]
    texts = {f.name.removesuffix(_SUFFIX): f.read_text(encoding="utf-8") for f in files}
    return dict(sorted(texts.items()))


def load(name: str) -> Scenario:
    """Return a scenario of this project by its name, or that of a file by its path.

    It is not yet known to make sense: `krafla.record.check` says. ``KraflaError`` names the line.
    """
    texts = shipped()
    if name in texts:
        return parse(texts[name], name, f"{name}{_SUFFIX}")
    path = Path(name)
    if not path.is_file():
        known = ", ".join([*texts, "random"])
        raise KraflaError(f"no scenario {name!r}, and no such file; there are: {known}")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise KraflaError(f"this is no text: {error}", str(path)) from error
    return parse(text, path.stem, str(path))


def parse(text: str, name: str, path: str) -> Scenario:
    """Return the scenario that a text is; ``KraflaError`` names the file and the line."""
    head = _Head()
    steps: list[ScenarioStep] = []
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.strip()
        if not line or line.startswith("#"):
            continue
        place = f"{path}:{number}"
        match = _HEAD.fullmatch(line)
        if match is not None and not steps:
            head.add(match[1], match[2].strip(), place)
        else:
            steps.append(_step(line, place))
    if not head.sentence:
        raise KraflaError("a scenario begins with `sentence: ` and what it is about", path)
    return Scenario(name, head.sentence, head.shape(path), tuple(steps), text)


def with_controllers(scenario: Scenario, kind: str) -> Scenario:
    """Return a scenario with controllers of another kind, which its text says as well.

    The kinds are those of a file: java, kraft, mixed, mixed:3000,3002. ``KraflaError`` if the
    cluster cannot have it.
    """
    shape = scenario.shape
    if shape.combined and kind != "java":
        raise KraflaError(
            "combined nodes run Kafka: this scenario has no other kind", scenario.name
        )
    ids = _kraft_ids(kind, shape.controller_ids, "--controllers")
    text = _COUNTED_CONTROLLERS.sub(rf"\1 {kind}", scenario.text, count=1)
    return replace(scenario, shape=replace(shape, kraft_ids=ids), text=text)


def _kraft_ids(kind: str, controllers: tuple[int, ...], place: str) -> tuple[int, ...]:
    """Return the controllers that are `kraft`; ``KraflaError`` for a kind that is none of these."""
    word, colon, listed = kind.partition(":")
    if word not in {"java", "kraft", "mixed"} or (colon and word != "mixed"):
        raise KraflaError(
            f"controllers are java, kraft, mixed, or as mixed:3000,3002, not {kind!r}", place
        )
    if word != "mixed":
        return controllers if word == "kraft" else ()
    if len(controllers) == 1:
        raise KraflaError("one controller alone is java or kraft, not mixed", place)
    if not colon:
        return controllers[:1]
    known = {str(one): one for one in controllers}
    odd = [text for text in listed.split(",") if text not in known]
    if odd:
        raise KraflaError(f"no controller {odd[0]!r}; there are: {', '.join(known)}", place)
    ids = tuple(sorted({known[text] for text in listed.split(",")}))
    if len(ids) == len(controllers):
        raise KraflaError("mixed controllers are not all of one kind: say kraft", place)
    return ids


class _Head:
    """The lines before the first step."""

    def __init__(self) -> None:
        self.sentence = ""
        self._counts = {"controllers": 0, "brokers": 0, "combined": 0}
        self._kind, self._kind_place = "java", ""
        self._dynamic = False
        self._level: str | None = None
        self._properties: dict[str, str] = {}
        self._seen: set[str] = set()

    def add(self, word: str, value: str, place: str) -> None:
        """Take one line of the head."""
        if word in self._seen and word != "set":
            raise KraflaError(f"{word!r} is said twice", place)
        self._seen.add(word)
        if word == "sentence":
            self.sentence = value
        elif word in self._counts:
            if word == "controllers" and " " in value:
                value, self._kind = value.split(maxsplit=1)
                self._kind_place = place
            if not value.isdecimal():
                raise KraflaError(f"{word} is a number, not {value!r}", place)
            self._counts[word] = int(value)
        elif word == "quorum":
            if value not in {"static", "dynamic"}:
                raise KraflaError(f"a quorum is static or dynamic, not {value!r}", place)
            self._dynamic = value == "dynamic"
        elif word == "metadata-version":
            if not re.fullmatch(r"[34]\.\d+(-IV\d+)?", value):
                raise KraflaError(
                    f"a metadata version is like 4.1 or 3.9-IV0, not {value!r}", place
                )
            self._level = value
        elif word == "set":
            option = _OPTION.fullmatch(value)
            if option is None:
                raise KraflaError(f"what is set is name=value, not {value!r}", place)
            self._properties[option[1]] = option[2]
        else:
            words = ", ".join(["sentence", *self._counts, "quorum", "metadata-version", "set"])
            raise KraflaError(
                f"{word!r} is no word of a scenario's head; there are: {words}", place
            )

    def shape(self, path: str) -> Shape:
        """Return the cluster, if it is one."""
        controllers, brokers, combined = self._counts.values()
        if not controllers and not combined:
            raise KraflaError("a cluster has controllers or combined nodes", path)
        if not brokers and not combined:
            raise KraflaError("a cluster has brokers or combined nodes", path)
        if combined and (controllers or brokers):
            raise KraflaError("combined nodes stand alone: no controllers, no brokers beside", path)
        if controllers + brokers + combined > _MOST_NODES:
            raise KraflaError(f"a cluster has at most {_MOST_NODES} nodes here", path)
        shape = Shape(
            controllers,
            brokers,
            combined,
            self._dynamic,
            self._level,
            tuple(self._properties.items()),
        )
        ids = _kraft_ids(self._kind, shape.controller_ids, self._kind_place)
        return replace(shape, kraft_ids=ids)


def _step(line: str, place: str) -> ScenarioStep:
    try:
        words = shlex.split(line, comments=True)
    except ValueError as error:
        raise KraflaError(f"this line cannot be read: {error}", place) from error
    may_fail = words[0] == "try"
    words = words[1:] if may_fail else words
    if not words:
        raise KraflaError("`try` is followed by a step", place)
    arguments: list[str] = []
    options: dict[str, str] = {}
    for word in words[1:]:
        option = _OPTION.fullmatch(word)
        if option is None:
            arguments.append(word)
        elif option[1] in options:
            raise KraflaError(f"{option[1]!r} is given twice", place)
        else:
            options[option[1]] = option[2]
    return ScenarioStep(words[0], tuple(arguments), options, may_fail, line, place)
