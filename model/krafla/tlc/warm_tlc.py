"""TLC run by run in one JVM, each run as in a JVM of its own: the program of a child process.

Java spends most of the time of a short search on the start and on compiling TLC. A warm JVM
has done both. TLC keeps much in statics, so they are set back before each run:

* The statics of TLC's classes get the values that they had before the first run.
* Each name and each string has a number, by which TLC sorts and finds them. So the table of
  strings is set back, too, and a run gives its strings the numbers of a first run. What TLC's
  classes keep of strings must be in the table from the start, so all the classes are initialised.
* SANY's statics stay: it is made to read one spec after another.

`krafla.tlc.warm_java` starts it, and is the other side of its pipes.
Source: UniqueString, InternTable, ModelValue, OutputCollector, TLC.main of TLC 2.18.
"""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, Final
from zipfile import ZipFile

import jpype  # type: ignore[import-untyped]  # JPype ships no types
import jpype.config  # type: ignore[import-untyped]  # the same

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["main"]

# The packages whose statics belong to a run.
_OF_A_RUN: Final = ("tlc2.", "util.")
_PACKAGES: Final = ("tlc2/", "util/", "tla2sany/")
# Programs of their own, which no search uses; some of them open a port or a window.
_OTHERS: Final = (
    "tlc2/tool/distributed/", "tlc2/debug/", "tlc2/tool/fp/dfid/", "tla2sany/drivers/",
    "tla2sany/xml/", "tlc2/input/", "tlc2/REPL", "tlc2/TraceExplorer", "tlc2/TLCRunner",
    "util/SimpleHttp", "util/MailSender", "util/ExecutionStatistics",
)  # fmt: skip
_STACK_BYTES: Final = 16 * 2**20
_TABLE_NUMBERS: Final = ("count", "length", "thresh", "tokenCnt")
# Of a string that is no name of the spec.
_NO_PLACE: Final = -1


def main(arguments: Sequence[str]) -> None:
    """Serve the requests on standard input, a line of JSON each, until that ends.

    The arguments: what begins the line that ends a run, before its exit status; Java's library;
    TLC's jar; Java's options. A first such line says that TLC is ready.
    """
    end_of_run, library, jar, *options = arguments
    # The end of this process is no matter of the JVM; and Java's output is all there is on stdout.
    jpype.config.onexit = False
    jpype.startJVM(library, *options, classpath=[jar], convertStrings=False, interrupt=True)
    statics = _Statics(jar)
    _tell(end_of_run, 0)
    for line in sys.stdin:
        request = json.loads(line)
        statics.set_back()
        _tell(end_of_run, _in_thread_of_java(request))
    os._exit(0)


def _tell(end_of_run: str, status: int) -> None:
    out = jpype.JClass("java.lang.System").out
    out.println(f"{end_of_run}{status}")
    out.flush()


def _in_thread_of_java(request: dict[str, Any]) -> int:
    """Return TLC's exit status, run in a thread with the stack that its main thread has."""
    found: list[int] = []

    @jpype.JImplements("java.lang.Runnable")
    class Run:
        @jpype.JOverride  # type: ignore[untyped-decorator]  # JPype ships no types
        def run(self) -> None:
            found.append(_run(request))

    thread = jpype.JClass("java.lang.Thread")(None, Run(), "main", _STACK_BYTES)
    thread.start()
    thread.join()
    if not found:
        # What TLC threw is on stderr, as where it is uncaught in its main method.
        sys.stderr.flush()
        os._exit(1)
    return found[0]


def _run(request: dict[str, Any]) -> int:
    """Do what TLC.main does, but for the end of the JVM and the advice which collector to use."""
    jpype.JClass("java.lang.System").setProperty("TLA-Library", request["library"])
    jpype.JClass("util.ToolIO").setUserDir(request["folder"])
    tlc = jpype.JClass("tlc2.TLC")()
    if not tlc.handleParameters(request["arguments"]):
        return 1
    tlc.setResolver(jpype.JClass("util.SimpleFilenameToStream")())
    code = tlc.process()
    return int(jpype.JClass("tlc2.output.EC$ExitStatus").errorConstantToExitStatus(code))


class _Statics:
    """What TLC's classes hold apart from a run, as it was before the first one."""

    def __init__(self, jar: str) -> None:
        fields = [field for owner in _initialised(jar) for field in _statics_of_a_run(owner)]
        containers = jpype.JClass("java.util.Collection"), jpype.JClass("java.util.Map")
        values = [(field, field.get(None)) for field in fields]
        self._empty = [
            value for _, value in values if isinstance(value, containers) and value.isEmpty()
        ]
        is_final = jpype.JClass("java.lang.reflect.Modifier").isFinal
        self._values = [pair for pair in values if not is_final(pair[0].getModifiers())]
        self._table = _Table()

    def set_back(self) -> None:
        """Let the next run of TLC find the classes as the first one did."""
        for field, value in self._values:
            field.set(None, value)
        for container in self._empty:
            container.clear()
        # It tells a warning once, and remembers which.
        reporter = jpype.JClass("tlc2.output.MP").class_
        constructor = reporter.getDeclaredConstructor()
        constructor.setAccessible(True)
        _field(reporter, "instance").set(None, constructor.newInstance())
        self._table.set_back()


class _Table:
    """The table of strings with their numbers, as TLC's classes have filled it."""

    def __init__(self) -> None:
        self._owner = jpype.JClass("util.UniqueString")
        table = self._owner.internTbl
        kind = table.getClass()
        self._numbers = {name: _field(kind, name).getInt(table) for name in _TABLE_NUMBERS}
        self._entries = _field(kind, "table").get(table)
        self._copy = self._entries.clone()
        self._strings = [entry for entry in self._copy if entry is not None]

    def set_back(self) -> None:
        """Forget the strings of the last run, and which places all others had in its tables."""
        table = self._owner.internTbl
        kind = table.getClass()
        for name, number in self._numbers.items():
            _field(kind, name).setInt(table, number)
        _field(kind, "table").set(table, self._copy.clone())
        for string in self._strings:
            string.setLoc(_NO_PLACE)


def _initialised(jar: str) -> Iterator[Any]:
    """Yield the classes of TLC; each has run its static initialiser."""
    loader = jpype.JClass("java.lang.ClassLoader").getSystemClassLoader()
    find = jpype.JClass("java.lang.Class").forName
    with ZipFile(jar) as archive:
        names = archive.namelist()
    for name in names:
        if name.endswith(".class") and name.startswith(_PACKAGES) and not name.startswith(_OTHERS):
            yield find(name.removesuffix(".class").replace("/", "."), True, loader)


def _statics_of_a_run(owner: Any) -> Iterator[Any]:
    """Yield the static fields of a class that a run may change; they can be read and set."""
    if not str(owner.getName()).startswith(_OF_A_RUN):
        return
    is_static = jpype.JClass("java.lang.reflect.Modifier").isStatic
    for field in owner.getDeclaredFields():
        if is_static(field.getModifiers()) and not field.isSynthetic():
            field.setAccessible(True)
            yield field


def _field(owner: Any, name: str) -> Any:
    field = owner.getDeclaredField(name)
    field.setAccessible(True)
    return field


if __name__ == "__main__":
    main(sys.argv[1:])
