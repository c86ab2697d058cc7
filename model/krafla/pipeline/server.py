"""A Spark Connect server of our own: Spark for one master, for the length of one command.

Java runs in a child process that ends with us in any case. Whatever it says goes into a log file.
A new token, which only this process knows, guards the server.
"""

from __future__ import annotations

import os
import re
import secrets
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.child_processes import ChildGroup
from krafla.pipeline.complaints import JobError, cause_of_end, kept_log
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from krafla.tlc.jre import JavaRuntime

__all__ = [
    "Settings",
    "connect_server",
    "is_local_master",
    "log_of",
    "master_url",
    "parse_settings",
]

_LOCAL: Final = re.compile(r"local(?:\[(\*|[1-9]\d*)\])?")
_OTHER: Final = re.compile(r"(spark://.+|yarn|k8s://.+|local-cluster\[\d+,\d+,\d+\])")
# A local master repeats a task only if it is told to. A worker process that dies takes its task
# with it, and may do so once more: the fourth death is the task's own.
_TRIES: Final = 4
_CLASS: Final = "org.apache.spark.sql.connect.service.SparkConnectServer"
_STARTED: Final = re.compile(r"Spark Connect server started at: .*:(\d+)\s*$", re.MULTILINE)
_START_SECONDS_MAX: Final = 180
_END_SECONDS_MAX: Final = 15
_POLL_SECONDS: Final = 0.05
_LOG4J: Final = f"""status = error
rootLogger.level = warn
rootLogger.appenderRef.log.ref = log
appender.log.type = Console
appender.log.name = log
appender.log.target = SYSTEM_ERR
appender.log.layout.type = PatternLayout
appender.log.layout.pattern = %d{{HH:mm:ss}} %p %c{{1}}: %m%n%ex
logger.server.name = {_CLASS}
logger.server.level = info
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a user says to Spark: options of spark-submit, and packages by Maven coordinates."""

    options: Mapping[str, str] = field(default_factory=dict)
    packages: str = ""


def parse_settings(options: Sequence[str], packages: str = "") -> Settings:
    """Return options of the form ``NAME=VALUE``; ``KraflaError`` names one that is not."""
    found = {}
    for option in options:
        name, is_pair, value = option.partition("=")
        if not is_pair or not name.startswith("spark."):
            raise KraflaError(
                f"--conf takes NAME=VALUE with a NAME that begins with 'spark.', not {name!r}"
            )
        found[name] = value
    return Settings(found, packages)


def master_url(master: str) -> str:
    """Return a master as Spark takes it; ``KraflaError`` if it is none.

    A local master is told to repeat a task whose process died.
    """
    local = _LOCAL.fullmatch(master)
    if local:
        return f"local[{local[1] or 1},{_TRIES}]"
    if _OTHER.fullmatch(master):
        return master
    raise KraflaError(
        f"{master!r} is no Spark master; use local, local[4], local[*], spark://HOST:PORT, yarn or"
        " k8s://HOST:PORT, or --remote sc://HOST:PORT for a Spark Connect server that runs"
    )


def is_local_master(master: str) -> bool:
    """Return whether Spark's tasks run on this machine, in this Python."""
    return _LOCAL.fullmatch(master) is not None


