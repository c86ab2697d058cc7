"""Modules that a spec names are found; Java that lies beside them never runs."""

from __future__ import annotations

import base64
import os
import subprocess
import zipfile
from dataclasses import replace

import pytest

from krafla.oracle import Spec, SpecError
from krafla.oracle.syntax import read_module
from krafla.tlc.community import ENVIRONMENT_VARIABLE, find_community
from krafla.tlc.jar import find_jar, find_oracle_jar
from krafla.tlc.jre import find_jre
from krafla.tlc.outcome import Finished
from krafla.tlc.outcome import SpecError as NoSpec
from krafla.tlc.run import run
from krafla.tlc.trust import trust, trusted_jar
from krafla.verdict import KraflaError

# class Rigged { public static Value Answer() {
#   new File(System.getenv("KRAFLA_HOSTILE")).createNewFile(); return IntValue.gen(13); } }
RIGGED = base64.b64decode(
    "yv66vgAAADQAJgoAAgADBwAEDAAFAAYBABBqYXZhL2xhbmcvT2JqZWN0AQAGPGluaXQ+AQADKClWBwAIAQAMamF2"
    "YS9pby9GaWxlCAAKAQAOS1JBRkxBX0hPU1RJTEUKAAwADQcADgwADwAQAQAQamF2YS9sYW5nL1N5c3RlbQEABmdl"
    "dGVudgEAJihMamF2YS9sYW5nL1N0cmluZzspTGphdmEvbGFuZy9TdHJpbmc7CgAHABIMAAUAEwEAFShMamF2YS9s"
    "YW5nL1N0cmluZzspVgoABwAVDAAWABcBAA1jcmVhdGVOZXdGaWxlAQADKClaCgAZABoHABsMABwAHQEAGHRsYzIv"
    "dmFsdWUvaW1wbC9JbnRWYWx1ZQEAA2dlbgEAHShJKUx0bGMyL3ZhbHVlL2ltcGwvSW50VmFsdWU7BwAfAQAGUmln"
    "Z2VkAQAEQ29kZQEABkFuc3dlcgEAGSgpTHRsYzIvdmFsdWUvaW1wbC9WYWx1ZTsBAApFeGNlcHRpb25zBwAlAQAT"
    "amF2YS9sYW5nL0V4Y2VwdGlvbgAhAB4AAgAAAAAAAgABAAUABgABACAAAAARAAEAAQAAAAUqtwABsQAAAAAACQAh"
    "ACIAAgAgAAAAIgADAAAAAAAWuwAHWRIJuAALtwARtgAUVxANuAAYsAAAAAAAIwAAAAQAAQAkAAA="
)
MODULE = """---- MODULE Rigged ----
EXTENDS TLC
VARIABLE answer
Answer == 42
Init == answer = Answer
Next == UNCHANGED answer
Holds == PrintT(<<"answer", answer>>)
====
"""
CONFIG = "INIT Init\nNEXT Next\nINVARIANT Holds\n"


@pytest.fixture
def rigged(make_model, tmp_path, monkeypatch):
    """Return a model beside whose module lies a class that creates a file."""
    monkeypatch.setenv("KRAFLA_HOSTILE", str(tmp_path / "harmed"))
    model = make_model(CONFIG, "Rigged", text=MODULE)
    (model.module.parent / "Rigged.class").write_bytes(RIGGED)
    return model


@pytest.fixture
def community(tmp_path, monkeypatch):
    """Lay out a folder with a module that only CommunityModules have."""
    folder = tmp_path / "community"
    folder.mkdir()
    module = "---- MODULE SequencesExt ----\nFirst(s) == s[1]\n====\n"
    (folder / "SequencesExt.tla").write_text(module)
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(folder))


def test_a_class_beside_a_spec_does_not_run_in_the_oracle(rigged, tmp_path):
    spec = Spec.load("Rigged", path=rigged.module, cfg=rigged.config)

    assert [state["answer"] for state in spec.initial_states()] == [42]
    assert not (tmp_path / "harmed").exists()


def test_a_class_beside_a_spec_does_not_run_in_a_check(rigged, tmp_path):
    result = run(rigged, coverage=False)

    assert isinstance(result.outcome, Finished)
    assert '<<"answer", 42>>' in result.printed
    assert not (tmp_path / "harmed").exists()


def test_the_class_is_one_that_tlc_itself_would_run(rigged, tmp_path):
    subprocess.run(
        [find_jre().java, "-cp", find_jar().path, f"-Djava.io.tmpdir={tmp_path}", "tlc2.TLC",
         "-metadir", tmp_path / "states", "-config", rigged.config.name, "Rigged"],
        cwd=rigged.module.parent, env=os.environ, check=False, capture_output=True, timeout=100,
    )  # fmt: skip

    assert (tmp_path / "harmed").exists()


def test_an_error_of_a_module_beside_a_class_names_the_module_itself(rigged):
    rigged.module.write_text(MODULE.replace("42", "42 +"))

    with pytest.raises(SpecError, match=f"^{rigged.module}:"):
        Spec.load("Rigged", path=rigged.module, cfg=rigged.config)


def test_a_jar_beside_a_spec_is_on_no_class_path(rigged, tmp_path):
    (rigged.module.parent / "Rigged.class").unlink()
    for name in ("CommunityModules-deps.jar", "tla2tools.jar"):
        with zipfile.ZipFile(rigged.module.parent / name, "w") as jar:
            jar.writestr("Rigged.class", RIGGED)

    assert '<<"answer", 42>>' in run(rigged, coverage=False).printed
    assert not (tmp_path / "harmed").exists()


