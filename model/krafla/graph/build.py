"""Building the state graph of a model, with the predicates that a caller asks about."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from krafla.graph.state_graph import StateGraph
from krafla.oracle import EvaluationError, Spec, SpecError, explore
from krafla.oracle.jvm import start
from krafla.oracle.nodes import ACTION_LEVEL
from krafla.tlc.config import read_config
from krafla.values import fmt
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from krafla.manifest import Model
    from krafla.oracle import Exploration, State, Violation
    from krafla.values import Value

__all__ = ["Question", "build", "named_violation", "unchecked_properties"]

_PREFIX = "KraflaAsked"
# To explore so many states takes about a minute.
_MANY = 30_000
_POSITION = re.compile(r"at line (?P<line>\d+), col(?:umn)? (?P<column>\d+)")
_FORM = re.compile(r", in \S.* starting at line \d+, column \d+$")
_WORD = re.compile(r"\w+")
_STRINGS = re.compile(r'"[^"]*"')
# What does not bind more tightly than /\ does.
_LOOSE = re.compile(r"\\/|=>|~>")
_EMPTY: tuple[Value, ...] = ((), frozenset())
# So many characters of a value are shown.
_VALUE_MAX = 60
# The wrapping module has its header and its EXTENDS above the first expression.
_LINES_ABOVE = 2


@dataclass(frozen=True, slots=True)
class Question:
    """A state predicate as it was written, an operator or TLA+ text, with its place."""

    text: str
    place: str


def build(
    model: Model,
    questions: Sequence[Question] = (),
    *,
    limit: int | None = None,
    progress: Callable[[Exploration], None] | None = None,
) -> StateGraph:
    """Return the state graph of a model; ``holds`` has each question under its text.

    A violation does not end the search; the states after it are part of the graph. The search ends
    at ``limit`` states. ``KraflaError`` names a question that is no state predicate, a wrong line
    of the spec, an expression that cannot be evaluated, or a model without states.
    """
    start(brief=model.distinct is not None and model.distinct < _MANY)
    names = {f"{_PREFIX}{number:03}": one for number, one in enumerate(questions)}
    for question in questions:
        if not question.text.strip() or not question.text.isprintable():
            raise KraflaError("a predicate is one line of TLA+", question.place)
    spec = _load(model, names)
    _refuse_merged(model, questions)
    if not any(spec.in_model(state) for state in spec.initial_states()):
        raise KraflaError("no state is initial and within the bounds", f"model {model.name}")
    for name, question in names.items():
        _check(model, spec, name, question)
    found = explore(spec, limit=limit, until_violation=False, watch=tuple(names), progress=progress)
    found.violation = named_violation(model, found)
    found.unchecked = unchecked_properties(model, found)
    holds = {one.text: _asked(model, found, name, one) for name, one in names.items()}
    return StateGraph(found, holds, frozenset(names[name].text for name in found.beyond))


def named_violation(model: Model, found: Exploration) -> Violation | None:
    """Return the violation under the name that the cfg gives it.

    TLC names a violation inside a refinement by a place in the refined module.
    """
    violation = found.violation
    config = read_config(model.config)
    if violation is None or violation.name in {*config.invariants, *config.properties}:
        return violation
    wrong = _refinements(model, found)
    if violation.is_step:
        before, after = (state for _, state in violation.path[-2:])
        check = found.spec.check_action_property
        wrong = [name for name in wrong if not check(name, before, after)]
    return replace(violation, name=wrong[0]) if len(wrong) == 1 else violation


def _refinements(model: Model, found: Exploration) -> list[str]:
    """Return the properties that TLC splits into parts with names of their own."""
    tool = found.spec.tool
    named = {*map(str, tool.getImpliedActNames()), *map(str, tool.getImpliedInitNames())}
    named |= {*map(str, tool.getInvNames()), *found.unchecked}
    return [name for name in read_config(model.config).properties if name not in named]


def unchecked_properties(model: Model, found: Exploration) -> tuple[str, ...]:
    """Return the properties that no search can judge, under the names that the cfg gives them."""
    known = read_config(model.config).properties
    parts = _refinements(model, found)
    named = (
        parts[0] if name not in known and len(parts) == 1 else name for name in found.unchecked
    )
    return tuple(dict.fromkeys(named))


def _load(model: Model, names: dict[str, Question]) -> Spec:
    try:
        return _loaded(model, names)
    except SpecError as error:
        culprit = _culprit(model, names)
        if culprit is None:
            raise
        name, said = culprit
        raise _misread(names[name], said) from error


def _loaded(model: Model, names: dict[str, Question]) -> Spec:
    return Spec.load(
        model.module.stem,
        path=model.module,
        cfg=model.config,
        search_path=model.search_path,
        expressions={name: one.text for name, one in names.items()},
    )


def _culprit(model: Model, names: dict[str, Question]) -> tuple[str, SpecError] | None:
    """Return the first predicate that does not parse; ``None`` if the spec itself does not."""
    for name in (None, *names):
        try:
            _loaded(model, {} if name is None else {name: names[name]})
        except SpecError as error:
            return None if name is None else (name, error)
    return None


def _misread(question: Question, error: SpecError) -> KraflaError:
    found = _POSITION.search(error.message)
    place = question.place
    if found is not None and int(found["line"]) == _LINES_ABOVE + 1:
        place += f", column {int(found['column']) - len(f'{_PREFIX}000 == ')}"
    # The line is one of a temporary file, so leave it out, and the form that begins there.
    said = " ".join(_POSITION.sub("", _FORM.sub("", error.message)).split())
    return KraflaError(f"{_quoted(question)} does not parse: {said}", place)


def _refuse_merged(model: Model, questions: Sequence[Question]) -> None:
    """Raise ``KraflaError`` if a question tells model values apart that may stand for each other.

    Under SYMMETRY the graph has one state of several, so the one that is asked for may be missing.
    """
    config = read_config(model.config)
    if not config.words("SYMMETRY"):
        return
    for question in questions:
        named = sorted(config.model_values & {*_WORD.findall(_STRINGS.sub("", question.text))})
        if named:
            raise KraflaError(
                f"{_quoted(question)} names the model value {named[0]}, and by the cfg's SYMMETRY "
                "one state stands for several: ask with \\E, or use a cfg without SYMMETRY",
                question.place,
            )


def _quoted(question: Question) -> str:
    # Python would write each backslash of TLA+ twice.
    return f"'{question.text}'"


def _plainly(
    model: Model, spec: Spec, error: EvaluationError | SpecError, question: Question
) -> str:
    said = error.message.removeprefix(f"{spec.name}: ").removesuffix(".")
    return said + read_config(model.config).without_quotes(question.text)


def _check(model: Model, spec: Spec, name: str, question: Question) -> None:
    """Raise ``KraflaError`` if a question has no boolean value in an initial state."""
    state = spec.initial_states()[0]
    try:
        value = spec.evaluate(name, state)
    except (EvaluationError, SpecError) as error:
        if isinstance(error, EvaluationError) and _is_of_states(spec, name):
            raise _without_value(
                model, spec, error, question, ("an initial state", state)
            ) from None
        message = _plainly(model, spec, error, question)
        raise KraflaError(
            f"{_quoted(question)} is no state predicate: {message}", question.place
        ) from None
    if not isinstance(value, bool):
        raise KraflaError(
            f"{_quoted(question)} is no state predicate: in an initial state its value is "
            "no boolean",
            question.place,
        )


def _asked(model: Model, found: Exploration, name: str, question: Question) -> bytes:
    try:
        return found.satisfying(name)
    except EvaluationError as error:
        where = ("a state", _first_without(found, name))
        raise _without_value(model, found.spec, error, question, where) from None


def _is_of_states(spec: Spec, name: str) -> bool:
    return int(spec.definition(name).getBody().getLevel()) < ACTION_LEVEL


def _first_without(found: Exploration, name: str) -> State | None:
    """Return the first state in which a predicate has no value."""
    for state in found.states:
        try:
            found.spec.evaluate(name, state)
        except EvaluationError:
            return state
    return None


def _without_value(
    model: Model, spec: Spec, error: EvaluationError, question: Question,
    where: tuple[str, State | None],
) -> KraflaError:  # fmt: skip
    """Return the error of a predicate that has no value in a state, with a way to give it one."""
    told, state = where
    message = _plainly(model, spec, error, question)
    guard = "guard"
    if state is not None:
        words = {*_WORD.findall(_STRINGS.sub("", question.text))}
        named = [name for name in state if name in words] or list(state)
        shown = ", ".join(f"{name} = {fmt(state[name], _VALUE_MAX)}" for name in named)
        told = f"{told} ({shown})"
        empty = [name for name in named if state[name] in _EMPTY]
        guard = f"{empty[0]} # {fmt(state[empty[0]])}" if empty else guard
    if read_config(model.config).without_quotes(question.text) == "":
        text = f"({question.text})" if _LOOSE.search(question.text) else question.text
        message += f"; it can be asked with a guard in front of it, as in {guard} /\\ {text}"
    return KraflaError(
        f"{_quoted(question)} cannot be evaluated in {told}: {message}", question.place
    )
