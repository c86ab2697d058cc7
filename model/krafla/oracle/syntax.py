"""The text of a module as SANY understands it, as plain Python: no Java object leaves this room.

``read_module`` parses with SANY alone, so constants need no values. Operators are read when they
are first asked for, and every node knows its place in the source.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from krafla.manifest import meant
from krafla.oracle.errors import SpecError
from krafla.oracle.jvm import TlcClasses, java, java_error
from krafla.oracle.loader import complaint, find_module, folders_for
from krafla.oracle.sources import Place, Sources
from krafla.scratch import scratch_folder
from krafla.tlc.jar import find_oracle_jar
from krafla.tlc.joined_modules import laid_out
from krafla.tlc.library import searched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

__all__ = [
    "Apply",
    "At",
    "Bound",
    "Call",
    "Definition",
    "Instance",
    "Let",
    "Module",
    "Name",
    "Node",
    "Number",
    "Operator",
    "String",
    "Symbol",
    "children",
    "read_module",
]

_LOCATION = re.compile(r"line (\d+), col (\d+) to line (\d+), col (\d+) of module (\w+)")
_STANDARD = frozenset(
    {"Naturals", "Integers", "Reals", "FiniteSets", "Sequences", "Bags", "TLC", "TLCExt"}
)
# Kinds of declarations (``tla2sany.semantic.ASTConstants``).
_KINDS = {2: "constant", 3: "variable"}


@dataclass(frozen=True, slots=True)
class Symbol:
    """A constant, a variable, a formal parameter or a bound name; ``key`` tells namesakes apart."""

    name: str
    key: int
    kind: str
    place: Place = field(compare=False)


@dataclass(frozen=True, slots=True)
class Number:
    """A numeral."""

    place: Place
    value: int


@dataclass(frozen=True, slots=True)
class String:
    """A string literal, or the name of a field."""

    place: Place
    value: str


@dataclass(frozen=True, slots=True)
class Name:
    """A constant, variable, parameter or bound name, used as an expression."""

    place: Place
    symbol: Symbol


@dataclass(frozen=True, slots=True)
class At:
    """The ``@`` of an EXCEPT; ``component`` is the place of the ``!.a = e`` that it stands in."""

    place: Place
    component: Place


@dataclass(frozen=True, slots=True)
class Bound:
    r"""The ``x, y \in S`` of a quantifier; ``domain`` is ``None`` where there is no set."""

    symbols: tuple[Symbol, ...]
    is_tuple: bool
    domain: Node | None


@dataclass(frozen=True, slots=True)
class Apply:
    """A built-in operator, or one of a standard module, under SANY's name for it.

    ``$Pair``, ``$Seq`` and the like are SANY's own. The guard of CASE's OTHER is ``None``.
    """

    place: Place
    operator: str
    arguments: tuple[Node | None, ...]
    bounds: tuple[Bound, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """An operator of the spec (or of a LET) with its arguments."""

    place: Place
    definition: Definition
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator given as an argument."""

    place: Place
    name: str


@dataclass(frozen=True, slots=True)
class Let:
    """A LET: its definitions are found through the calls in ``body``."""

    place: Place
    body: Node


@dataclass(frozen=True, slots=True)
class Instance:
    """An expression of an instantiated module: its symbols stand for expressions out here."""

    place: Place
    substitutions: tuple[tuple[Symbol, Node], ...]
    body: Node


Node: TypeAlias = Number | String | Name | At | Apply | Call | Operator | Let | Instance


