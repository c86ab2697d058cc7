"""A TLA+ spec loaded into this process: it alone decides which steps are allowed."""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from krafla.manifest import meant
from krafla.oracle.actions import Branch, NamedAction, Owner, branches
from krafla.oracle.convert import Converter
from krafla.oracle.errors import AmbiguousStep, EvaluationError, NotEnabled, SpecError
from krafla.oracle.jvm import java_error
from krafla.oracle.loader import files_of, load_tool
from krafla.oracle.nodes import CONSTANT_LEVEL, Tree
from krafla.oracle.predicates import Predicates
from krafla.oracle.reductions import Reductions
from krafla.oracle.state import State
from krafla.oracle.steps import Stepper
from krafla.oracle.ways import Ways
from krafla.oracle.wrapper import Wrapping
from krafla.tlc.remedies import with_advice
from krafla.values import Value, freeze, same, sort_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from krafla.oracle.explain import Explanation
    from krafla.oracle.jvm import TlcClasses
    from krafla.oracle.loader import LoadedTool
    from krafla.oracle.predicates import Part

__all__ = ["Spec"]

_REMEMBERED_STEPS = 100_000


class Spec:
    """One spec with its constants; make it with ``Spec.load``. Not for several threads."""

    def __init__(self, name: str, loaded: LoadedTool) -> None:
        self.name = name
        self.tool = loaded.tool
        self.classes = loaded.classes
        self.sources = loaded.sources
        self.module = loaded.module
        self.configuration = loaded.configuration
        self.tree = Tree(loaded.classes, loaded.tool)
        self.converter = Converter(loaded.classes)
        self.empty_context = loaded.classes("tlc2.util.Context").Empty
        self.empty_state = loaded.classes("tlc2.tool.TLCState").Empty
        self._next = self.tool.getNextStateSpec()
        self._module = self.tool.getRootModule()
        self._constants = {
            str(node.getName().toString()): node for node in self._module.getConstantDecls()
        }
        self._unique = loaded.classes("util.UniqueString").uniqueStringOf
        declared = sorted(self.empty_state.getVars(), key=self.sources.place)
        self._variables = {str(node.getName().toString()): node.getName() for node in declared}
        self.variables = tuple(self._variables)
        self._definitions: dict[str, Any] = {}
        self._reductions = Reductions(loaded.classes)
        self._stepper = Stepper(self)
        self.ways = Ways(self)
        self.predicates = Predicates(self)
        self._steps: dict[tuple[Any, ...], tuple[State, ...]] = {}

    @classmethod
    def load(
        cls,
        name: str | Path,
        constants: Mapping[str, Any] | None = None,
        *,
        cfg: Path | str | None = None,
        path: Path | str | None = None,
        search_path: Sequence[Path] | None = None,
        definitions: Mapping[str, Any] | None = None,
        expressions: Mapping[str, str] | None = None,
        replacements: Mapping[str, str] | None = None,
        init: str = "Init",
        next: str = "Next",  # noqa: A002 - TLA+'s word for it
        invariants: Sequence[str] = (),
        constraints: Sequence[str] = (),
        action_constraints: Sequence[str] = (),
        properties: Sequence[str] = (),
        classes: TlcClasses | None = None,
    ) -> Spec:
        """Return module ``name`` ready to be asked, with constants as plain Python values.

        ``name`` may also be a file, ``specs/Lock.tla``; without constants, a ``Lock.cfg`` beside it
        configures it. Either ``constants`` (and ``definitions`` that replace operators by values,
        ``expressions`` that add operators as TLA+ text, ``replacements`` that put one operator for
        another by name, and what ``explore`` shall check), or a module with its own configuration
        file ``cfg``, to which only ``expressions`` may be added. ``path`` is the module's file or
        folder (default: wherever it is in the spec tree), ``search_path`` the folders of the
        modules it needs. ``classes`` are those of specs with the same names
        (`krafla.oracle.shared_names`).
        ``SpecError`` names the file and line of whatever is wrong.
        """
        name, path, cfg = files_of(name, path, cfg, constants or definitions)
        wrapping = Wrapping(
            name, dict(constants or {}), dict(definitions or {}), dict(expressions or {}),
            init, next, tuple(invariants), tuple(constraints), tuple(action_constraints),
            tuple(properties), dict(replacements or {}),
        )  # fmt: skip
        if cfg is not None and wrapping != Wrapping(name, expressions=wrapping.expressions):
            raise SpecError("a configuration file already says all that arguments could", str(cfg))
        loaded = load_tool(
            wrapping,
            path=path,
            configuration=cfg,
            search_path=search_path,
            classes=classes,
        )
        return cls(name, loaded)

    def initial_states(self) -> list[State]:
        """Return every initial state."""
        found = self.asked(self.tool.getInitStates)
        states = (State(self, found.elementAt(index)) for index in range(found.size()))
        return list(dict.fromkeys(states))

    def state(self, values: Mapping[str, Any]) -> State:
        """Return the state with these values of the variables, all of them."""
        missing = [variable for variable in self.variables if variable not in values]
        if missing:
            raise EvaluationError(f"a state of {self.name} also needs {', '.join(missing)}")
        return self._bound(self.empty_state.createEmpty(), values)

    def rebind(self, state: State, values: Mapping[str, Any]) -> State:
        """Return ``state`` with other values of some variables."""
        return self._bound(state.java.copy(), values)

    def read_variable(self, java: Any, variable: str) -> Value:
        """Return a variable's value in one of TLC's states."""
        return self.converter.to_python(java.lookup(self._variable(variable)))

    def outcomes(self, state: State, action: str, *parameters: Any) -> tuple[State, ...]:
        r"""Return the states a named action leads to; none if it is not enabled.

        The action may be any operator of the spec; its quantifiers in Next are not consulted,
        so a parameter outside the set Next takes it from is not refused here; ``allows_step``
        says whether Next takes the step. But of an action with which Next joins more inside its
        quantifiers, as in ``x # y /\ Send(x, y)``, Next says all.
        """
        try:
            key = (state.fingerprint, action, *map(sort_key, parameters))
        except TypeError:
            parameters = tuple(map(freeze, parameters))
            key = (state.fingerprint, action, *map(sort_key, parameters))
        known = self._steps.get(key)
        if known is None:
            known = self.ways.outcomes(state, action, parameters)
            if len(self._steps) >= _REMEMBERED_STEPS:
                self._steps.clear()
            self._steps[key] = known
        return known

    def apply(
        self,
        state: State,
        action: str,
        *parameters: Any,
        expect: Mapping[str, Any] | None = None,
    ) -> State:
        """Return the state after one step of a named action.

        ``expect`` gives values of some variables after the step; it chooses among several
        outcomes. Raises ``NotEnabled`` with the false conjunct, ``UnexpectedPostState`` with the
        variables that differ, ``AmbiguousStep`` if several outcomes remain.
        """
        found = self.outcomes(state, action, *parameters)
        if not found:
            raise NotEnabled(self.explain(state, action, parameters))
        if expect is not None:
            wanted = {variable: freeze(value) for variable, value in expect.items()}
            fitting = [
                one for one in found if all(same(one[name], wanted[name]) for name in wanted)
            ]
            if not fitting:
                from krafla.oracle.errors import UnexpectedPostState

                raise UnexpectedPostState(self.explain(state, action, parameters, after=wanted))
            found = tuple(fitting)
        if len(found) > 1:
            differing = [v for v in self.variables if len({sort_key(s[v]) for s in found}) > 1]
            raise AmbiguousStep(action, found, differing)
        return found[0]

    def successors(self, state: State) -> list[tuple[str, tuple[Value, ...], State]]:
        """Return every step Next allows from a state: action, parameters, state after it."""
        return [step for branch in self.branches for step in self._stepper.steps_by(branch, state)]

    def steps_through(
        self, branch: int, state: State
    ) -> list[tuple[str, tuple[Value, ...], State]]:
        """Return the steps from a state that Next takes through one of ``branches``."""
        return list(self._stepper.steps_by(self.branches[branch], state))

    def steps_by(self, action: str, state: State) -> list[tuple[tuple[Value, ...], State]]:
        """Return every step of one action that Next allows from a state: parameters, state after.

        The action is a disjunct of Next by its name; one that is none has no steps.
        """
        return [
            (parameters, after)
            for branch in self.branches
            if branch.owner.name == action
            for _, parameters, after in self._stepper.steps_by(branch, state)
        ]

    def check_invariant(self, name: str, state: State) -> bool:
        """Return whether a state predicate holds in a state."""
        return all(self.part_holds(part, state.java) for part in self.predicates.of_state(name))

    def check_action_property(self, name: str, before: State, after: State) -> bool:
        """Return whether a step satisfies ``[][A]_v``, a refinement, or an operator over a step.

        A state predicate under ``[]`` must hold before and after. Of ``Abstract!Spec`` the
        next-state relation is checked, not the initial predicate; fairness concerns no single step.
        """
        return all(
            self.part_holds(part, before.java, after.java) for part in self.predicates.of_step(name)
        )

    def part_holds(self, part: Part, before: Any, after: Any | None = None) -> bool:
        """Return whether one formula of a property holds for a state or a step."""
        if part.is_of_step and after is not None:
            return bool(self.asked(self.tool.isValid, part.action, before, after))
        holds = bool(self.asked(self.tool.isValid, part.action, before))
        return holds and (after is None or self.part_holds(part, after))

    def allows_step(self, before: State, after: State) -> bool:
        """Return whether any action allows this step: TLC evaluates the whole of Next."""
        return bool(self.asked(self.tool.isValid, self._next, before.java, after.java))

    def in_model(self, state: State) -> bool:
        """Return whether a state satisfies every CONSTRAINT."""
        return bool(self.asked(self.tool.isInModel, state.java))

    def evaluate(self, operator: str, state: State | None = None, *arguments: Any) -> Value:
        """Return the value of an operator for these arguments, in a state if it needs one."""
        found = self._lookup(operator)
        if type(found) is self.tree.definition_class:
            context = self.bind(found, arguments)
            java = self.empty_state if state is None else state.java
            found = self.asked(self.tool.eval, found.getBody(), context, java)
        elif arguments:
            raise SpecError(f"{operator} takes 0 parameters, not {len(arguments)}")
        return self.converter.to_python(found)

    def is_constant(self, operator: str) -> bool:
        """Return whether an operator has one value, whatever the state; TLC computes it once."""
        return type(self._lookup(operator)) is not self.tree.definition_class

    def constants_of(self, module: str) -> tuple[tuple[str, Value], ...]:
        """Return the constants that a module declares, with their values here, in its order.

        Those without a finite value are left out: operators, and sets such as ``Nat``.
        """
        places = {name: self.sources.place(node) for name, node in self._constants.items()}
        found = []
        for name in sorted(places, key=places.__getitem__):
            if places[name].module == module and not self._constants[name].getArity():
                with suppress(EvaluationError):
                    found.append((name, self.evaluate(name)))
        return tuple(found)

    def is_left_out(self, action: str) -> bool:
        """Return whether the configuration put a constant, such as FALSE, in an action's place."""
        if self.is_constant(action):
            return True
        return int(self.definition(action).getBody().getLevel()) == CONSTANT_LEVEL

    def reduced(self) -> AbstractContextManager[None]:
        """Return a context in which fingerprints obey SYMMETRY and VIEW, as in a TLC run.

        Outside of it they do not: a single step must tell symmetric states apart.
        """
        return self._reductions

    @property
    def reductions(self) -> tuple[Any, ...]:
        """Return TLC's permutations (SYMMETRY) and view (VIEW), ``None`` for an absent one."""
        return self._reductions.configured

    def explain(
        self,
        state: State,
        action: str,
        parameters: Sequence[Any] = (),
        *,
        after: Mapping[str, Any] | None = None,
    ) -> Explanation:
        """Return why an action is not enabled, or does not lead to ``after``."""
        from krafla.oracle.explain import explain_step

        return explain_step(self, state, action, tuple(map(freeze, parameters)), after)

    def explain_invariant(self, name: str, state: State) -> Explanation:
        """Return which conjunct of an invariant is false in a state, with a witness."""
        from krafla.oracle.explain import explain_invariant

        return explain_invariant(self, name, state)

    def explain_action_property(self, name: str, before: State, after: State) -> Explanation:
        """Return which conjunct of an action property a step breaks."""
        from krafla.oracle.explain import explain_action_property

        return explain_action_property(self, name, before, after)

    def forget(self) -> None:
        """Drop remembered steps and values, to free memory; no answer changes."""
        self._steps.clear()
        self.converter.forget()

    def definition(self, name: str) -> Any:
        """Return SANY's definition of an operator; ``SpecError`` if there is none."""
        found = self._definitions.get(name)
        if found is None:
            # Next may join it with more; that is known with the branches.
            found = (self.branches and self._definitions.get(name)) or self._lookup(name)
            if type(found) is not self.tree.definition_class:
                raise SpecError(f"{name} of {self.name} is a constant")
            self._definitions[name] = found
        return found

    def _lookup(self, name: str) -> Any:
        """Return a definition, or TLC's value of a constant; both as the configuration has it."""
        symbol = self._constants.get(name) or self._module.getOpDef(self._unique(name))
        if symbol is not None:
            return self.tool.lookup(symbol, self.empty_context, False)
        # An action of Next may be defined inside it.
        owner = self._owners.get(name)
        if owner is None or owner.definition is None:
            known = (str(one.getName().toString()) for one in self._module.getOpDefs())
            near = meant(name, {*filter(str.isidentifier, known), *self._constants})
            raise SpecError(f"{self.name} has no operator {name}{near}")
        return owner.definition

    def bind(self, definition: Any, parameters: Sequence[Any]) -> Any:
        """Return a context that gives an operator's parameters these values."""
        formals = definition.getParams()
        if len(formals) != len(parameters):
            takes = f"{definition.getName()} takes {len(formals)} parameters"
            raise SpecError(f"{takes}, not {len(parameters)}")
        context = self.empty_context
        for formal, parameter in zip(formals, parameters, strict=True):
            context = context.cons(formal, self.converter.to_java(parameter))
        return context

    def _bound(self, java: Any, values: Mapping[str, Any]) -> State:
        for variable, value in values.items():
            java = java.bind(self._variable(variable), self.converter.to_java(value))
        return State(self, java)

    def _variable(self, name: str) -> Any:
        found = self._variables.get(name)
        if found is None:
            known = ", ".join(self.variables)
            raise EvaluationError(f"{self.name} has no variable {name} (it has {known})")
        return found

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """Return the ways through Next, in the order of the spec."""
        if self._next is None:
            return ()
        found, joined = branches(self.tree, self._next, self.empty_state)
        self._definitions |= joined
        return found

    @cached_property
    def actions(self) -> tuple[NamedAction, ...]:
        """Return the actions that Next chooses among, in the order of the spec."""
        return tuple(map(self._named, self._owners.values()))

    @cached_property
    def _owners(self) -> dict[str, Owner]:
        return {branch.owner.name: branch.owner for branch in self.branches}

    def _named(self, owner: Owner) -> NamedAction:
        names = tuple(str(formal.getName().toString()) for formal in owner.formals)
        node = self._next.pred if owner.definition is None else owner.definition
        return NamedAction(owner.name, names, self.sources.place(node))

    def in_words(self, error: Any) -> str:
        """Return a complaint of TLC's about an evaluation, with what can be done."""
        return with_advice(str(error.getMessage() or error), self.sources.read)

    def asked(self, question: Any, *arguments: Any) -> Any:
        """Return TLC's answer, or its complaint as an ``EvaluationError``."""
        try:
            return question(*arguments)
        except java_error() as error:
            raise EvaluationError(f"{self.name}: {self.in_words(error)}") from None
