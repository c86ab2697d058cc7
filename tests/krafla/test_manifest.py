"""The manifest: every key checked, every error with its line."""

from __future__ import annotations

import pytest

from krafla.manifest import find_specs, load, on_these_specs
from krafla.project.tree import Tree
from krafla.verdict import KraflaError

ENTRY = {
    "name": '"Small"',
    "module": '"lease/MC.tla"',
    "cfg": '"lease/Small.cfg"',
    "tier": '"smoke"',
    "expect": '"holds"',
    "kind": '"safety"',
    "distinct": "12",
    "bounds": '"two brokers"',
    "spec": '"Lease"',
}


@pytest.fixture
def specs(tmp_path):
    folder = tmp_path / "specs"
    for name in ("lease/MC.tla", "lib/Network.tla", "raft/Raft.tla", "broken/Bad.tla"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (folder / "lease/Small.cfg").write_text("")
    return folder


def entry(**changes):
    keys = {**ENTRY, **changes}
    lines = [f"{key} = {value}" for key, value in keys.items() if value is not None]
    return "[[model]]\n" + "\n".join(lines) + "\n"


def write(specs, *entries):
    (specs / "manifest.toml").write_text("# models\n" + "\n".join(entries))
    return specs


def test_a_model_is_read_whole(specs):
    text = entry(
        generated="30",
        witnesses='["ReachLeader"]',
        untaken='{ Crash = "no crash here" }',
        workers="2",
        actions='"all"',
    )

    (model,) = load(write(specs, text)).models

    assert (model.name, model.spec, model.tier, model.kind) == ("Small", "Lease", "smoke", "safety")
    assert (model.distinct, model.generated, model.workers) == (12, 30, 2)
    assert model.witnesses == ("ReachLeader",)
    assert model.untaken == (("Crash", "no crash here"),)
    assert model.place.endswith("manifest.toml:3")


def test_modules_are_sought_beside_the_model_then_in_lib_then_in_sound_rooms(specs):
    (model,) = load(write(specs, entry())).models

    names = [folder.name for folder in model.search_path]
    assert names == ["lease", "lib", "raft"]


def test_cfg_files_that_no_model_names_are_told(specs):
    (specs / "lease/Forgotten.cfg").write_text("")

    assert [path.name for path in load(write(specs, entry())).unlisted] == ["Forgotten.cfg"]


@pytest.mark.parametrize(
    ("changes", "line", "problem"),
    [
        ({"name": None}, 2, "'name' is missing"),
        ({"spec": None}, 2, "'spec' is missing"),
        ({"distinkt": "12"}, 12, "no key 'distinkt'"),
        ({"tier": '"slow"'}, 6, "'tier' is one of smoke, full, nightly"),
        ({"expect": '"passes"'}, 7, "'expect' is one of"),
        ({"kind": '"speed"'}, 8, "'kind' is one of"),
        ({"distinct": '"12"'}, 9, "'distinct' must be of type int"),
        ({"distinct": "true"}, 9, "'distinct' must be of type int"),
        ({"distinct": "0"}, 9, "at least 1"),
        ({"module": '"lease/None.tla"'}, 4, "no file lease/None.tla"),
        ({"cfg": '"lease/None.cfg"'}, 5, "no file lease/None.cfg"),
        ({"expect": '"violates"'}, 7, "needs the 'property'"),
        ({"property": '"Safe"'}, 12, "only if expect"),
        ({"kind": '"simulation"'}, 8, "number of 'behaviours'"),
        ({"untaken": '{ Crash = " " }'}, 12, "no reason for Crash"),
        ({"untaken": '["Crash"]'}, 12, "'untaken' must be of type dict"),
        ({"witnesses": "[3]"}, 12, "lists names"),
        ({"witnesses": '["A B"]'}, 12, "lists names"),
        ({"actions": '"some"'}, 12, "'actions' is one of all"),
    ],
    ids=str,
)
def test_a_faulty_key_is_refused_with_its_line(specs, changes, line, problem):
    with pytest.raises(KraflaError) as refused:
        load(write(specs, entry(**changes)))

    assert problem in refused.value.message
    assert refused.value.place.endswith(f"manifest.toml:{line}")


def test_the_second_model_of_a_name_is_refused_with_both_places(specs):
    with pytest.raises(KraflaError, match=r"manifest\.toml:14.*stands also at .*manifest\.toml:3"):
        load(write(specs, entry(), entry()))


@pytest.mark.parametrize("text", ["[[model]\n", "[models]\n", "model = 3\n"])
def test_a_file_that_is_no_manifest_is_refused(specs, text):
    (specs / "manifest.toml").write_text(text)

    with pytest.raises(KraflaError, match=r"manifest\.toml"):
        load(specs)


def test_bytes_that_are_no_text_are_refused_with_their_place(specs):
    (specs / "manifest.toml").write_bytes(b"# \xff")

    with pytest.raises(KraflaError, match="byte 2"):
        load(specs)


def test_models_are_chosen_by_name_and_by_tier(specs):
    manifest = load(write(specs, entry(), entry(name='"Big"', tier='"full"')))

    assert [model.name for model in manifest.select()] == ["Small", "Big"]
    assert [model.name for model in manifest.select(tier="full")] == ["Big"]
    assert [model.name for model in manifest.select(("Big", "Small", "Big"))] == ["Big", "Small"]
    with pytest.raises(KraflaError, match="no model 'Huge'; there are: Big, Small"):
        manifest.select(("Huge",))


def test_the_environment_chooses_the_specs(specs, monkeypatch):
    monkeypatch.setenv("KRAFLA_SPECS", str(write(specs, entry())))
    assert find_specs() == specs.resolve()

    (specs / "empty").mkdir()
    monkeypatch.setenv("KRAFLA_SPECS", str(specs / "empty"))
    with pytest.raises(KraflaError, match=r"KRAFLA_SPECS: holds no krafla\.toml, no manifest"):
        find_specs()


def in_a_room(specs, text, rooms='["lease"]'):
    (specs / "manifest.toml").write_text(f"rooms = {rooms}\n")
    (specs / "lease/models.toml").write_text(text)
    return specs


def test_a_room_has_its_models_in_its_own_file(specs):
    (model,) = load(
        in_a_room(specs, "# models\n" + entry(tags='["session", "two-brokers"]'))
    ).models

    assert (model.name, model.room, model.tags) == ("Small", "lease", ("session", "two-brokers"))
    assert model.place.endswith("lease/models.toml:3")


def test_rooms_are_read_in_the_order_of_the_manifest(specs):
    (specs / "raft/models.toml").write_text(entry(name='"First"'))

    manifest = load(in_a_room(specs, entry(), rooms='["raft", "lease"]'))

    assert [model.name for model in manifest.models] == ["First", "Small"]
    assert [room.name for room in Tree(specs).rooms()] == ["raft", "lease"]


def test_a_room_that_is_not_listed_is_an_error(specs):
    (specs / "raft/models.toml").write_text(entry(name='"First"'))

    with pytest.raises(KraflaError, match="rooms does not list raft"):
        load(in_a_room(specs, entry()))


def test_a_room_without_a_list_of_models_is_an_error(specs):
    with pytest.raises(KraflaError) as refused:
        load(in_a_room(specs, entry(), rooms='["lease", "attic"]'))
    assert refused.value.place.endswith("attic/models.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (entry(tags='["two words"]'), "'tags' lists words"),
        ("tier = 3\n" + entry(), r"\[\[model\]\] tables only"),
        ("[[model", "not TOML"),
    ],
)
def test_what_is_wrong_in_a_room_is_told_with_its_place(specs, text, message):
    with pytest.raises(KraflaError, match=message) as refused:
        load(in_a_room(specs, text))
    assert "lease/models.toml" in refused.value.place


