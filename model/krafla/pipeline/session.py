"""A Spark session for the length of one command, always as a client of Spark Connect.

The server is one of our own for a master, or one that runs elsewhere. A job that fails is one
sentence for the user, with the place of a file that has the rest, never Java's stack trace.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from krafla.pipeline.complaints import (
    JobError,
    advice_in,
    cause_in,
    kept_log,
    last_error,
    users_error,
)
from krafla.pipeline.needs import find_java, require_packages
from krafla.pipeline.server import Settings, connect_server, is_local_master, log_of
from krafla.pipeline.shipping import ship
from krafla.scratch import scratch_folder
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from pyspark.sql.connect.shell.progress import StageInfo

__all__ = ["DEFAULT_MASTER", "RUNTIME", "JobError", "Session", "parallelism_of", "session", "told"]

DEFAULT_MASTER: Final = "local[*]"
# Of each session: what tasks exchange with Python stays small, whatever a row holds.
RUNTIME: Final = {
    "spark.sql.execution.arrow.maxBytesPerBatch": str(16 * 1024 * 1024),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.sql.session.timeZone": "UTC",
}
_PARTITIONS: Final = "spark.sql.shuffle.partitions"
_PARTITIONS_BY_DEFAULT: Final = 200
_PARTITIONS_EACH: Final = 2
"""Partitions of a shuffle for each task that runs at once."""
_SECONDS_BEFORE_A_GUESS: Final = 3
_TASKS_BEFORE_A_GUESS: Final = 5
_ANSWER_SECONDS: Final = 10
_CONNECT_PORT: Final = 15_002


@dataclass(slots=True)
class Session:
    """A Spark session, and the words in which its work is told.

    ``parallelism`` is how many tasks run at once. ``phase`` names the work that begins; its tasks
    are counted from then on. ``log`` is the file of a server of our own.
    """

    spark: SparkSession
    parallelism: int
    show: Callable[[str], None] = lambda _: None
    log: Path | None = None
    _phase: str = "looking at what is there"
    _began: float = field(default_factory=time.monotonic)

    def phase(self, words: str) -> None:
        """Name the work that begins now."""
        self._phase, self._began = words, time.monotonic()
        self.show(words)

    def tell(
        self,
        stages: Iterable[StageInfo] | None,
        inflight_tasks: int,  # noqa: ARG002 - Spark names the parameters
        operation_id: str | None,  # noqa: ARG002 - as above
        done: bool,  # noqa: ARG002 - as above
    ) -> None:
        """Show how far the stages of a job are: Spark calls it while a job runs."""
        known = [one for one in stages or () if one.num_tasks]
        tasks = sum(one.num_tasks for one in known)
        over = sum(min(one.num_completed_tasks, one.num_tasks) for one in known)
        if not tasks:
            return
        seconds = time.monotonic() - self._began
        left = ""
        # Of a few tasks, the first ones say nothing about the others, which may be of other jobs.
        enough = over >= _TASKS_BEFORE_A_GUESS and seconds > _SECONDS_BEFORE_A_GUESS
        if enough and over < tasks:
            left = f", {_clock(seconds * (tasks - over) / over)} left"
        finished = sum(one.done for one in known)
        read = sum(one.num_bytes_read for one in known)
        mib = f", {read / 2**20:,.0f} MiB read" if read >= 2**20 else ""
        self.show(
            f"{self._phase}: {over:,} of {tasks:,} tasks,"
            f" stage {min(finished + 1, len(known))} of {len(known)}{mib}{left}"
        )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def session(
    name: str,
    master: str = DEFAULT_MASTER,
    *,
    remote: str | None = None,
    settings: Settings = Settings(),  # noqa: B008 - a frozen value
    show: Callable[[str], None] = lambda _: None,
) -> Iterator[Session]:
    """Yield a session: of the server at ``remote``, or else of one of our own for a master.

    ``KraflaError`` if the master is none, or Java or a package is missing; ``JobError`` if Spark
    does not start, or if a job of the context fails.
    """
    require_packages()
    # Workers of a local master of ours have the code of this process: server.py says where it is.
    ships = remote is not None or not is_local_master(master)
    with ExitStack() as stack:
        log = None
        if remote is None:
            java, scratch = find_java(), stack.enter_context(scratch_folder("spark"))
            show("starting Spark")
            remote = stack.enter_context(connect_server(name, master, java, settings, scratch))
            log = log_of(scratch)
        elif settings.packages:
            raise KraflaError(
                "--packages is for a Spark of our own: the one at --remote has its own"
            )
        stack.enter_context(_connect_mode())
        with told(log):
            spark = _connected(remote, name, settings)
            stack.callback(_left, spark)
            if ships:
                show("sending krafla to the workers")
                ship(spark)
            made = Session(spark, parallelism_of(spark), show, log)
            _shuffle_little(made)
            spark.registerProgressHandler(made.tell)  # type: ignore[arg-type]  # it takes a function
            yield made


@contextmanager
def told(log: Path | None = None) -> Iterator[None]:
    """Raise what fails in this context as the user's error, or as a ``JobError`` of one line."""
    from grpc import RpcError  # type: ignore[import-untyped]  # grpc ships no types
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, RpcError) as error:
        text = str(error)
        own = users_error(text)
        if own is not None:
            raise own from None
        cause = cause_in(text)
        if "stopped SparkContext" in cause and log is not None:
            cause = last_error(log) or cause
        place = kept_log(log, text)
        raise JobError(
            f"a Spark job failed: {cause}{advice_in(text)}; details in {place}"
        ) from None


