"""The one Java virtual machine of this process, and copies of TLC's classes in it.

TLC keeps statics for the spec it has loaded: interned strings, variables, model values. So a spec
gets the classes from a class loader of its own (``TlcClasses``), or shares them with specs of the
same names (`krafla.oracle.shared_names`).

JPype is imported by need: many commands read a spec's names here, and start no JVM.
"""

from __future__ import annotations

import atexit
import gc
import os
import resource
import signal
import sys
import tempfile
import threading
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from krafla.oracle.errors import JvmError
from krafla.oracle.fault_signals import FaultSignals
from krafla.scratch import lasting_folder
from krafla.tlc.class_archive import archive_options
from krafla.tlc.jar import find_oracle_jar
from krafla.tlc.java_compiler import COMPILE_BRIEFLY, OPTIMISE_LATE
from krafla.tlc.jre import find_jre

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path
    from types import FrameType

__all__ = [
    "HEAP_VARIABLE", "STACK_MIB", "TlcClasses", "abandon", "java", "java_error",
    "restore_fault_signals", "settle", "start", "undisturbed",
]  # fmt: skip

# A check gives each worker of TLC 24 MiB (krafla.tlc.command), and nothing that it can evaluate may
# be too deep here: frames that Java has not compiled are larger, and those of Python are below.
# What is not used costs nothing. A thread that evaluates is started with as much.
STACK_MIB: Final = 64
_OPTIONS = (
    # One thread evaluates, heaps are small: the serial collector starts fastest and leaves the
    # other cores to the other test processes.
    "-XX:+UseSerialGC",
    f"-Xss{STACK_MIB}m",
    "-XX:-UsePerfData",
    "-Xshare:auto",
    # Signals belong to Python. Java would shut the machine down under it, and JPype's own handler
    # calls into the interpreter from a thread of Java's, which has crashed both.
    "-Xrs",
)
# Every object that Python holds is a root of each collection, so there should be few of them.
_HEAP = ("-Xms160m", "-Xmn128m")
# A process that evaluates little has a few collections even so.
_BRIEF_HEAP = ("-Xms64m", "-Xmn48m")
# Bounds the heap in MiB. By itself Java takes up to a quarter of the machine's memory, which is too
# much for one of many workers.
HEAP_VARIABLE: Final = "KRAFLA_ORACLE_HEAP_MIB"
_HEAP_LEAST: Final = 256
# What may interrupt Python in the middle of something.
_SIGNALS = (signal.SIGALRM, signal.SIGINT, signal.SIGTERM)
# From this release on Java prints a warning when JPype loads its library, unless told beforehand.
_WARNS_OF_NATIVE_CODE = 24
# Of one copy of TLC's classes. Each spec takes a place at every node of its modules.
SPECS_MOST: Final = 300
_started_in: int | None = None
# Java's handlers, once it runs.
_fault_signals: FaultSignals | None = None
# The jar whose classes Java maps from the archive, until a copy of them is used: it maps those of
# its own class path only.
_mapped_jar: str | None = None
# Two threads may ask for Java at once; a forked child cannot use it at all.
_starting = threading.Lock()


def start(*, brief: bool = True, heap_mib: int | None = None) -> None:
    """Start the virtual machine, unless it runs; ``JvmError`` where it cannot.

    A process that evaluates specs for more than a minute is not ``brief``: from there on Java's
    optimising compiler saves more than it costs. ``heap_mib`` bounds the heap where many processes
    share a machine; else Java takes up to a quarter of the memory.
    """
    global _started_in, _mapped_jar, _fault_signals
    if _started_in == os.getpid():
        return
    if _started_in is not None:
        raise JvmError(
            "this process was forked from one that runs a JVM and cannot use it: start worker "
            "processes by 'spawn', or load the spec only after the fork"
        )
    with _starting:
        if not _jpype().isJVMStarted():
            # TLC unpacks its standard modules into java.io.tmpdir under fixed names, so two
            # processes sharing it could read each other's half-written files.
            scratch = lasting_folder("oracle")
            archive, class_path = _archive()
            size = (*_BRIEF_HEAP, *COMPILE_BRIEFLY) if brief else (*_HEAP, *OPTIMISE_LATE)
            more = (*size, *_bound(heap_mib), *archive)
            _deepen_stack()
            with undisturbed():
                _start_in(scratch, more, class_path)
            _fault_signals = FaultSignals()
            _mapped_jar = next(iter(class_path), None)
            os.register_at_fork(after_in_child=_let_go)
            atexit.register(_end)
        _started_in = os.getpid()


