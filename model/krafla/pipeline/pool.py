"""Spark for the length of one command: started quietly, ended and cleaned up in any case.

Whatever Java says goes into a log file. A job that fails is one sentence for the user, with the
place of that file, and never Java's stack trace.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
import time
import traceback
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # py4j ships no types
from pyspark import InheritableThread, SparkConf, SparkContext
from pyspark.errors import PySparkException

from krafla.pipeline.needs import find_java, require_packages
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["DEFAULT_MASTER", "JobError", "Session", "master_url", "session"]

_LOCAL: Final = re.compile(r"local(?:\[(\*|[1-9]\d*)\])?")
_OTHER: Final = re.compile(r"(spark://|yarn$|k8s://|local-cluster\[).*")
DEFAULT_MASTER: Final = "local[*]"
# A process that dies takes its task with it. Each death moves the suspicion on one seed, so this
# is also how many poisoned seeds one task can bear.
TASK_FAILURES_MAX: Final = 16
_LOG4J: Final = """status = error
rootLogger.level = warn
rootLogger.appenderRef.log.ref = log
appender.log.type = Console
appender.log.name = log
appender.log.target = SYSTEM_ERR
appender.log.layout.type = PatternLayout
appender.log.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""
_POLL_SECONDS: Final = 0.25
_KEPT_LINES: Final = 200


class JobError(KraflaError):
    """A job failed; the message has the reason, and the place of Spark's log."""


class Session:
    """A running Spark: give it a function and items, and get the answers in the items' order."""

    def __init__(self, context: SparkContext, log: Path) -> None:
        self.context = context
        self._log = log

    @property
    def parallelism(self) -> int:
        """Return how many tasks run at once, as Spark knows now."""
        return self.context.defaultParallelism

    def map(
        self,
        function: Callable[[Any], Any],
        items: Sequence[Any],
        progress: Callable[[], None] = lambda: None,
    ) -> list[Any]:
        """Return the function of each item, worked out in executors, one task for each.

        ``progress`` is called now and then meanwhile. ``JobError`` if a task failed for good.
        """
        if not items:
            return []
        answers: list[Any] = []
        errors: list[BaseException] = []
        done = Event()

        def work() -> None:
            try:
                tasks = self.context.parallelize(items, len(items)).map(partial(_tried, function))
                answers.extend(tasks.collect())
            except BaseException as error:  # noqa: BLE001 - raised again below, in the main thread
                errors.append(error)
            finally:
                done.set()

        InheritableThread(target=work, daemon=True).start()
        try:
            while not done.wait(_POLL_SECONDS):
                progress()
        except BaseException:
            self.context.cancelAllJobs()
            raise
        if errors:
            raise self._explained(errors[0])
        failed = next((answer for answer in answers if isinstance(answer, _Failed)), None)
        if failed is not None:
            if failed.of_input is not None:
                raise KraflaError(*failed.of_input)
            kept = _kept_log(self._log, failed.text)
            raise JobError(f"a task failed: {_cause(failed.text)}; details in {kept}")
        return answers

    def _explained(self, error: BaseException) -> BaseException:
        if not isinstance(error, Py4JError | PySparkException | ConnectionError):
            return error
        kept, cause = _kept_log(self._log, str(error)), _cause(str(error))
        if "stopped SparkContext" in cause:
            cause = _last_complaint(Path(kept)) or cause
        return JobError(f"a Spark job failed: {cause}; details in {kept}")


@dataclass(frozen=True, slots=True)
class _Failed:
    """The error of a task: the parts of a ``KraflaError``, or the text of any other."""

    of_input: tuple[str, str | None] | None
    text: str


def _tried(function: Callable[[Any], Any], item: Any) -> Any:
    """Return the function of an item, or how it failed.

    Spark repeats a task that raises, and would in vain: only a process that dies is worth another.
    """
    try:
        return function(item)
    except KraflaError as error:
        return _Failed((error.message, error.place), str(error))
    except Exception as error:  # noqa: BLE001 - the driver raises it again, with its text in a file
        return _Failed(None, "".join(traceback.format_exception(error)))


def master_url(master: str) -> str:
    """Return a master as Spark takes it; ``KraflaError`` if it is invalid.

    A local master is told to repeat a task that failed, which it would not do by itself.
    """
    local = _LOCAL.fullmatch(master)
    if local:
        return f"local[{local[1] or 1},{TASK_FAILURES_MAX}]"
    if _OTHER.fullmatch(master):
        return master
    raise KraflaError(
        f"{master!r} is no Spark master; use local, local[4], local[*] or spark://HOST:PORT"
    )


