"""What this project needs of others is declared, bounded and locked with hashes."""

from __future__ import annotations

import re
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
GROUPS = PROJECT["dependency-groups"]
# Parsing all files would take ten times as long.
_IMPORT = re.compile(r"^ *(?:import (\w+)|from (\w+)[\w.]* import )", re.MULTILINE)
_PINNED = re.compile(r"(?P<name>[a-z0-9._-]+)(\[[a-z, ]+\])?==(?P<version>[^ ;\\]+)(?P<rest>.*)")


def _in_group(name):
    for one in GROUPS[name]:
        if isinstance(one, str):
            yield one
        else:
            yield from _in_group(one["include-group"])


NEEDED = PROJECT["project"]["dependencies"]
OF_EXTRAS = [one for texts in EXTRAS.values() for one in texts]
LOCKED = {
    "requirements.lock": [*NEEDED, *_in_group("build"), *PROJECT["build-system"]["requires"]],
    "requirements-dev.lock": [*NEEDED, *EXTRAS["spark"], *_in_group("dev")],
    "requirements-extras.lock": [*NEEDED, *OF_EXTRAS],
}


def _lock(name):
    """Return the pinned versions of a lock, by name, and the lines of each pin."""
    text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", "")
    pins, versions = text.splitlines(), {}
    for line in pins:
        found = _PINNED.fullmatch(line)
        assert found, line
        versions.setdefault(canonicalize_name(found["name"]), []).append(Version(found["version"]))
    return versions, pins


@pytest.mark.parametrize("text", sorted({one for texts in LOCKED.values() for one in texts}))
def test_each_dependency_says_from_which_version_on(text):
    operators = {one.operator for one in Requirement(text).specifier}
    assert operators & {">=", "==", "~="}, text


@pytest.mark.parametrize("name", LOCKED)
def test_the_lock_fulfils_what_is_declared(name):
    versions, _ = _lock(name)
    for text in LOCKED[name]:
        needed = Requirement(text)
        assert versions.get(canonicalize_name(needed.name)), f"{name} lacks {text}"
        for version in versions[canonicalize_name(needed.name)]:
            assert version in needed.specifier, f"{name} has {version}, declared is {text}"


@pytest.mark.parametrize("name", LOCKED)
def test_every_pin_of_a_lock_has_hashes(name):
    for line in _lock(name)[1]:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", line), line


def test_the_locks_agree():
    runtime, extras = (_lock(name)[0] for name in ("requirements.lock", "requirements-extras.lock"))
    dev = _lock("requirements-dev.lock")[0]
    for name, versions in dev.items():
        for other in (runtime, extras):
            assert other.get(name, versions) == versions, name


def _imported():
    """Yield each foreign module that the packages import, and the file that does."""
    own = {"kraft", "krafla", *sys.stdlib_module_names}
    for path in [*ROOT.glob("impl/kraft/**/*.py"), *ROOT.glob("model/krafla/**/*.py")]:
        for found in _IMPORT.finditer(path.read_text(encoding="utf-8")):
            module = found[1] or found[2]
            if module not in own:
                yield module, path


def test_what_is_imported_is_declared():
    declared = {canonicalize_name(Requirement(one).name) for one in [*NEEDED, *OF_EXTRAS]}
    providers = metadata.packages_distributions()
    missing = {
        f"{path.relative_to(ROOT)}: {module}"
        for module, path in _imported()
        # Whoever runs tests with these has it: pytest loads the plugin.
        if module != "pytest"
        and not declared & {canonicalize_name(one) for one in providers.get(module, ())}
    }
    assert not missing, sorted(missing)


def test_the_classifiers_name_the_versions_of_python_that_have_every_wheel():
    named = [one.rpartition(" ")[2] for one in PROJECT["project"]["classifiers"]
             if re.search(r":: 3\.\d+$", one)]  # fmt: skip
    assert named[0] == PROJECT["project"]["requires-python"].removeprefix(">=")
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "immutables==0.21" in lock, "has a newer one wheels for Python 3.14? Then name it, too"
    assert named == ["3.11", "3.12", "3.13"]