def _deepen_stack() -> None:
    """Let the stack of the main thread grow as far as Java may use it, where that can be had.

    Java asks for the limit once, when it starts. Linux keeps 128 MiB free for that stack.
    """
    if sys.platform != "linux":
        return
    wanted = (STACK_MIB + 1) << 20
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))


@contextmanager
def undisturbed() -> Iterator[None]:
    """Return a context in which signals wait.

    An interrupt during the start of the JVM hangs, and one while JPype makes the Python class of a
    Java class crashes both. Threads that Java starts in this context ignore signals for good.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def keep(number: int, _frame: FrameType | None) -> None:
        came.append(number)

    # A mask alone does not do: a signal may come by way of another thread.
    kept = {number: signal.getsignal(number) for number in _SIGNALS}
    handlers = {number: handler for number, handler in kept.items() if callable(handler)}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        for number in handlers:
            signal.signal(number, keep)
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for late in came:
            signal.raise_signal(late)


def _let_go() -> None:
    """Keep Python's collector out of the JVM in a forked child, which has none of its threads.

    JPype has Java collect when Python does, and would wait forever for a thread that is missing.
    """
    gc.freeze()
    gc.callbacks[:] = [
        callback for callback in gc.callbacks if getattr(callback, "__module__", "") != "_jpype"
    ]


def _bound(heap_mib: int | None) -> tuple[str, ...]:
    """Return Java's option that bounds the heap: the environment's word counts before ours."""
    asked = os.environ.get(HEAP_VARIABLE)
    if not asked:
        return () if heap_mib is None else (f"-Xmx{heap_mib}m",)
    if not asked.isdecimal() or int(asked) < _HEAP_LEAST:
        raise JvmError(f"{HEAP_VARIABLE} is a number of MiB from {_HEAP_LEAST} on, not {asked!r}")
    return (f"-Xmx{asked}m",)


def _archive() -> tuple[Sequence[str], Sequence[str]]:
    """Return Java's options to use the archive of TLC's classes, and its class path then."""
    jar = find_oracle_jar()
    # For any other path JPype replaces the system's loader, and switches archives off.
    if not str(jar.path).isascii():
        return (), ()
    archive = archive_options(jar, find_jre(), make=False)
    return archive, (str(jar.path),) if archive else ()


def _start_in(scratch: Path, more: Sequence[str], class_path: Sequence[str]) -> None:
    runtime = find_jre()
    # If Java itself crashes, its report goes to the temporary folder, not into the user's folder.
    crash_report = f"-XX:ErrorFile={tempfile.gettempdir()}/krafla_java_crash_%p.log"
    options = [*_OPTIONS, *more, f"-Djava.io.tmpdir={scratch}", crash_report]
    if runtime.feature >= _WARNS_OF_NATIVE_CODE:
        options.append("--enable-native-access=ALL-UNNAMED")
    try:
        _jpype().startJVM(
            str(runtime.libjvm),
            *options,
            classpath=list(class_path),
            convertStrings=False,
            # JPype, too, shall leave signals alone; with -Xrs Java takes none.
            interrupt=True,
        )
    except (OSError, RuntimeError, _jpype().JVMNotFoundException) as error:
        raise JvmError(f"the Java virtual machine did not start: {error}") from error


def restore_fault_signals() -> None:
    """Give Java its handlers of faults again, if it runs, where something may have taken them."""
    if _fault_signals is not None and _started_in == os.getpid():
        _fault_signals.restore()


def settle() -> None:
    """Make this thread known to the JVM, if the JVM runs.

    At exit the main thread ends the JVM, and waits for ever if the JVM has never seen it: call
    this where another thread started it.
    """
    if _started_in == os.getpid():
        with undisturbed():
            _jpype().JClass("java.lang.Thread").currentThread()


def abandon() -> None:
    """Have the end of this process leave the JVM alone: for one that ends by ``os._exit``.

    To shut the JVM down crashes if another thread is in the JVM.
    """
    atexit.unregister(_end)


def _end() -> None:
    # A forked process has a copy of this and no virtual machine.
    if _started_in == os.getpid():
        restore_fault_signals()
        settle()
        _jpype().shutdownJVM()


@cache
def _jpype() -> Any:
    with _without_numpy():
        import jpype  # type: ignore[import-untyped]  # JPype ships no types
        import jpype.config  # type: ignore[import-untyped]  # the same

    # It would shut the JVM down as well, wherever other threads are.
    jpype.config.onexit = False
    return jpype


@contextmanager
def _without_numpy() -> Iterator[None]:
    """Return a context in which NumPy cannot be imported, unless it has been.

    JPype imports it where it is installed, for arrays that no spec has: a third of the time in
    which Java starts.
    """
    if "numpy" in sys.modules:
        yield
        return
    sys.modules["numpy"] = None  # type: ignore[assignment]  # Python's mark of a missing module
    try:
        yield
    finally:
        del sys.modules["numpy"]


def java_error() -> Any:
    """Return the class of what TLC throws: its own complaints, and Java's."""
    return _jpype().JException