@contextmanager
def connect_server(
    name: str, master: str, java: JavaRuntime, settings: Settings, scratch: Path
) -> Iterator[str]:
    """Run a server while the context lasts; yield the ``sc://`` address of it.

    ``log_of(scratch)`` is what Java says. ``KraflaError`` if the master is none, ``JobError`` if
    Spark does not start.
    """
    url, token = master_url(master), secrets.token_hex(16)
    command = _command(name, url, settings, scratch)
    environment = _environment(url, java.home, scratch, token)
    log = log_of(scratch)
    with log.open("wb") as output, ChildGroup() as group:
        process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            process_group=group.id,
        )  # fmt: skip
        try:
            port = _port(process, log)
            # Of a server with a token, Spark's client asks for TLS, except at "localhost".
            yield f"sc://localhost:{port}/;token={token}"
        finally:
            process.terminate()
            try:
                process.wait(_END_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def log_of(scratch: Path) -> Path:
    """Return where the server of a scratch folder writes what it says."""
    return scratch / "spark.log"


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    deadline = time.monotonic() + _START_SECONDS_MAX
    while True:
        text = log.read_text(encoding="utf-8", errors="replace")
        found = _STARTED.search(text)
        if found:
            return int(found[1])
        ended = process.poll() is not None
        if ended or time.monotonic() > deadline:
            why = cause_of_end(text) if ended else f"it is silent for {_START_SECONDS_MAX} seconds"
            raise JobError(f"Spark did not start: {why}; details in {kept_log(log)}")
        time.sleep(_POLL_SECONDS)


def _command(name: str, master: str, settings: Settings, scratch: Path) -> list[str]:
    properties = scratch / "spark.properties"
    defaults, flags = _defaults(master, scratch), "spark.driver.extraJavaOptions"
    lines = {**defaults, **settings.options}
    # A user's flags come beside ours, not in their place.
    lines[flags] = f"{defaults[flags]} {settings.options.get(flags, '')}".strip()
    # Options may hold credentials, which a command line would show to every user.
    content = "".join(f"{key} {_escaped(value)}\n" for key, value in sorted(lines.items()))
    descriptor = os.open(properties, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(content)
    packages = ["--packages", settings.packages] if settings.packages else []
    return [
        str(_spark_home() / "bin" / "spark-submit"), "--class", _CLASS, "--name", name,
        "--master", master, "--properties-file", str(properties), *packages, "spark-internal",
    ]  # fmt: skip


def _escaped(value: str) -> str:
    """Return a value as a properties file needs it, in which a backslash escapes."""
    return value.replace("\\", "\\\\").replace("\n", "\\n")


def _defaults(master: str, scratch: Path) -> dict[str, str]:
    log4j = scratch / "log4j2.properties"
    log4j.write_text(_LOG4J, encoding="utf-8")
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.driver.memory": "2g",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log4j.as_uri()}"
        f" -Djava.io.tmpdir={scratch} -XX:-UsePerfData",
        "spark.driver.maxResultSize": "1g",
        "spark.executorEnv.PYTHONHASHSEED": "0",
        "spark.local.dir": str(scratch),
        "spark.python.worker.reuse": "true",
        "spark.sql.warehouse.dir": (scratch / "warehouse").as_uri(),
        "spark.ui.enabled": "false",
    }
    if _is_here(master):
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    if not master.startswith("local"):
        # A folder of ours says nothing to executors elsewhere.
        del settings["spark.local.dir"]
    return settings


def _is_here(master: str) -> bool:
    return master.startswith("local") or bool(re.match(r"spark://(127\.0\.0\.1|localhost)", master))


def _environment(master: str, java_home: Path, scratch: Path, token: str) -> dict[str, str]:
    """Return the environment of Java and, with a local master, of its Python workers."""
    wanted = {
        "JAVA_HOME": str(java_home),
        "SPARK_HOME": str(_spark_home()),
        "SPARK_CONNECT_AUTHENTICATE_TOKEN": token,
        "PYTHONHASHSEED": "0",
    }
    if master.startswith("local"):
        wanted |= {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
        wanted["PYTHONPATH"] = _python_path()
        # A worker that ends abruptly leaves its temporary files: they lie where we clean up.
        wanted["TMPDIR"] = str(scratch)
    else:
        wanted["PYSPARK_DRIVER_PYTHON"] = sys.executable
        wanted["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON", sys.executable)
    if _is_here(master):
        wanted["SPARK_LOCAL_IP"] = "127.0.0.1"
    kept = {key: value for key, value in os.environ.items() if not key.startswith("SPARK_REMOTE")}
    return kept | wanted


def _python_path() -> str:
    """Return where Python workers of this machine find what this process has imported.

    They run in folders of their own, where a relative path leads nowhere.
    """
    found = [find_spec(package) for package in ("krafla", "kraft")]
    ours = [str(Path(one.origin).parents[1]) for one in found if one is not None and one.origin]
    theirs = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    known = [*ours, *(str(Path(folder).absolute()) for folder in theirs if folder)]
    return os.pathsep.join(dict.fromkeys(known))


def _spark_home() -> Path:
    import pyspark

    return Path(os.environ.get("SPARK_HOME") or Path(pyspark.__file__).parent)
