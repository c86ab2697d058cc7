"""The pytest plugin: traces as tests, selected by their tags, told by their steps.

Tests are each trace of a corpus, each file ``*.trace.ndjson``, and each trace of a function with
``@spec_trace``. pytest loads this module in every project where krafla is installed, so it imports
nothing of krafla until it meets one of these, or a test that takes one of the fixtures.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable
    from pathlib import Path

    from krafla.match.corpus import Entry
    from krafla.testing.fixtures import SpecLoader, TraceValidator

__all__ = [
    *("KeptTrace", "TraceCorpus", "krafla_spec", "krafla_validate", "pytest_collect_file"),
    *("pytest_configure", "pytest_generate_tests", "pytest_itemcollected", "pytest_runtest_call"),
    *(
        "pytest_runtest_makereport",
        "pytest_sessionfinish",
        "pytest_terminal_summary",
        "pytest_unconfigure",
    ),
]

root: Path | None = None
"""The folder in which traces of failures are kept, below ``.krafla/found``."""

_INDEX_NAME = "index.toml"
_TRACE_ENDING = ".trace.ndjson"
# What ``krafla.testing.found_files`` calls the list of the traces that were saved in a folder.
_FOUND_LIST = ".krafla-found"
# What ``krafla.testing.trace_tests`` leaves on a test.
_TRACES = "krafla_traces"
# The module that counts what a machine's runs judge, and the property of a report that tells it.
_TALLY = "krafla.testing.machine_tally"
_COVERAGE = "krafla_coverage"
# How many tests were made of the traces of each function, and the property of a report that tells
# it: the report of a test that was skipped for its trace.
_COUNTS = pytest.StashKey["Counter[str]"]()
_SKIPPED = "krafla_skipped_of"
# Of pytest -qq.
_SILENT = -2
_MARK = re.compile(rb"^krafla_corpus[ \t]*=", re.MULTILINE)
# The key stands above the first table; a whole foreign file need not be read to miss it.
_HEAD_BYTES = 16_384


def pytest_configure(config: pytest.Config) -> None:
    """Make the kinds of traces known as markers, and the root known to who saves failures."""
    global root
    root = config.rootpath
    config.addinivalue_line("markers", "krafla: a trace of a corpus, replayed on its spec")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Give Java its handlers of faults again: pytest's own plugin `faulthandler` has taken them."""
    oracle = sys.modules.get("krafla.oracle.jvm")
    if oracle is not None:
        oracle.restore_fault_signals()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    """Return the test of a trace, or the traces of a corpus if the file is the index of one."""
    if file_path.name.endswith(_TRACE_ENDING):
        if _is_found(file_path, parent.config):
            return None
        from krafla.testing.trace_item import TraceFile

        return TraceFile.from_parent(parent, path=file_path)
    if file_path.name != _INDEX_NAME or not _is_ours(file_path):
        return None
    return TraceCorpus.from_parent(parent, path=file_path)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each trace for a function with ``@spec_trace``."""
    if hasattr(metafunc.function, _TRACES):
        from krafla.testing.trace_tests import parametrize

        parametrize(metafunc)


def pytest_itemcollected(item: pytest.Item) -> None:
    """Count the tests of a function with ``@spec_trace``, before any is deselected."""
    if isinstance(item, pytest.Function) and hasattr(item.function, _TRACES):
        item.config.stash.setdefault(_COUNTS, Counter())[_function_of(item)] += 1


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Note in the report of a test what the runs of its machine covered, or that it was skipped."""
    try:
        yield
    except pytest.skip.Exception as skipped:
        # If no test has loaded it, no trace was skipped.
        tests = sys.modules.get("krafla.testing.trace_tests")
        if tests is not None and isinstance(skipped, tests.TraceSkipped):
            name = _function_of(item)
            item.user_properties.append((_SKIPPED, f"{item.config.stash[_COUNTS][name]} {name}"))
        raise
    # If no test has loaded it, no machine has run.
    tally = sys.modules.get(_TALLY)
    if tally is not None:
        item.user_properties += [(_COVERAGE, told) for told in tally.take_told()]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Tell an error that says all in its sentence without a stack of others' calls."""
    report = yield
    error = None if call.excinfo is None else call.excinfo.value
    # If nothing has loaded krafla, the error is none of its own.
    if error is not None and "krafla.verdict" in sys.modules:
        from krafla.testing.frames import says_all

        if says_all(error):
            report.longrepr = "\n".join((str(error), *getattr(error, "__notes__", ())))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Do not end with 0 if a function with ``@spec_trace`` was skipped for each of its traces."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and session.exitstatus == pytest.ExitCode.OK and _unfollowed(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _function_of(item: pytest.Item) -> str:
    """Return the id of a test without that of its parameters."""
    return item.nodeid.removesuffix(item.name) + getattr(item, "originalname", item.name)