def test_a_jar_of_community_modules_gives_modules_and_its_java_waits_for_trust(
    make_model, tmp_path, monkeypatch
):
    jar = tmp_path / "CommunityModules-deps.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr("Rigged.tla", MODULE)
        archive.writestr("Rigged.class", RIGGED)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("KRAFLA_HOSTILE", str(tmp_path / "harmed"))
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(jar))
    model = make_model(CONFIG, "Using", text="---- MODULE Using ----\nEXTENDS Rigged\n====\n")
    newer = replace(find_jar().capabilities, modules=frozenset({"TLCExt"}))

    assert '<<"answer", 42>>' in run(model, coverage=False).printed
    assert not (tmp_path / "harmed").exists()
    assert trusted_jar(newer) is None
    assert trust() == jar
    assert trusted_jar(newer) == jar
    # The pinned TLC cannot load what is written for newer ones.
    assert trusted_jar(find_jar().capabilities) is None
    with zipfile.ZipFile(jar, "a") as archive:
        archive.writestr("Another.class", RIGGED)
    assert trusted_jar(newer) is None


@pytest.mark.usefixtures("community")
def test_a_module_of_the_community_is_found_by_oracle_check_and_parser(make_model):
    text = (
        "---- MODULE Using ----\nEXTENDS SequencesExt, TLC\nVARIABLE x\nInit == x = First(<<7>>)\n"
        "Next == UNCHANGED x\nHolds == x = 7\n====\n"
    )
    model = make_model(CONFIG, "Using", text=text)

    assert Spec.load("Using", path=model.module, cfg=model.config).initial_states()[0]["x"] == 7
    assert isinstance(run(model, coverage=False).outcome, Finished)
    assert read_module("Using", model.module).operator("First").name == "First"


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("FiniteSetsExt", f"Set {ENVIRONMENT_VARIABLE} to their CommunityModules-deps.jar"),
        ("Apalache", "put its Apalache.tla beside the spec"),
        ("Nowhere", "put Nowhere.tla beside it"),
    ],
)
def test_a_module_that_is_nowhere_is_told_with_what_to_do(make_model, name, remedy, monkeypatch):
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    monkeypatch.setattr("krafla.tlc.library.find_community", lambda: None)
    model = make_model(CONFIG, "Using", text=f"---- MODULE Using ----\nEXTENDS {name}\n====\n")

    with pytest.raises(SpecError, match=f"Using.tla: no module {name}.*{remedy}"):
        Spec.load("Using", path=model.module, cfg=model.config)
    outcome = run(model, coverage=False).outcome
    assert isinstance(outcome, NoSpec)
    assert remedy in outcome.message


def test_what_names_no_community_modules_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv(ENVIRONMENT_VARIABLE, str(tmp_path))

    with pytest.raises(KraflaError, match=r"names neither CommunityModules-deps\.jar nor a folder"):
        find_community()


def test_community_modules_in_an_editor_are_found(tmp_path, monkeypatch):
    for version in ("1.5.4", "1.6.0"):
        tools = tmp_path / f".vscode/extensions/tlaplus.vscode-ide-tla-{version}/tools"
        tools.mkdir(parents=True)
        with zipfile.ZipFile(tools / "CommunityModules-deps.jar", "w") as archive:
            archive.writestr("Folds.tla", f"version {version}")
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = find_community()

    assert found is not None
    assert (found.folder / "Folds.tla").read_text() == "version 1.6.0"


def test_proofs_of_tlaps_are_read_without_tlaps(make_model):
    text = (
        "---- MODULE Proved ----\nEXTENDS Naturals, TLAPS, FiniteSetTheorems, TLCExt\nVARIABLE x\n"
        "Init == x = 0\nNext == x' = 1 - x\nHolds == x \\in {0, 1}\n"
        "THEOREM Init => Holds\n<1> QED BY FS_EmptySet, SMT, IsaT(30), PTL DEF Init, Holds\n====\n"
    )
    model = make_model(CONFIG, "Proved", text=text)

    assert run(model, coverage=False).distinct == 2
    assert len(Spec.load("Proved", path=model.module, cfg=model.config).initial_states()) == 1


def test_a_model_of_the_toolbox_finds_the_spec_above_it(make_model, tmp_path):
    folder = tmp_path / "Lamp.toolbox" / "Model_1"
    folder.mkdir(parents=True)
    (tmp_path / "Lamp.tla").write_text(MODULE.replace("Rigged", "Lamp"))
    (folder / "MC.tla").write_text("---- MODULE MC ----\nEXTENDS Lamp\n====\n")
    (folder / "MC.cfg").write_text(CONFIG)
    model = make_model(CONFIG)
    model = replace(
        model, module=folder / "MC.tla", config=folder / "MC.cfg", search_path=(folder,)
    )

    assert isinstance(run(model, coverage=False).outcome, Finished)
    assert Spec.load("MC", path=folder, cfg=folder / "MC.cfg").variables == ("answer",)


def test_the_oracle_keeps_its_jar_whatever_the_checks_use(tmp_path, monkeypatch):
    pinned = find_oracle_jar()
    other = tmp_path / "tla2tools.jar"
    other.write_bytes(pinned.path.read_bytes() + b"newer")
    monkeypatch.setenv("KRAFLA_TLA2TOOLS", str(other))

    assert find_jar().path == other
    assert find_oracle_jar().sha256 == pinned.sha256
