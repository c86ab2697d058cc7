"""Loading a spec into TLC's evaluator, with every complaint of the parser turned into one error."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krafla.oracle.complaints import plainly
from krafla.oracle.errors import SpecError
from krafla.oracle.jvm import TlcClasses, java, java_error
from krafla.oracle.shared_names import check_names, variables_in
from krafla.oracle.sources import Sources
from krafla.oracle.wrapper import WRAPPER, Wrapping, wrap
from krafla.project.at_hand import at_hand, projects_about, search_path
from krafla.project.models import meant
from krafla.scratch import scratch_folder
from krafla.tlc.config import read_config
from krafla.tlc.config_mistakes import mended
from krafla.tlc.jar import find_oracle_jar
from krafla.tlc.joined_modules import laid_out
from krafla.tlc.library import missing_module, searched, without_classes
from krafla.tlc.pluscal import untranslated
from krafla.tlc.remedies import with_advice
from krafla.tlc.syntax_error import syntax_error
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["LoadedTool", "complaint", "files_of", "find_module", "folders_for", "load_tool"]

_MODEL = "KraflaModel"
# TLC writes its standard modules to files with the same names for each spec that it loads.
_one_at_a_time = threading.Lock()
# SANY tells a place in two ways.
_SEMANTIC_PLACE = re.compile(
    r"line (?P<line>\d+), col (?P<column>\d+) to line \d+, col \d+ of module (?P<module>\w+)"
)
_SYNTAX_PLACE = re.compile(r"at line (?P<line>\d+), col(?:umn)? (?P<column>\d+)")
_OPENED = re.compile(r"^Parsing file (.+)$", re.MULTILINE)
_CONFIGURATION_LINE = re.compile(r"configuration file at line (?P<line>\d+)")
_SETTINGS = "TLCGet(config) was undefined"
_MISSING_MODULE = re.compile(
    r"Cannot find source file for module (?P<name>\w+) imported in module (?P<importer>\w+)"
)
_CHATTER = re.compile(
    r"^(Parsing file .*|Semantic processing of module .*|Starting\.\.\. .*|Semantic errors:"
    r"|\*\*\* (Errors|Abort messages|Warnings): \d+|tla2sany\.semantic\.AbortException"
    r"|\*\*\*Parse Error\*\*\*|Residual stack trace follows:|Unknown location|In module \w+"
    r"|Fatal errors while parsing TLA\+ spec in file .*|Could not parse module .*"
    r"|(Definition|Module body|Module definition) starting at line .*)$"
)


@dataclass(frozen=True, slots=True)
class LoadedTool:
    """TLC's evaluator of one spec, with the classes and source files it came from."""

    classes: TlcClasses
    tool: Any
    sources: Sources
    module: Path
    configuration: Path | None


def find_module(name: str, path: Path | None) -> Path:
    """Return the file of a module: at ``path`` (a file or folder), or in the project at hand.

    The shipped specs are looked through where the project has none of that name.
    """
    if path is not None:
        found = path / f"{name}.tla" if path.is_dir() else path
        if not found.is_file():
            folder = found.parent
            known = [one.stem for one in folder.glob("*.tla")] if folder.is_dir() else []
            near = meant(name, known) if known else ""
            raise SpecError(f"there is no module {name} here{near}", str(path))
        return found.resolve()
    matches: tuple[Path, ...] = ()
    for project in projects_about(name):
        matches, tree = project.named(name), project.folder
        if matches:
            break
    if len(matches) != 1:
        rooms = ", ".join(str(match.parent.relative_to(tree)) for match in matches)
        problem = f"is in several folders ({rooms}): say which" if matches else "does not exist"
        raise SpecError(f"module {name} {problem}", str(at_hand().folder))
    return matches[0]


def files_of(
    name: str | Path, path: Path | str | None, cfg: Path | str | None, configured: object
) -> tuple[str, Path | None, Path | None]:
    """Return a module's name, its file or folder, and its configuration file.

    A ``name`` that is a file ``Lock.tla`` has the ``Lock.cfg`` beside it, unless it is
    ``configured`` in another way.
    """
    if path is None and not str(name).endswith(".tla") and Path(name).name != str(name):
        raise SpecError("no file of a module: its name ends in .tla", str(name))
    if path is not None or not str(name).endswith(".tla"):
        return str(name), None if path is None else Path(path), None if cfg is None else Path(cfg)
    file = Path(name)
    beside = file.with_suffix(".cfg")
    if cfg is None and not configured and beside.is_file():
        cfg = beside
    return file.stem, file, None if cfg is None else Path(cfg)