@contextmanager
def _connect_mode() -> Iterator[None]:
    """Tell pyspark's functions which kind of session they are for, while the context lasts.

    Each builds an expression of Java or of Spark Connect, and asks the environment which.
    """
    name = "SPARK_CONNECT_MODE_ENABLED"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _connected(remote: str, name: str, settings: Settings) -> SparkSession:
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    if not remote.startswith("sc://"):
        raise KraflaError(f"--remote takes the address of a Spark Connect server, sc://HOST:PORT,"
                          f" not {remote!r}")  # fmt: skip
    _check_answers(remote)
    spark = ConnectSession.builder.remote(remote).appName(name).create()
    for key, value in RUNTIME.items():
        spark.conf.set(key, value)
    for key, value in settings.options.items():
        if spark.conf.isModifiable(key):
            spark.conf.set(key, value)
    return spark  # type: ignore[return-value]  # both kinds of session have one interface


def _check_answers(remote: str) -> None:
    """Raise ``KraflaError`` if nothing listens at an address: PySpark would try for ten minutes."""
    place = urlsplit(remote)
    try:
        port = place.port or _CONNECT_PORT
        socket.create_connection((place.hostname or "", port), _ANSWER_SECONDS).close()
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or error).lower()
        where = f"sc://{place.hostname}:{place.netloc.rpartition(':')[2]}"
        raise KraflaError(f"no Spark Connect server answers there: {reason}", where) from None


def parallelism_of(spark: SparkSession) -> int:
    """Return into how many tasks the server cuts a range by itself."""
    from pyspark.sql.functions import spark_partition_id

    parts = spark.range(1 << 16).select(spark_partition_id().alias("part"))
    return int(parts.selectExpr("max(part)").collect()[0][0]) + 1


def _shuffle_little(made: Session) -> None:
    """Let a shuffle have few partitions where few tasks run at once, unless somebody chose them.

    Spark's 200 tasks of a few milliseconds each are half of the time of a small query.
    """
    few = _PARTITIONS_EACH * made.parallelism
    if few < _PARTITIONS_BY_DEFAULT and made.spark.conf.get(_PARTITIONS) == str(
        _PARTITIONS_BY_DEFAULT
    ):
        made.spark.conf.set(_PARTITIONS, str(few))


def _left(spark: SparkSession) -> None:
    from contextlib import suppress

    from grpc import RpcError
    from pyspark.errors import PySparkException

    with suppress(PySparkException, RpcError):
        spark.clearProgressHandlers()
        spark.stop()
