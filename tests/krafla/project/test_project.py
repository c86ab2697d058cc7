"""Which project is at hand, what a ``krafla.toml`` says, and which models paths ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.krafla.project.folders import CONFIG, MODEL, MODEL_CONFIG, lay_out

from krafla.manifest import load, on_these_specs
from krafla.oracle.loader import find_module
from krafla.project.asked import names_asked
from krafla.project.at_hand import at_hand, installed_specs, put_shipped_at_hand
from krafla.project.models import Listing
from krafla.project.pinned import pin_numbers
from krafla.verdict import KraflaError


def models():
    return [one.name for one in load().models]


def refusal(call, *arguments):
    with pytest.raises(KraflaError) as refused:
        call(*arguments)
    return refused.value


def test_the_nearest_krafla_toml_upward_is_the_project(folder, monkeypatch):
    (folder / "krafla.toml").write_text("")
    inside = folder / "tests" / "deep"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)

    assert at_hand().listing == folder / "krafla.toml"
    assert models() == ["Lock"]


@pytest.mark.usefixtures("folder")
def test_without_a_file_the_shipped_specs_are_the_project():
    assert at_hand().folder == installed_specs()


def test_the_environment_goes_before_a_file_and_a_path_before_both(folder, tmp_path, monkeypatch):
    (folder / "krafla.toml").write_text("")
    other = lay_out(tmp_path / "other", krafla_toml="")
    monkeypatch.setenv("KRAFLA_SPECS", str(other))
    assert at_hand().folder == other

    (folder / "Third.cfg").write_text(CONFIG)
    third = lay_out(tmp_path / "third")
    assert names_asked([str(third)]) == ()

    assert at_hand().folder == third
    assert os.environ["KRAFLA_SPECS"] == str(third), "what it starts sees another project"


def test_a_command_about_what_is_shipped_does_not_mean_the_project_here(folder):
    (folder / "krafla.toml").write_text("")

    put_shipped_at_hand()

    assert at_hand().folder == installed_specs()


def test_a_shipped_module_is_found_from_a_project_that_has_none_of_its_name(folder):
    (folder / "krafla.toml").write_text("")

    assert find_module("Lock", None) == folder / "Lock.tla"
    assert find_module("BrokerLease", None).is_relative_to(installed_specs())


def test_a_file_alone_lists_each_cfg_that_is_there(folder):
    (folder / "krafla.toml").write_text("")
    (folder / "LockSmall.cfg").write_text(CONFIG)
    (folder / "MCLock.tla").write_text(MODEL.format(name="MCLock"))
    (folder / "MCLock.cfg").write_text(MODEL_CONFIG)

    found = {one.name: (one.module.name, one.listing) for one in load().models}

    assert found == {
        "Lock": ("Lock.tla", Listing.PROJECT),
        "LockSmall": ("Lock.tla", Listing.PROJECT),
        "MCLock": ("MCLock.tla", Listing.PROJECT),
    }


def test_a_table_need_only_say_its_module(folder):
    (folder / "krafla.toml").write_text('[[model]]\nmodule = "Lock.tla"\n')

    (model,) = load().models

    assert (model.name, model.spec, model.tier, model.kind) == ("Lock", "Lock", "smoke", "safety")
    assert (model.config, model.expect, model.bounds) == (folder / "Lock.cfg", "holds", "")
    assert model.place == f"{folder}/krafla.toml:1"


def test_modules_may_lie_in_folders_of_their_own(folder):
    lay_out(folder / "specs")
    text = '[project]\nname = "lock"\nspecs = ["specs"]\n[[model]]\ncfg = "Lock.cfg"\n'
    for name in ("Lock.tla", "Lock.cfg"):
        (folder / name).unlink()
    (folder / "krafla.toml").write_text(text)

    (model,) = load().models

    assert model.module == folder / "specs" / "Lock.tla"
    assert at_hand().modules() == (folder / "specs" / "Lock.tla",)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('[project]\n[[modle]]\ncfg = "Lock.cfg"', 2, "no key 'modle'; did you mean model"),
        ('[project]\nnam = "x"', 2, "[project] has no key 'nam'; did you mean name"),
        ("[project]\nname = 3", 2, "'name' of the project is a string"),
        ('[project]\nname = "x"\nspecs = ["none"]', 3, "no folder none"),
        ('[[model]]\ncfg = "None.cfg"', 1, "no file None.cfg"),
        ('[[model]]\nmodule = "None.tla"', 2, "no file None.tla"),
        ('[[model]]\nname = "x"\n', 1, "the key 'module' is missing"),
        ('[[model]]\ncfg = "Lock.cfg"\ndistinkt = 3', 3, "no key 'distinkt'"),
        ('[[model]]\ncfg = "Lock.cfg"\n[[model]]\ncfg = "Lock.cfg"', 3, "stands also at"),
        ("model = 3", 1, "is a table [[model]]"),
    ],
)
def test_a_faulty_file_is_refused_with_its_line(folder, text, line, problem):
    (folder / "krafla.toml").write_text(f"{text}\n")

    error = refusal(load)

    assert problem in error.message
    assert error.place == f"{folder}/krafla.toml:{line}"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ('[[machine]]\nname = "lock"\n', 1, "a [[machine]] has a 'class'"),
        ('[[machine]]\nname = "a"\nclass = "m:A"\n[[machine]]\nname = "b"\nclas = "m:B"\n', 6,
         "[[machine]] has no key 'clas'; did you mean class"),
        ('[[machine]]\nname = "lock"\nclass = 7\n', 3, "'class' of a machine is a string"),
        ('[[machine]]\nname = "lock"\nclass = "lock"\n', 3, "package.module:Class"),
        ('[[machine]]\nname = "a"\nclass = "m:A"\n[[machine]]\nname = "a"\nclass = "m:B"\n', 5,
         "a second machine"),
    ],
)  # fmt: skip
def test_a_faulty_machine_is_refused_with_its_line(folder, text, line, problem):
    (folder / "krafla.toml").write_text(text)

    error = refusal(at_hand().machines)

    assert problem in error.message
    assert error.place == f"{folder}/krafla.toml:{line}"


def test_a_module_asks_for_its_own_cfg_or_the_only_one_that_fits(folder):
    (folder / "LockSmall.cfg").write_text(CONFIG)
    assert names_asked(["Lock.tla"]) == ("Lock",)
    assert models() == ["Lock"]

    (folder / "Lock.cfg").unlink()
    assert names_asked(["Lock.tla"]) == ("LockSmall",)


def test_a_cfg_belongs_to_the_module_with_the_longest_name_that_it_begins_with(folder):
    (folder / "LockSmall.tla").write_text("---- MODULE LockSmall ----\n====\n")
    (folder / "LockSmallest.cfg").write_text(CONFIG)

    names_asked(["LockSmallest.cfg"])

    assert [one.module.name for one in load().models] == ["LockSmall.tla"]


def test_several_cfgs_of_a_module_are_told_to_choose_from(folder):
    (folder / "Lock.cfg").rename(folder / "LockSmall.cfg")
    (folder / "MCLock.tla").write_text(MODEL.format(name="MCLock"))
    (folder / "MCLock.cfg").write_text(MODEL_CONFIG)

    error = refusal(names_asked, ["Lock.tla"])

    assert error.place == f"{folder}/Lock.tla"
    assert "several others fit: LockSmall.cfg, MCLock.cfg; give one of them" in error.message


def test_a_module_without_any_cfg_says_what_to_write(folder):
    (folder / "Lock.cfg").unlink()

    error = refusal(names_asked, ["Lock.tla"])

    assert "has no Lock.cfg beside it: write a line SPECIFICATION Spec" in error.message


def test_a_folder_asks_for_all_its_cfgs_those_of_the_toolbox_too(folder, monkeypatch):
    inside = folder / "Lock.toolbox" / "Model_1"
    inside.mkdir(parents=True)
    (inside / "MC.tla").write_text(MODEL.format(name="MC"))
    (inside / "MC.cfg").write_text(MODEL_CONFIG)
    monkeypatch.chdir(folder.parent)

    assert names_asked(["lock"]) == ()
    found = {one.name: one.asked_by for one in load().models}

    assert found == {"Lock": "lock/Lock.tla", "Model_1": "lock/Lock.toolbox/Model_1/MC.tla"}
    toolbox = next(one for one in load().models if one.name == "Model_1")
    assert toolbox.search_path == (inside, folder)
    assert names_asked(["lock/Lock.toolbox"]) == ()
    assert models() == ["Model_1"]


@pytest.mark.parametrize(
    ("words", "place", "problem"),
    [
        (["Lok.tla"], "Lok.tla", "no such file; did you mean Lock.tla"),
        (["empty"], "empty", "holds no krafla.toml, no manifest.toml and no module"),
        (["one", "two"], "two", "one command asks about one"),
        (["other.toml"], "other.toml", "is no module, no cfg and no krafla.toml"),
        (["Odd.cfg"], "Odd.cfg", "which module does it configure? Beside it are Lock, Second"),
    ],
)
def test_a_path_that_asks_for_nothing_is_refused(folder, words, place, problem):
    (folder / "empty").mkdir()
    for name in ("one", "two"):
        lay_out(folder / name, krafla_toml="")
    (folder / "other.toml").write_text("")
    (folder / "Odd.cfg").write_text(CONFIG)
    (folder / "Second.tla").write_text("---- MODULE Second ----\n====\n")

    error = refusal(names_asked, words)

    assert problem in error.message
    assert error.place is not None
    assert error.place.endswith(place)


def test_the_manifest_of_another_program_above_a_path_is_none_of_ours(folder):
    (folder.parent / "manifest.toml").write_text('[deps]\nname = "julia"\n')

    assert names_asked(["Lock.tla"]) == ("Lock",)
    assert at_hand().folder == folder


def test_a_path_that_a_file_lists_is_the_model_that_it_lists(folder, monkeypatch):
    (folder / "LockBig.cfg").write_text(CONFIG)
    (folder / "krafla.toml").write_text(
        '[[model]]\ncfg = "Lock.cfg"\ndistinct = 8\n[[model]]\ncfg = "LockBig.cfg"\n'
    )
    assert names_asked(["Lock.tla"]) == ("Lock",)
    assert [one.distinct for one in load().select(("Lock",))] == [8]
    assert on_these_specs("krafla check Lock") == "krafla check Lock"

    monkeypatch.chdir(folder.parent)
    assert names_asked(["lock/Lock.cfg"]) == ("Lock",)
    assert [one.asked_by for one in load().models] == ["lock/Lock.cfg", "lock/LockBig.cfg"]


def test_a_model_of_a_path_gets_its_numbers_in_a_new_file(folder):
    names_asked(["Lock.cfg"])
    (model,) = load().models

    pin_numbers(model, {"distinct": 8, "properties": 1})

    again = lay_out(folder)
    assert (again / "krafla.toml").read_text().splitlines()[-5:] == [
        "[[model]]", 'module = "Lock.tla"', 'cfg = "Lock.cfg"', "distinct = 8", "properties = 1",
    ]  # fmt: skip


def test_numbers_are_added_to_the_table_of_the_model_and_nothing_else_changes(folder):
    text = (
        '# mine\n[[model]]\ncfg = "Lock.cfg" # small\nbounds = "two"\n\n[[machine]]\nname = "a"\n'
    )
    (folder / "krafla.toml").write_text(text)

    pin_numbers(load().models[0], {"distinct": 8})

    changed = text.replace("# small\n", "# small\ndistinct = 8\n")
    assert (folder / "krafla.toml").read_text() == changed


def test_a_first_number_keeps_the_models_that_were_guessed(folder):
    (folder / "LockSmall.cfg").write_text(CONFIG)
    (folder / "krafla.toml").write_text('[project]\nname = "lock"')
    before = models()

    pin_numbers(load().select(("LockSmall",))[0], {"distinct": 8})

    assert sorted(models()) == sorted(before)


def test_a_table_without_a_line_of_its_own_is_left_alone(folder):
    text = 'model = [{cfg = "Lock.cfg"}]\n'
    (folder / "krafla.toml").write_text(text)

    error = refusal(pin_numbers, load().models[0], {"distinct": 8})

    assert "add distinct = 8 to the model's table yourself" in error.message
    assert (folder / "krafla.toml").read_text() == text


def test_the_project_file_of_the_documents_is_read_as_they_say(folder):
    page = Path(__file__).parents[3] / "docs" / "project-file.md"
    text = page.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    lay_out(folder / "specs")
    (folder / "specs" / "LockBig.cfg").write_text(CONFIG)
    (folder / "krafla.toml").write_text(text)

    small, big = load().models

    assert (small.name, small.config) == ("Lock", folder / "specs" / "Lock.cfg")
    assert (big.name, big.tier, big.distinct) == ("LockBig", "full", 1_234)
    assert dict(big.untaken) == {"Crash": "no client crashes here"}
    assert [one.name for one in at_hand().machines()] == ["lock"]
    assert [one["spec"] for one in at_hand().views()] == ["Lock"]
