"""Spark's own servers: a standalone master with workers, a Connect server."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
from tests.krafla.pipeline.places.environments import ROOT
from tests.krafla.pipeline.places.processes import service

from krafla.pipeline.needs import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.krafla.pipeline.places.environments import Environment
    from tests.krafla.pipeline.places.users import User

TOKEN = "a-token"
# What a session over Connect in this process sets, and no other process may have.
_OF_A_SESSION = {"SPARK_CONNECT_MODE_ENABLED", "SPARK_REMOTE"}
_SPARK = "org.apache.spark"
_MINE = (ROOT / "model", ROOT / "impl")
_LOG4J = """status = error
rootLogger.level = warn
logger.deploy.name = org.apache.spark.deploy
logger.deploy.level = info
logger.connect.name = org.apache.spark.sql.connect.service
logger.connect.level = info
rootLogger.appenderRef.log.ref = log
appender.log.type = Console
appender.log.name = log
appender.log.target = SYSTEM_ERR
appender.log.layout.type = PatternLayout
appender.log.layout.pattern = %d{HH:mm:ss} %p %c{1}: %m%n%ex
"""


def hidden_folders() -> list[Path]:
    """Return what a worker of another machine would not have: this checkout, Python and home."""
    found = {ROOT, Path(sys.prefix).resolve(), Path.home()}
    # What lies in a hidden folder is not there any more to be hidden.
    return sorted(one for one in found if not found & set(one.parents))


@contextmanager
def standalone(
    folder: Path, user: User, environment: Environment, workers: int = 2
) -> Iterator[str]:
    """Run a master as this user and workers as another; yield the master's URL.

    A worker has one core. It has the Spark of the environment, and sees neither this checkout nor
    what is installed for this user.
    """
    with ExitStack() as stack:
        mine = Path(pyspark.__file__).parent
        words = [*_server(mine, "Master"), "--port", "0"]
        ready = r"Starting Spark master at (spark://127\.0\.0\.1:\d+)"
        named = environment_of(folder, mine)
        url = stack.enter_context(service(words, ready, folder / "master.log", named))
        words = [*_server(environment.spark_home, "Worker"), "--cores", "1", "--memory", "1g", url]
        for number in range(workers):
            place = folder / f"worker-{number}"
            place.mkdir()
            os.chown(place, user.uid, user.gid)
            named = environment_of(folder, environment.spark_home)
            named |= {"SPARK_WORKER_DIR": str(place), "SPARK_LOCAL_DIRS": str(place)}
            theirs = user.words(words, hidden_folders())
            log = folder / f"worker-{number}.log"
            stack.enter_context(service(theirs, "Successfully registered with master", log, named))
        yield url


def _server(spark_home: Path, kind: str) -> list[str | Path]:
    name = f"{_SPARK}.deploy.{kind.lower()}.{kind}"
    return [spark_home / "bin" / "spark-class", name, "--host", "127.0.0.1", "--webui-port", "0"]


@contextmanager
def connect_server(
    folder: Path,
    settings: Mapping[str, str],
    user: User | None = None,
    environment: Environment | None = None,
) -> Iterator[str]:
    """Run a Connect server with these settings; yield its ``sc://`` URL.

    Another user's has the Spark of an environment, and sees nothing of this checkout.
    """
    place = folder / "connect"
    place.mkdir()
    home = Path(pyspark.__file__).parent if environment is None else environment.spark_home
    ours = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": "0",
        "spark.connect.authenticate.token": TOKEN,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.local.dir": str(place),
        "spark.sql.warehouse.dir": str(place / "warehouse"),
    }
    named = environment_of(folder, home) | {"SPARK_CONNECT_AUTHENTICATE_TOKEN": TOKEN}
    named["PYSPARK_PYTHON"] = sys.executable if environment is None else str(environment.python)
    words: list[str | Path] = [home / "bin" / "spark-submit"]
    for name, value in {**ours, **settings}.items():
        words += ["--conf", f"{name}={value}"]
    words += ["--class", f"{_SPARK}.sql.connect.service.SparkConnectServer", "spark-internal"]
    if user is not None:
        os.chown(place, user.uid, user.gid)
        words = user.words(words, hidden_folders())
    ready = r"Spark Connect server started at: .*:(\d+)"
    with service(words, ready, folder / "connect.log", named) as port:
        yield f"sc://localhost:{port}/;token={TOKEN}"


def environment_of(folder: Path, spark_home: Path | None) -> dict[str, str]:
    """Return the environment of a program of the Spark in a folder; without one, of a client.

    Only a client has this checkout on its path.
    """
    log4j = folder / "log4j2.properties"
    log4j.write_text(_LOG4J)
    named = {
        "JAVA_HOME": str(find_java().home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_SUBMIT_OPTS": f"-Dlog4j2.configurationFile={log4j.as_uri()}",
    }
    inherited = {name: value for name, value in os.environ.items() if name not in _OF_A_SESSION}
    if spark_home is None:
        # Spark would take the first python3 of the PATH, which need not be this one.
        mine = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(map(str, _MINE))}
        return {**inherited, **named, **mine}
    daemon = {
        "SPARK_DAEMON_JAVA_OPTS": named["SPARK_SUBMIT_OPTS"],
        "SPARK_DAEMON_MEMORY": "512m",
    }
    return {**inherited, **named, **daemon, "SPARK_HOME": str(spark_home), "PYTHONPATH": ""}