class Definition:
    """An operator's definition; its body is read when first asked for."""

    __slots__ = ("_body", "_read", "formals", "is_recursive", "module", "name", "place")

    def __init__(
        self, name: str, module: str, place: Place, formals: tuple[Symbol, ...],
        read: Callable[[], Node], *, is_recursive: bool,
    ) -> None:  # fmt: skip
        self.name = name
        self.module = module
        self.place = place
        self.formals = formals
        self.is_recursive = is_recursive
        self._read = read
        self._body: Node | None = None

    @property
    def body(self) -> Node:
        """Return the expression the operator stands for."""
        if self._body is None:
            self._body = self._read()
        return self._body


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A parsed module: its declarations, and every operator that it defines or extends."""

    name: str
    path: Path
    constants: tuple[Symbol, ...]
    variables: tuple[Symbol, ...]
    assumptions: tuple[tuple[str, Node], ...]
    operators: dict[str, Definition]
    sources: Sources

    def operator(self, name: str) -> Definition:
        """Return the definition of an operator; ``SpecError`` if there is none."""
        found = self.operators.get(name)
        if found is None:
            near = meant(name, self.operators)
            raise SpecError(f"{self.name} has no operator {name}{near}", str(self.path))
        return found


def children(node: Node) -> Iterator[Node]:
    """Yield the expressions directly inside a node; not the bodies of operators it calls."""
    if isinstance(node, Apply):
        yield from (bound.domain for bound in node.bounds if bound.domain is not None)
        yield from (argument for argument in node.arguments if argument is not None)
    elif isinstance(node, Call):
        yield from node.arguments
    elif isinstance(node, Let):
        yield node.body
    elif isinstance(node, Instance):
        yield from (expression for _, expression in node.substitutions)
        yield node.body


def read_module(
    name: str, path: Path | None = None, search_path: Sequence[Path] | None = None
) -> Module:
    """Return a module parsed by SANY; ``SpecError`` names the file and line it stumbles over.

    ``path`` is the module's file or folder (default: wherever it is in the spec tree),
    ``search_path`` the folders of the modules it needs.
    """
    file = find_module(name, path)
    folders = list(search_path) if search_path is not None else folders_for(file)
    folders = list(searched(dict.fromkeys([file.parent, *folders]), find_oracle_jar().capabilities))
    sources = Sources(folders, file)
    classes = TlcClasses()
    with scratch_folder("modules") as scratch:
        root = _parse(classes, file, [*folders, *laid_out(file, scratch)], sources)
    return _Reader(classes, sources).module(name, file, root)


# SANY says nothing of a file without it, and fails.
_BEGINNING = re.compile(r"-{4,}\s*MODULE\s+\w+")


def _parse(classes: TlcClasses, file: Path, folders: list[Path], sources: Sources) -> Any:
    if not _BEGINNING.search(file.read_text(encoding="utf-8", errors="replace")):
        raise SpecError("this is no TLA+ module: there is no line ---- MODULE ...", str(file))
    console = classes("util.ToolIO")
    heard = java("java.io.ByteArrayOutputStream")()
    console.out = console.err = stream = java("java.io.PrintStream")(heard, True)
    paths = java("java.lang.String[]")([f"{folder.resolve()}/" for folder in folders])
    spec = classes("tla2sany.modanalyzer.SpecObj")(
        str(file), classes("util.SimpleFilenameToStream")(paths)
    )
    try:
        failed = int(classes("tla2sany.drivers.SANY").frontEndMain(spec, str(file), stream))
    except java_error() as error:
        raise complaint(str(heard.toString()), error, sources) from None
    root = spec.getRootModule()
    # An unknown name is an error of the meaning, which SANY's exit status leaves out.
    if failed or root is None or int(spec.getErrorLevel()):
        raise complaint(str(heard.toString()), None, sources)
    return root


class _Reader:
    """Reads nodes of one SANY tree; symbols and definitions are read once."""

    def __init__(self, classes: TlcClasses, sources: Sources) -> None:
        self._sources = sources
        self._definition_class = classes("tla2sany.semantic.OpDefNode")
        self._symbols: dict[int, Symbol] = {}
        self._definitions: dict[int, Definition] = {}
        self._paths: dict[str, Path | None] = {}
        self._readers: dict[str, Callable[[Any], Node]] = {
            "NumeralNode": lambda node: Number(self._place(node), _numeral(node)),
            "StringNode": lambda node: String(self._place(node), str(node.getRep().toString())),
            "AtNode": lambda node: At(self._place(node), self._place(node.getExceptComponentRef())),
            "LetInNode": lambda node: Let(self._place(node), self._node(node.getBody())),
            "LabelNode": lambda node: self._node(node.getBody()),
            "OpApplNode": self._application,
            "OpArgNode": lambda node: Operator(self._place(node), str(node.getName().toString())),
            "SubstInNode": self._instance,
        }

    def module(self, name: str, file: Path, root: Any) -> Module:
        constants = [self._symbol(symbol) for symbol in root.getConstantDecls()]
        variables = [self._symbol(symbol) for symbol in root.getVariableDecls()]
        definitions = [
            self._definition(one) for one in root.getOpDefs() if self._standard(one) is None
        ]
        return Module(
            name, file, tuple(sorted(constants, key=_declared)),
            tuple(sorted(variables, key=_declared)),
            tuple(map(self._assumption, root.getAssumptions())),
            {found.name: found for found in definitions},
            self._sources,
        )  # fmt: skip

    def _assumption(self, assumption: Any) -> tuple[str, Node]:
        definition = assumption.getDef()
        name = "ASSUME" if definition is None else str(definition.getName().toString())
        return name, self._node(assumption.getAssume())

    def _place(self, node: Any) -> Place:
        found = _LOCATION.fullmatch(str(node.getLocation().toString()))
        if found is None:
            return Place("TLA+", 0, 0, 0, 0)
        line, column, end_line, end_column, module = found.groups()
        if module not in self._paths:
            self._paths[module] = self._sources.find(module)
        return Place(
            module, int(line), int(column), int(end_line), int(end_column), self._paths[module]
        )

    def _symbol(self, node: Any) -> Symbol:
        key = int(node.getUid())
        found = self._symbols.get(key)
        if found is None:
            kind = _KINDS.get(int(node.getKind()), "parameter")
            found = Symbol(str(node.getName().toString()), key, kind, self._place(node))
            self._symbols[key] = found
        return found

    def _definition(self, node: Any) -> Definition:
        key = int(node.getUid())
        found = self._definitions.get(key)
        if found is None:
            origin = node.getOriginallyDefinedInModuleNode()
            found = Definition(
                str(node.getName().toString()),
                "" if origin is None else str(origin.getName().toString()),
                self._place(node),
                tuple(map(self._symbol, node.getParams() or ())),
                lambda: self._node(node.getBody()),
                is_recursive=bool(node.getInRecursive()),
            )
            self._definitions[key] = found
        return found

    def _node(self, node: Any) -> Node:
        kind = type(node).__name__.rpartition(".")[2]
        reader = self._readers.get(kind)
        if reader is None:
            # ASSUME-PROVE, proofs, decimal numbers: nothing that has a value here.
            return Apply(self._place(node), kind, ())
        return reader(node)

    def _application(self, node: Any) -> Node:
        place = self._place(node)
        symbol = node.getOperator()
        arguments = [None if one is None else self._node(one) for one in node.getArgs()]
        if type(symbol) is not self._definition_class:
            if arguments:
                return Operator(place, str(symbol.getName().toString()))
            return Name(place, self._symbol(symbol))
        name = self._standard(symbol)
        if name is not None:
            return Apply(place, name, tuple(arguments), tuple(self._bounds(node)))
        given = tuple(argument for argument in arguments if argument is not None)
        return Call(place, self._definition(symbol), given)

    def _standard(self, definition: Any) -> str | None:
        """Return the name of a built-in operator or of one of a standard module; else None.

        TLC evaluates the operators of standard modules in Java, so their bodies are not read. An
        operator that an instance brings in has the name that it has in its own module. If the
        instance has parameters, it keeps its qualified name, which the translation refuses.
        """
        source = definition.getSource()
        origin = source.getOriginallyDefinedInModuleNode()
        if origin is None:
            return str(definition.getName().toString())
        module = str(origin.getName().toString())
        if module not in _STANDARD:
            return None
        # A spec's own module may have the name of a standard one: in a file, or inside another.
        inside = str(source.getLocation().source()) != module
        if inside or self._sources.find(module) is not None:
            return None
        is_same = int(source.getArity()) == int(definition.getArity())
        return str((source if is_same else definition).getName().toString())

    def _bounds(self, node: Any) -> Iterator[Bound]:
        domains = node.getBdedQuantBounds() or ()
        for symbols, is_tuple, domain in zip(
            node.getBdedQuantSymbolLists() or (), node.isBdedQuantATuple() or (), domains,
            strict=True,
        ):  # fmt: skip
            yield Bound(tuple(map(self._symbol, symbols)), bool(is_tuple), self._node(domain))
        for symbol in node.getUnbdedQuantSymbols() or ():
            yield Bound((self._symbol(symbol),), False, None)

    def _instance(self, node: Any) -> Node:
        substitutions = tuple(
            (self._symbol(one.getOp()), self._node(one.getExpr())) for one in node.getSubsts()
        )
        return Instance(self._place(node), substitutions, self._node(node.getBody()))


def _numeral(node: Any) -> int:
    """Return the value of a numeral: SANY keeps one above 2^31 - 1 apart."""
    large = node.bigVal()
    return int(node.val()) if large is None else int(str(large.toString()))


def _declared(symbol: Symbol) -> tuple[str, int, int]:
    return symbol.place.module, symbol.place.line, symbol.place.column
