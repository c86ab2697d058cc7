"""Read a TLC configuration file (cfg), and write variants of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from krafla.files import unread
from krafla.tlc.capabilities import EXTRA_KEYWORDS
from krafla.tlc.comments import without_comments
from krafla.tlc.jar import ENVIRONMENT_VARIABLE
from krafla.values import ModelValue, parts_of
from krafla.values_text import ValueTextError, parse
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from krafla.tlc.capabilities import Capabilities
    from krafla.values import Value

__all__ = ["ModelConfig", "read_config"]

_KEYWORD = re.compile(
    r"""(?<!\S)(?:
        CONSTANTS? | (?:ACTION_|TYPE_)?CONSTRAINTS? | INVARIANTS? | PROPERTY | PROPERTIES
      | SPECIFICATION | INIT | NEXT | VIEW | SYMMETRY | TYPE | CHECK_DEADLOCK | ALIAS
      | POSTCONDITION | _PERIODIC | _POSSIBLE | _RL_REWARD
    )(?!\S)""",
    re.VERBOSE,
)
_BINDING = re.compile(r"(\w+)\s*(=|<-)\s*(?:\[\s*\w+\s*\])?")
_REPLACEMENT = re.compile(r"(\w+)\s*<-\s*(?:\[\s*\w+\s*\]\s*)?(\w+)")
_UNKNOWN = re.compile(r"Unknown operator: `(\w+)'")
_STRING = re.compile(r'"([^"]*)"')
# Of the keywords that older jars lack, those that ask something.
_QUESTIONS = ("POSTCONDITION", "_PERIODIC", "_POSSIBLE")
_BYTE_ORDER_MARK = "\ufeff"
INVARIANT_KEYWORDS = ("INVARIANT", "INVARIANTS")
PROPERTY_KEYWORDS = ("PROPERTY", "PROPERTIES")


@dataclass(frozen=True)
class ModelConfig:
    """The text of a cfg and the names in it. Variants keep every line in its place."""

    text: str

    @cached_property
    def _plain(self) -> str:
        # Comments become blanks, so that offsets stay true.
        return without_comments(self.text)

    @cached_property
    def _sections(self) -> list[tuple[str, int, int, int]]:
        heads = list(_KEYWORD.finditer(self._plain))
        ends = [head.start() for head in heads[1:]] + [len(self._plain)] * bool(heads)
        return [
            (head[0], head.start(), head.end(), end) for head, end in zip(heads, ends, strict=True)
        ]

    def _words(self, keywords: Iterable[str]) -> tuple[str, ...]:
        chosen = frozenset(keywords)
        bodies = [self._plain[body:end] for word, _, body, end in self._sections if word in chosen]
        return tuple(" ".join(bodies).split())

    @property
    def invariants(self) -> tuple[str, ...]:
        """Return the names under INVARIANT(S), in order."""
        return self._words(INVARIANT_KEYWORDS)

    @property
    def properties(self) -> tuple[str, ...]:
        """Return the names under PROPERTY and PROPERTIES, in order."""
        return self._words(PROPERTY_KEYWORDS)

    @property
    def has_behaviour(self) -> bool:
        """Return whether the cfg names what to search; else only assumptions are asked."""
        return bool(self._words(["SPECIFICATION", "INIT"]))

    @property
    def checks_deadlock(self) -> bool:
        """Return whether a state without successor is an error, as it is by default."""
        return self._words(["CHECK_DEADLOCK"]) != ("FALSE",)

    @property
    def constants(self) -> tuple[tuple[str, Value], ...]:
        """Return the constants that the cfg gives a value, in order.

        Those replaced by an operator (``<-``) are defined in the module and left out.
        """
        found: list[tuple[str, Value]] = []
        for word, _, body, end in self._sections:
            if word not in {"CONSTANT", "CONSTANTS"}:
                continue
            text = self._plain[body:end]
            heads = list(_BINDING.finditer(text))
            ends = [head.start() for head in heads[1:]] + [len(text)] * bool(heads)
            for head, stop in zip(heads, ends, strict=True):
                if head[2] == "=":
                    found.extend(_constant(head[1], text[head.end() : stop]))
        return tuple(found)

    @property
    def model_values(self) -> frozenset[str]:
        """Return the names of the model values in the constants, as in ``Server = {s1, s2}``.

        One that is a constant's own value, as in ``Nobody = Nobody``, is declared by the module.
        """
        return frozenset(
            part.name
            for _, value in self.constants
            for part in parts_of(value)
            if isinstance(part, ModelValue)
        ) - {*self.constant_names}

    def model_values_unknown_in(self, complaint: str) -> tuple[str, ...]:
        """Return the `model_values` that SANY's complaint says are unknown.

        A module that extends the spec may name them if it declares them: see `with_model_value`.
        """
        unknown = dict.fromkeys(_UNKNOWN.findall(complaint))
        return tuple(name for name in unknown if name in self.model_values)

    def without_quotes(self, formula: str) -> str:
        """Return the advice on a formula with a string where it means one of the `model_values`.

        It begins with a semicolon; without such a string it is empty.
        """
        meant = [name for name in _STRING.findall(formula) if name in self.model_values]
        return f'; "{meant[0]}" is a string: write the model value without quotes' if meant else ""

    @property
    def replacements(self) -> tuple[tuple[str, str], ...]:
        """Return each name that an operator replaces (``X <- Y``), with that operator, in order."""
        return tuple(
            (head[1], head[2])
            for word, _, body, end in self._sections
            if word in {"CONSTANT", "CONSTANTS"}
            for head in _REPLACEMENT.finditer(self._plain[body:end])
        )

    @property
    def constant_names(self) -> tuple[str, ...]:
        """Return the names that the cfg gives a value, readable or not, in order."""
        bodies = [
            self._plain[body:end]
            for word, _, body, end in self._sections
            if word in {"CONSTANT", "CONSTANTS"}
        ]
        return tuple(
            head[1] for body in bodies for head in _BINDING.finditer(body) if head[2] == "="
        )

    def words(self, *keywords: str) -> tuple[str, ...]:
        """Return the words under these keywords, in order."""
        return self._words(keywords)

    def without(self, keywords: Iterable[str]) -> ModelConfig:
        """Return the cfg with the sections of these keywords blanked out."""
        chosen = frozenset(keywords)
        text = self.text
        for word, start, _, end in self._sections:
            if word in chosen:
                blank = re.sub(r"[^\n]", " ", text[start:end])
                text = text[:start] + blank + text[end:]
        return ModelConfig(text)

    def known_to(self, capabilities: Capabilities) -> ModelConfig:
        """Return the cfg without the sections that a jar of TLC would refuse.

        What a search reaches does not depend on them: how states are printed (ALIAS), what is asked
        when the search is over (POSTCONDITION). See `unasked` for what goes unanswered then.
        """
        return self.without(word for word in EXTRA_KEYWORDS if not capabilities.has(word))

    def unasked(self, capabilities: Capabilities) -> tuple[str, ...]:
        """Return a sentence for each question of the cfg that a jar of TLC cannot ask."""
        return tuple(
            f"{word} {name} is not asked: it needs a newer TLC, for {ENVIRONMENT_VARIABLE} to name"
            for word in _QUESTIONS
            if not capabilities.has(word)
            for name in self._words([word])
        )

    def with_line(self, line: str) -> ModelConfig:
        """Return the cfg with one more line at its end."""
        return ModelConfig(f"{self.text.rstrip()}\n{line}\n")

    def with_model_value(self, name: str) -> ModelConfig:
        """Return the cfg for a module that declares one of the `model_values` as a constant."""
        return self.with_line(f"CONSTANT {name} = {name}")


def _constant(name: str, text: str) -> list[tuple[str, Value]]:
    try:
        return [(name, parse(text))]
    except ValueTextError:
        # TLC judges the cfg; a constant we cannot read is only missing from the trace.
        return []


def read_config(path: Path) -> ModelConfig:
    """Return the configuration in a file; ``KraflaError`` if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise KraflaError("not UTF-8 text", f"{path}, byte {error.start}") from error
    except OSError as error:
        raise unread(path, error) from error
    if text.startswith(_BYTE_ORDER_MARK):
        raise KraflaError(
            "begins with a byte order mark, which TLC does not read: save it as UTF-8 without",
            str(path),
        )
    return ModelConfig(text)