@pytest.mark.parametrize(
    ("line", "message"),
    [("Gone = 1", "no model 'Gone' in models.toml"), ('Small = "1"', "no number")],
)
def test_a_number_of_witnesses_that_belongs_to_no_model_is_refused_with_its_line(
    specs, line, message
):
    folder = in_a_room(specs, entry())
    (specs / "lease/witnesses.toml").write_text(f"# How many.\n{line}\n")
    with pytest.raises(KraflaError, match=message) as refused:
        load(folder)
    assert refused.value.place.endswith("lease/witnesses.toml:2")


def test_a_manifest_has_rooms_and_models_and_nothing_else(specs):
    (specs / "manifest.toml").write_text("rooms = 3\n")
    with pytest.raises(KraflaError, match="consists of rooms"):
        load(specs)


def test_one_name_in_two_rooms_is_an_error(specs):
    (specs / "raft/models.toml").write_text(entry())
    with pytest.raises(KraflaError, match="stands also at"):
        load(in_a_room(specs, entry(), rooms='["raft", "lease"]'))


def test_a_command_reads_the_specs_that_this_process_reads(monkeypatch):
    monkeypatch.delenv("KRAFLA_SPECS", raising=False)
    assert on_these_specs("krafla check") == "krafla check"
    monkeypatch.setenv("KRAFLA_SPECS", "/my specs")
    assert on_these_specs("krafla check") == "KRAFLA_SPECS='/my specs' krafla check"