def load_tool(
    wrapping: Wrapping,
    *,
    path: Path | None = None,
    configuration: Path | None = None,
    search_path: Sequence[Path] | None = None,
    classes: TlcClasses | None = None,
) -> LoadedTool:
    """Return an evaluator for a module with constants, or with its configuration file.

    ``classes`` are those of earlier specs with the same names (`krafla.oracle.shared_names`). Of
    several threads one loads at a time. Expressions may name the model values of the configuration
    file.
    """
    try:
        return _load_tool(wrapping, path, configuration, search_path, classes)
    except SpecError as error:
        if configuration is None or not configuration.is_file() or classes is not None:
            raise
        named = read_config(configuration).model_values_unknown_in(error.message)
        if not wrapping.expressions or not named:
            raise
        wrapping = replace(wrapping, model_values=named)
        return _load_tool(wrapping, path, configuration, search_path, classes)


def _load_tool(
    wrapping: Wrapping,
    path: Path | None,
    configuration: Path | None,
    search_path: Sequence[Path] | None,
    classes: TlcClasses | None,
) -> LoadedTool:
    module = find_module(wrapping.module, path)
    folders = list(search_path) if search_path is not None else folders_for(module)
    folders = list(
        searched(dict.fromkeys([module.parent, *folders]), find_oracle_jar().capabilities)
    )
    sources = Sources(folders, module)
    with _one_at_a_time, scratch_folder("spec") as scratch:
        root = wrapping.module
        if configuration is None or wrapping.expressions:
            root = WRAPPER
            text, settings = wrap(wrapping)
            sources.made[WRAPPER] = text
            (scratch / f"{WRAPPER}.tla").write_text(text, encoding="utf-8")
            (scratch / f"{_MODEL}.cfg").write_text(settings, encoding="utf-8")
        if configuration is not None:
            if not configuration.is_file():
                raise SpecError("there is no such configuration file", str(configuration))
            asks = read_config(configuration).known_to(find_oracle_jar().capabilities)
            for name in wrapping.model_values:
                asks = asks.with_model_value(name)
            (scratch / f"{_MODEL}.cfg").write_text(asks.text, encoding="utf-8")
        classes = classes or TlcClasses()
        before = variables_in(classes)
        blame = (sources, configuration)
        try:
            safe = without_classes([folder.resolve() for folder in folders], scratch)
            joined = laid_out(module, scratch)
            tool = _start_tool(classes, scratch, root, [scratch, *safe, *joined], blame)
            if before:
                check_names(classes, tool, before)
        except BaseException as error:
            classes.broken = True
            if isinstance(error, SpecError):
                raise plainly(error, module, configuration) from None
            raise
        classes.spec_count += 1
    return LoadedTool(classes, tool, sources, module, configuration)


def folders_for(module: Path) -> list[Path]:
    """Return the folders of the modules that a module may extend: its own room comes first."""
    try:
        return list(search_path(module))
    except KraflaError:
        # A spec outside any project stands on its own.
        return [module.parent]


def _start_tool(
    classes: TlcClasses,
    scratch: Path,
    root: str,
    folders: Sequence[Path],
    blame: tuple[Sources, Path | None],
) -> Any:
    console = classes("util.ToolIO")
    heard = java("java.io.ByteArrayOutputStream")()
    console.out = console.err = java("java.io.PrintStream")(heard, True)
    console.setUserDir(str(scratch))
    classes("tlc2.util.FP64").Init(0)
    paths = java("java.lang.String[]")([f"{folder}/" for folder in folders])
    resolver = classes("util.SimpleFilenameToStream")(paths)
    try:
        tool = classes("tlc2.tool.impl.FastTool")(str(scratch), root, _MODEL, resolver)
        _check_assumptions(tool, blame[0])
        _forget_empty_tuples(tool, classes("tlc2.value.impl.TupleValue"))
    except java_error() as error:
        raise complaint(str(heard.toString()), error, *blame) from None
    blame[0].read = frozenset(_names(str(heard.toString())))
    # From here on only Print and PrintT of a spec would write, and no reader would see it.
    silence = java("java.io.OutputStream").nullOutputStream()
    console.out = console.err = java("java.io.PrintStream")(silence)
    return tool


