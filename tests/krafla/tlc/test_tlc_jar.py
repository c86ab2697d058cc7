"""The jar: fetched once, verified always, and known for what it can do."""

from __future__ import annotations

import shutil
import threading
import zipfile

import pytest

from krafla.tlc import jar as jar_module
from krafla.tlc.capabilities import inspect
from krafla.tlc.jar import ENVIRONMENT_VARIABLE, SHA256, find_jar
from krafla.tlc.outcome import ConfigError, Deadlock, Finished
from krafla.tlc.run import run
from krafla.verdict import KraflaError


@pytest.fixture
def pinned(monkeypatch):
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    return find_jar()


@pytest.fixture
def older(tmp_path, pinned):
    """A TLC that runs, but does not know the keyword CHECK_DEADLOCK, as up to 2020."""
    path = tmp_path / "older.jar"
    with zipfile.ZipFile(pinned.path) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name == "tlc2/tool/impl/ModelConfig.class":
                data = data.replace(b"CHECK_DEADLOCK", b"XXXXX_DEADLOCK")
            target.writestr(name, data)
    return path


@pytest.fixture
def mirror(monkeypatch, pinned):
    """Fetching copies the pinned jar instead of using the network, and counts."""
    fetched = []

    def resolve(folder, _):
        fetched.append(folder)
        return shutil.copy(pinned.path, folder / "fetched.jar")

    monkeypatch.setattr(jar_module, "_resolve", resolve)
    return fetched


def test_the_pinned_jar_is_what_it_was(pinned):
    assert pinned.sha256 == SHA256
    assert pinned.capabilities.version == "2.18 of 20 March 2023"
    assert pinned.capabilities.has("-coverage")
    assert pinned.capabilities.has("-simulate")
    assert pinned.capabilities.has("CHECK_DEADLOCK")
    assert not any(map(pinned.capabilities.has, ["-dumpTrace", "-noTE", "ALIAS", "POSTCONDITION"]))


def test_a_jar_is_fetched_once(tmp_path, mirror):
    first = find_jar(tmp_path)
    second = find_jar(tmp_path)

    assert first == second
    assert len(mirror) == 1
    assert [path.name for path in tmp_path.iterdir()] == [first.path.name]


def test_two_runs_with_an_empty_cache_both_get_the_jar(tmp_path, mirror):
    found = []
    threads = [threading.Thread(target=lambda: found.append(find_jar(tmp_path))) for _ in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [one.sha256 for one in found] == [SHA256, SHA256]
    assert 1 <= len(mirror) <= 2
    assert [path.name for path in tmp_path.iterdir()] == [found[0].path.name]


def test_an_altered_jar_is_refused_and_not_kept(tmp_path, monkeypatch):
    def resolve(folder, _):
        path = folder / "altered.jar"
        path.write_bytes(b"altered")
        return path

    monkeypatch.setattr(jar_module, "_resolve", resolve)

    with pytest.raises(KraflaError, match="expected fc0a7b69"):
        find_jar(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_cached_jar_that_has_rotted_is_fetched_again(tmp_path, mirror):
    path = find_jar(tmp_path).path
    path.write_bytes(path.read_bytes()[:-100])

    assert find_jar(tmp_path).path == path
    assert len(mirror) == 2


def test_offline_at_the_first_run_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("M2_REPO", str(tmp_path / "none"))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")

    with pytest.raises(KraflaError, match=r"first run needs the network.*KRAFLA_TLA2TOOLS"):
        find_jar(tmp_path / "cache")


def test_a_read_only_cache_is_named(tmp_path, mirror):
    blocked = tmp_path / "file"
    blocked.write_text("")

    with pytest.raises(KraflaError, match="cannot be stored"):
        find_jar(blocked / "cache")
    assert mirror == []


def test_the_environment_chooses_another_jar(monkeypatch, older):
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(older))

    assert find_jar().source == ENVIRONMENT_VARIABLE
    assert not find_jar().capabilities.has("CHECK_DEADLOCK")


def test_an_environment_that_chooses_nothing_is_an_error(monkeypatch, tmp_path):
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path / "none.jar"))

    with pytest.raises(KraflaError, match=r"none\.jar"):
        find_jar()


@pytest.mark.nightly
def test_an_older_tlc_is_told_about_deadlocks_by_an_option(monkeypatch, older, make_model):
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(older))
    config = "CONSTANTS Limit = 3 Nil = Nil\nSPECIFICATION StopSpec\n"

    assert run(make_model(config)).outcome == Deadlock()
    allowed = run(make_model(f"{config}CHECK_DEADLOCK FALSE\n"))
    assert isinstance(allowed.outcome, Finished)


def test_the_older_tlc_would_have_refused_the_cfg(monkeypatch, older, make_model):
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(older))
    monkeypatch.setattr("krafla.tlc.capabilities._KEYWORDS", frozenset({"CHECK_DEADLOCK"}))
    monkeypatch.setattr("krafla.tlc.capabilities.Capabilities.has", lambda _self, _name: True)
    config = "CONSTANTS Limit = 3 Nil = Nil\nSPECIFICATION StopSpec\nCHECK_DEADLOCK FALSE\n"

    assert isinstance(run(make_model(config)).outcome, ConfigError)


@pytest.mark.parametrize("content", [b"", b"no jar at all"])
def test_a_file_that_is_no_jar_is_refused(tmp_path, content):
    path = tmp_path / "no.jar"
    path.write_bytes(content)

    with pytest.raises(KraflaError, match="not a readable jar"):
        inspect(path)


def test_a_jar_without_tlc_is_refused(tmp_path):
    path = tmp_path / "other.jar"
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("Main.class", b"")

    with pytest.raises(KraflaError, match="no TLC"):
        inspect(path)


def test_a_jar_with_a_mangled_class_is_refused(tmp_path):
    path = tmp_path / "mangled.jar"
    with zipfile.ZipFile(path, "w") as jar:
        jar.writestr("tlc2/TLC.class", b"\xca\xfe\xba\xbe\x00\x00\x00\x34\x00\x10\x01\x00")

    with pytest.raises(KraflaError, match="cannot be read"):
        inspect(path)