def _unfollowed(reporter: pytest.TerminalReporter) -> list[str]:
    """Return a line for each function of which every trace was skipped, with the first reason."""
    skipped: dict[str, list[str]] = {}
    for one in reporter.stats.get("skipped", ()):
        for name, value in getattr(one, "user_properties", ()):
            if name == _SKIPPED:
                skipped.setdefault(value, []).append(str(one.longrepr[2]))
    return [
        f"{name}: {'its trace was' if total == '1' else f'all of its {total} traces were'} "
        f"skipped, which is no success; the first: {reasons[0].removeprefix('Skipped: ')}"
        for (total, _, name), reasons in (
            (key.partition(" "), found) for key, found in skipped.items()
        )
        if len(reasons) == int(total)
    ]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell of each machine what its runs covered: a test that passes does not show it.

    Tell also which tests no trace has shown anything in.
    """
    unfollowed = _unfollowed(terminalreporter)
    if unfollowed:
        terminalreporter.section("traces that were all skipped")
        for line in unfollowed:
            terminalreporter.write_line(line, red=True)
    reports = (one for several in terminalreporter.stats.values() for one in several)
    calls = (one for one in reports if getattr(one, "when", None) == "call")
    told = [value for one in calls for name, value in one.user_properties if name == _COVERAGE]
    if told and terminalreporter.verbosity > _SILENT:
        terminalreporter.section("coverage of machines")
        for line in dict.fromkeys(told):
            terminalreporter.write_line(line)


@pytest.fixture
def krafla_spec(request: pytest.FixtureRequest) -> SpecLoader:
    """Return a function that loads a spec by its path from the folder of the test, once."""
    from krafla.testing.fixtures import spec_loader

    return spec_loader(request.path.parent)


@pytest.fixture
def krafla_validate(request: pytest.FixtureRequest) -> TraceValidator:
    """Return a function that judges a trace, or the file of one by its path from the folder."""
    from krafla.testing.fixtures import trace_validator

    return trace_validator(request.path.parent)


def _is_found(path: Path, config: pytest.Config) -> bool:
    """Return whether a failure was saved in this file, for which nobody asks by name."""
    try:
        lines = path.with_name(_FOUND_LIST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return False
    if all(path.name != line.partition(" ")[0] for line in lines):
        return False
    given = config.invocation_params
    asked = {(given.dir / str(one).partition("::")[0]).resolve() for one in given.args}
    return asked.isdisjoint({path.resolve(), path.parent.resolve()})


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return _MARK.search(file.read(_HEAD_BYTES)) is not None
    except OSError:
        return False


class TraceCorpus(pytest.File):
    """The index of a corpus: one item for each trace that it lists."""

    def collect(self) -> Iterable[KeptTrace]:
        """Return the traces; an index that is not as it must be is an error of collection."""
        from krafla.match.corpus import read_index
        from krafla.verdict import KraflaError

        folder = self.path.parent
        try:
            entries = read_index(folder)
        except KraflaError as error:
            raise self.CollectError(str(error)) from error
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return [
            KeptTrace.from_parent(
                self,
                name=entry.path.relative_to(folder).as_posix(),
                entry=entry,
                line=_line_of(lines, entry.path.relative_to(folder).as_posix()),
            )
            for entry in entries
        ]


def _line_of(lines: list[str], file: str) -> int:
    return next((number for number, line in enumerate(lines) if f'"{file}"' in line), 0)


class KeptTrace(pytest.Item):
    """One trace, which must show what the index says."""

    def __init__(self, *, entry: Entry, line: int, **options: Any) -> None:
        super().__init__(**options)
        self.entry = entry
        self._line = line
        self.user_properties.append(("reason", entry.reason))
        for tag in ("krafla", entry.kind, *entry.tags):
            # Strict markers accept only names that are known: those that the index lists are.
            known = f"{tag}: kept traces of this kind or tag"
            if known not in self.config.getini("markers"):
                self.config.addinivalue_line("markers", known)
            self.add_marker(tag)

    def runtest(self) -> None:
        """Replay the trace on its spec, and on the implementation or the machine that it is of."""
        from krafla.fuzz.engine.kept_trace import check_kept

        check_kept(self.entry)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], *arguments: Any, **options: Any
    ) -> Any:
        """Return the explanation of the trace instead of a stack of Python calls."""
        from krafla.fuzz.engine.kept_trace import NotAsListed
        from krafla.testing.errors import Inconclusive
        from krafla.verdict import KraflaError

        if isinstance(excinfo.value, NotAsListed | KraflaError | Inconclusive):
            from krafla.report.explain.failure import failure_text
            from krafla.testing.trace_item import RETIRED

            if isinstance(excinfo.value, Inconclusive):
                excinfo.value.add_note(RETIRED)
            return failure_text(self.entry, excinfo.value)
        return super().repr_failure(excinfo, *arguments, **options)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where the index lists the trace."""
        return self.path, self._line, self.name