@contextmanager
def session(name: str, master: str = DEFAULT_MASTER) -> Iterator[Session]:
    """Run Spark while the context lasts.

    ``KraflaError`` if the master is invalid, if Java or a package is missing, or if Spark does not
    start.
    """
    require_packages()
    url, java = master_url(master), find_java()
    with scratch_folder("spark") as scratch, _environment(java.home, scratch):
        log = scratch / "spark.log"
        context = _started(_configuration(name, url, scratch), log)
        try:
            yield Session(context, log)
        finally:
            context.stop()
            _end_gateway()


def _started(configuration: SparkConf, log: Path) -> SparkContext:
    """Start Java with its stderr, for the whole of its life, in the log file."""
    sys.stderr.flush()
    terminal = os.dup(2)
    target = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    os.dup2(target, 2)
    try:
        return SparkContext(conf=configuration)
    except (Py4JError, PySparkException, ConnectionError, OSError) as error:
        _end_gateway()
        kept = _kept_log(log, str(error))
        raise JobError(f"Spark did not start: {_cause(str(error))}; details in {kept}") from None
    except BaseException:
        # Interrupted before Java's process is known: it would hold our output open forever.
        _end_gateway()
        _end_launched(log.parent)
        raise
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)
        os.close(target)


def _configuration(name: str, master: str, scratch: Path) -> SparkConf:
    log4j = scratch / "log4j2.properties"
    log4j.write_text(_LOG4J, encoding="utf-8")
    settings = {
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log4j.as_uri()}"
        f" -Djava.io.tmpdir={scratch} -XX:-UsePerfData",
        "spark.executor.memory": "512m",
        "spark.local.dir": str(scratch),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.task.maxFailures": str(TASK_FAILURES_MAX),
        # Results come back through the driver's memory: answers are small.
        "spark.driver.maxResultSize": "512m",
        "spark.python.worker.reuse": "true",
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.executorEnv.PYTHONHASHSEED": "0",
    }
    if not master.startswith("local["):
        # Another machine has to find this one.
        del settings["spark.driver.host"], settings["spark.driver.bindAddress"]
        if "//127.0.0.1" in master or "//localhost" in master:
            settings["spark.driver.host"] = "127.0.0.1"
    configuration = SparkConf().setMaster(master).setAppName(name)
    for key, value in settings.items():
        configuration.set(key, value)
    return configuration


@contextmanager
def _environment(java_home: Path, scratch: Path) -> Iterator[None]:
    """Set what Spark's launcher and its Python workers read, and put it back afterwards."""
    wanted = {
        "JAVA_HOME": str(java_home),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        # A worker that ends abruptly leaves its temporary files: they lie where we clean up.
        "TMPDIR": str(scratch),
        "PYTHONHASHSEED": "0",
    }
    before = {key: os.environ.get(key) for key in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for key, value in before.items():
            if value is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = value


def _end_launched(scratch: Path) -> None:
    """End the processes that were started with our scratch folder on their command line."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            named = os.fsencode(scratch) in (folder / "cmdline").read_bytes()
            if named and int(folder.name) != os.getpid():
                os.kill(int(folder.name), signal.SIGKILL)


def _end_gateway() -> None:
    """End the Java process, so that another session may have another configuration."""
    gateway = SparkContext._gateway  # noqa: SLF001 - pyspark has no public way to end its process
    if gateway is None:
        return
    process = getattr(gateway, "proc", None)
    gateway.shutdown()
    if process is not None:
        process.stdin.close()
        deadline = time.monotonic() + 10
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        if process.poll() is None:
            process.kill()
        process.wait()
    SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001 - see above


def _cause(text: str) -> str:
    """Return the one line of Spark's complaint that says what happened."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    raised = [
        line
        for line in lines
        if re.match(r"(\w+\.)*\w*(Error|Exception|Interrupt)\b(: |$)", line)
        and not line.startswith(("org.apache.spark", "py4j", "java."))
    ]
    if raised:
        return raised[-1][:300]
    told = [line for line in lines if line.startswith(("org.apache.spark", "Caused by", ": "))]
    text = (told or lines or ["for a reason it does not say"])[0].removeprefix(": ")
    return re.sub(r"^(Caused by: )?(\w+\.)+(\w+): ", "", text)[:300]


def _last_complaint(log: Path) -> str | None:
    """Return Spark's message when it gave up, which Spark keeps from its callers."""
    text = log.read_text(encoding="utf-8", errors="replace")
    found = re.findall(r"^[\d:]+ ERROR \w*Scheduler\w*: (.+)$", text, re.MULTILINE)
    return found[-1][:300] if found else None


def _kept_log(log: Path, text: str) -> str:
    """Return the place of a file with Spark's last lines and its complaint, which stays."""
    try:
        last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_KEPT_LINES:]
    except OSError:
        last = []
    descriptor, name = tempfile.mkstemp(prefix="krafla-spark-", suffix=".txt")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write("\n".join([*last, "", text, ""]))
    return name
