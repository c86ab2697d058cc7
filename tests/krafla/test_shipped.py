"""A file of the specs is as it was shipped if the wheel, or the last commit, has it so."""

from __future__ import annotations

import base64
import hashlib
import subprocess
from importlib import metadata
from types import SimpleNamespace

import pytest

from krafla import shipped


@pytest.fixture
def specs(tmp_path, monkeypatch):
    """A folder that is taken for the specs of this installation, with one module in it."""
    folder = tmp_path / "repository" / "specs"
    folder.mkdir(parents=True)
    (folder / "Lamp.tla").write_text("---- MODULE Lamp ----\n====\n")
    monkeypatch.setattr(shipped, "installed_specs", lambda: folder)
    # In a hook git would look there.
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    shipped.known.cache_clear()
    yield folder
    shipped.known.cache_clear()


def git(folder, *arguments):
    """Run git in a folder, as somebody."""
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(
        ["env", "-u", "GIT_DIR", "git", "-C", str(folder), *who, *arguments],
        check=True, capture_output=True,
    )  # fmt: skip


def test_of_a_checkout_what_is_committed_is_shipped_wherever_a_copy_lies(specs, tmp_path):
    git(specs, "init", "-q")
    git(specs, "add", ".")
    git(specs, "commit", "-qm", "All")
    module, copy = specs / "Lamp.tla", tmp_path / "Lamp.tla"
    copy.write_bytes(module.read_bytes())
    assert shipped.is_shipped(module)
    assert shipped.is_shipped(copy)
    module.write_text("---- MODULE Lamp ----\n\\* Edited.\n====\n")
    assert not shipped.is_shipped(module)
    assert not shipped.is_shipped(copy.rename(tmp_path / "Other.tla"))


@pytest.mark.parametrize("missing", ["commit", "git"])
def test_without_a_commit_or_git_nothing_is_known_to_be_shipped(specs, missing, monkeypatch):
    if missing == "git":
        git(specs, "init", "-q")
        git(specs, "add", ".")
        git(specs, "commit", "-qm", "All")
        monkeypatch.setattr("shutil.which", lambda _: None)
    assert not shipped.is_shipped(specs / "Lamp.tla")


def test_of_a_wheel_what_its_list_of_files_has_is_shipped(specs, monkeypatch):
    content = (specs / "Lamp.tla").read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
    listed = SimpleNamespace(
        name="Lamp.tla", parts=("krafla", "specs", "lamp", "Lamp.tla"),
        hash=SimpleNamespace(value=digest),
    )  # fmt: skip
    monkeypatch.setattr(metadata, "files", lambda _: [listed])
    assert not shipped.is_shipped(specs / "Lamp.tla")
    (specs.parent / "__init__.py").touch()
    shipped.known.cache_clear()
    assert shipped.is_shipped(specs / "Lamp.tla")
    (specs / "Lamp.tla").write_bytes(content + b"\n")
    assert not shipped.is_shipped(specs / "Lamp.tla")