def _check_assumptions(tool: Any, sources: Sources) -> None:
    for assumption in tool.getAssumptions():
        if not all(_holds(tool, part) for part in _conjuncts(assumption)):
            place = sources.place(assumption)
            text = " ".join(sources.text(place).split())
            raise SpecError(
                f"the constants break the assumption {text}",
                f"{place.path or place.module}:{place.line}",
            )


def _conjuncts(assumption: Any) -> Iterator[Any]:
    is_list = str(assumption.getClass().getSimpleName()) == "OpApplNode" and (
        str(assumption.getOperator().getName().toString()) == "$ConjList"
    )
    yield from assumption.getArgs() if is_list else [assumption]


def _holds(tool: Any, assumption: Any) -> bool:
    try:
        return bool(tool.isValid(assumption))
    except java_error() as error:
        # An assumption about the mode or the workers of TLC is one of a run, which this is not.
        if _SETTINGS in str(error.getMessage()):
            return True
        raise


def _forget_empty_tuples(tool: Any, tuple_class: Any) -> None:
    """Let TLC look at definitions of << >> each time, not at their value.

    It keeps the values of definitions without variables, and then cannot leave one UNCHANGED. Such
    a definition is a group of variables that has none yet.
    """
    number = tool.getId()
    for module in tool.getSpecProcessor().getModuleTbl().getModuleNodes():
        for definition in module.getOpDefs() or ():
            value = definition.getToolObject(number)
            if isinstance(value, tuple_class) and not value.size():
                definition.setToolObject(number, None)


def complaint(
    heard: str, error: Any | None, sources: Sources, configuration: Path | None = None
) -> SpecError:
    """Return the complaint of SANY or TLC as one error with its place."""
    lines = [line.strip() for line in heard.splitlines()]
    said = [line for line in lines if line and not _CHATTER.match(line)]
    place = _place(heard, sources)
    message = "" if error is None else str(error.getMessage() or error).strip()
    read = [path for path in _opened(heard, sources) if path.is_file()]
    algorithm = untranslated(read)
    if error is not None and "Parsing or semantic analysis failed" not in message:
        said = message.splitlines()
        settings = _CONFIGURATION_LINE.search(message)
        if settings and configuration is not None:
            place = f"{configuration}:{settings['line']}"
        elif place is None and configuration is not None:
            place = str(configuration)
        plain = None if configuration is None else mended(message, configuration, read)
        if plain is not None and algorithm is None:
            return SpecError(*plain)
    else:
        # Nobody wrote the lines of the wrapping module.
        shown = read[-1] if read and read[-1].stem != WRAPPER else None
        syntax = syntax_error(heard, shown)
        said = said if syntax is None else [syntax]
    missing = _MISSING_MODULE.search(heard)
    if missing is not None:
        # SANY lists each folder that it looked in.
        importer = missing["importer"]
        said = [missing_module(missing["name"])]
        place = str(sources.find(importer) or importer)
    if algorithm is not None:
        return SpecError(algorithm[0], f"{algorithm[1].resolve()}:{algorithm[2]}")
    # SANY says some things twice.
    said = list(dict.fromkeys(line for line in said if not _SEMANTIC_PLACE.fullmatch(line)))
    return SpecError(with_advice(" ".join(said) or message, _names(heard)), place)


def _names(heard: str) -> list[str]:
    """Return the names of the modules that SANY has read."""
    return [Path(path).stem for path in _OPENED.findall(heard)]


def _opened(heard: str, sources: Sources) -> list[Path]:
    """Return the files that SANY has opened; of one that was written for it, where its text is."""
    return [sources.find(path.stem) or path for path in map(Path, _OPENED.findall(heard))]


def _place(heard: str, sources: Sources) -> str | None:
    found = _SEMANTIC_PLACE.search(heard)
    if found:
        path = sources.find(found["module"])
        return f"{path or found['module']}:{found['line']}"
    found = _SYNTAX_PLACE.search(heard)
    if found:
        # The module that does not parse is the last one that was opened.
        opened = _opened(heard, sources)
        return f"{opened[-1].resolve() if opened else 'module'}:{found['line']}"
    return None
