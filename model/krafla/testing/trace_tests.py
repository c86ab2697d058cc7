"""``@spec_trace``: a test of pytest for each of some traces of a spec."""

from __future__ import annotations

import dis
import functools
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import pytest

from krafla.testing.current_test import CURRENT_TEST, CurrentTest
from krafla.testing.machine_judge import loaded, spec_of
from krafla.testing.setting import NamedTrace, NoBehaviour, Setting
from krafla.testing.trace_drive import Departure
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable

    from krafla.oracle import Spec
    from krafla.testing.setting import TraceSource

__all__ = ["TraceSkipped", "parametrize", "spec_trace"]

Test = TypeVar("Test", bound="Callable[..., None]")

# The attribute of a test which says whose traces it takes; the plugin looks for it.
_MARK: Final = "krafla_traces"
_ARGUMENT: Final = "trace"
_SOURCES: Final = (
    "a test of @spec_trace has no trace: name a source of traces, such as random_walks(20, 30) or "
    'shortest_paths("conjuncts")'
)
_UNUSED: Final = "{} does nothing with its trace, so it tests nothing: call drive(Machine, trace)"


class TraceSkipped(pytest.skip.Exception):  # type: ignore[name-defined,misc]  # it has no type
    """The spec has no such behaviour, or the code did not follow the trace to its end."""

    # pytest leaves out the name of its own class.
    __module__, __qualname__ = "builtins", "Skipped"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What a test asked for: traces of these sources, of this spec."""

    setting: Setting
    sources: tuple[TraceSource, ...]


def spec_trace(spec: type | Spec | str | Path, *sources: TraceSource) -> Callable[[Test], Test]:
    """Return a decorator that makes a test of each trace of some sources.

    ``spec`` is a machine's class that names its spec, a loaded ``Spec``, or the path of a ``.tla``
    from the folder of the test's file. The test takes an argument ``trace``, and mostly only says
    ``drive(Machine, trace)``. It is skipped, with the reason, where the spec has no such behaviour,
    or the code went another way than the trace, which the spec allows. If that is so for each of
    its traces, pytest does not end with 0. A test that never uses its trace fails.
    """

    def decorated(test: Test) -> Test:
        folder = _folder_of(test)
        setting, uses_trace = _setting(spec, folder), _uses_trace(test)

        @functools.wraps(test)
        def on_trace(*arguments: Any, trace: NamedTrace, **others: Any) -> None:
            __tracebackhide__ = True
            token = CURRENT_TEST.set(CurrentTest(trace.name, lambda: setting.spec))
            try:
                test(*arguments, trace=trace.make(), **others)
            except (NoBehaviour, Departure) as doubt:
                raise TraceSkipped(str(doubt)) from None
            finally:
                CURRENT_TEST.reset(token)
            if not uses_trace:
                raise KraflaError(_UNUSED.format(test.__name__))

        setattr(on_trace, _MARK, _Wanted(setting, sources))
        return on_trace  # type: ignore[return-value]  # pytest calls it, with the same arguments

    return decorated


def parametrize(metafunc: pytest.Metafunc) -> None:
    """Make a test of each trace; what cannot be listed is a test that fails with the reason."""
    wanted: _Wanted = getattr(metafunc.function, _MARK)
    try:
        traces = [one for source in wanted.sources for one in source.cases(wanted.setting)]
    except KraflaError as error:
        traces = [NamedTrace("traces", partial(_fail, error))]
    if not traces:
        # Without a case pytest would skip the test.
        traces = [NamedTrace("traces", partial(_fail, KraflaError(_SOURCES)))]
    metafunc.parametrize(_ARGUMENT, traces, ids=str)


def _uses_trace(test: Callable[..., None]) -> bool:
    """Return whether a test mentions its argument ``trace``, as far as its own code shows."""
    code = getattr(test, "__code__", None)
    if (
        code is None
        or _ARGUMENT not in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    ):
        # A function around the test passes on what it is given.
        return True
    used = (one for one in dis.get_instructions(code) if "LOAD" in one.opname)
    return _ARGUMENT in code.co_cellvars or any(_ARGUMENT in _names(one.argval) for one in used)


def _names(loaded: object) -> tuple[object, ...]:
    """Return what one instruction loads; newer Pythons load two variables at once."""
    return loaded if isinstance(loaded, tuple) else (loaded,)


def _fail(error: KraflaError) -> NoReturn:
    __tracebackhide__ = True
    raise error.with_traceback(None)


_settings: dict[tuple[object, Path], Setting] = {}


def _setting(spec: Any, folder: Path) -> Setting:
    """Return the setting of a spec: one for all tests of a class, so that it is explored once."""
    key = (spec, folder)
    known = _settings.get(key)
    if known is None:
        known = _settings[key] = Setting(folder, lambda: _loaded(spec, folder))
    return known


def _loaded(spec: type | Spec | str | Path, folder: Path) -> Spec:
    if isinstance(spec, type):
        return spec_of(spec)
    return loaded(folder / spec, None, None) if isinstance(spec, str | Path) else spec


def _folder_of(test: Callable[..., None]) -> Path:
    file = getattr(sys.modules.get(test.__module__), "__file__", None)
    return Path.cwd() if file is None else Path(file).parent