def java(name: str) -> Any:
    """Return a class of the Java platform."""
    start()
    with undisturbed():
        return _jpype().JClass(name)


def _mapped_loader(jar: str) -> Any | None:
    """Return the loader whose classes Java maps; None if another copy has it, or of another jar."""
    global _mapped_jar
    with _starting:
        if jar != _mapped_jar:
            return None
        _mapped_jar = None
    return java("java.lang.ClassLoader").getSystemClassLoader()


def _new_loader(jar: str) -> Any:
    """Return a loader of TLC's classes that sees no other copy of them."""
    platform = java("java.lang.ClassLoader").getPlatformClassLoader()
    address = java("java.io.File")(jar).toURI().toURL()
    return java("java.net.URLClassLoader")([address], platform)


class TlcClasses:
    """A copy of TLC's classes: ``classes("tlc2.tool.Action")``.

    ``spec_count`` counts the specs that were loaded into them; they are ``broken`` once one could
    not be.
    """

    def __init__(self) -> None:
        self.spec_count = 0
        self.broken = False
        start()
        self._jar = str(find_oracle_jar().path)
        self._loader = _mapped_loader(self._jar) or _new_loader(self._jar)
        self._loaded: dict[str, Any] = {}

    @property
    def are_worn(self) -> bool:
        """Return whether the next spec should have other classes."""
        return self.broken or self.spec_count >= SPECS_MOST

    def __call__(self, name: str) -> Any:
        """Return the class of this name; the same one every time."""
        if name not in self._loaded:
            try:
                with undisturbed():
                    self._loaded[name] = _jpype().JClass(name, loader=self._loader)
            except (java_error(), TypeError) as error:
                raise JvmError(f"this is no jar of TLC: it lacks {name}", self._jar) from error
        return self._loaded[name]

    def array(self, name: str) -> Any:
        """Return the class of arrays of a class."""
        # JClass("name[]") would look in the platform's loader, which does not know the class.
        elements = java("java.lang.reflect.Array").newInstance(self(name).class_, 0)
        return _jpype().JClass(elements.getClass())
