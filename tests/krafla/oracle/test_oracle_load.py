"""Loading a spec: constants of any kind, and one clear error with its place for any fault."""

from __future__ import annotations

import pytest

from krafla.oracle import Spec, SpecError
from krafla.values import ModelValue, record

SOUND = """---- MODULE Sound ----
EXTENDS Naturals
CONSTANTS C, D
ASSUME Small == C < 5
VARIABLE x
Init == x = 0
Next == x' = (x + 1) % C
Same(v) == v
Shadow == D
====
"""


def write(folder, text, name="Sound"):
    path = folder / f"{name}.tla"
    path.write_text(text, encoding="utf-8")
    return path


def test_constants_are_plain_values(tmp_path):
    write(tmp_path, SOUND)
    table = {ModelValue("b1"): record(epoch=-1, isr=(1, 2)), ModelValue("b2"): {"a", "b"}}

    spec = Spec.load("Sound", {"C": 3, "D": table}, path=tmp_path)

    assert spec.variables == ("x",)
    assert [str(action) for action in spec.actions] == ["Next"]
    assert str(spec.evaluate("Shadow")) == (
        '(b1 :> [epoch |-> -1, isr |-> <<1, 2>>] @@ b2 :> {"a", "b"})'
    )


def test_several_specs_live_side_by_side(tmp_path):
    write(tmp_path, SOUND)
    three = Spec.load("Sound", {"C": 3, "D": ModelValue("one")}, path=tmp_path)
    four = Spec.load("Sound", {"C": 4, "D": ModelValue("other")}, path=tmp_path)

    after = [spec.apply(spec.state({"x": 2}), "Next")["x"] for spec in (three, four, three)]

    assert after == [0, 3, 0]
    assert (three.evaluate("Shadow"), four.evaluate("Shadow")) == (
        ModelValue("one"),
        ModelValue("other"),
    )


def test_definitions_replace_operators_and_expressions_add_some(tmp_path):
    write(tmp_path, SOUND)
    spec = Spec.load(
        "Sound",
        {"C": 3, "D": 1},
        path=tmp_path,
        definitions={"Shadow": (7, 8)},
        expressions={"Twice": "2 * x"},
    )

    assert spec.evaluate("Shadow") == (7, 8)
    assert spec.evaluate("Twice", spec.state({"x": 2})) == 4


def test_a_configuration_file_is_taken_as_it_is(specs):
    spec = Spec.load("Ballot", path=specs, cfg=specs / "Ballot.cfg")

    assert len(spec.initial_states()) == 1
    assert spec.evaluate("Replica") == frozenset({ModelValue("r1"), ModelValue("r2")})


@pytest.mark.parametrize(
    ("old", "new", "place", "message"),
    [
        ("x = 0", "x = ", "Sound.tla:6", "Encountered"),
        ("x = 0", "y = 0", "Sound.tla:6", "Unknown operator: `y'"),
        ("Same(v) == v", "Same(v) == v(1)", "Sound.tla:8", "v"),
        ("EXTENDS Naturals", "EXTENDS Naturals, Absent", None, "module Absent"),
        ("Next == ", "Nexte == ", None, "Next"),
        ("C < 5", "C < 2", "Sound.tla:4", "break the assumption C < 2"),
    ],
)
def test_a_faulty_spec_is_one_error_with_its_line(tmp_path, capfd, old, new, place, message):
    path = write(tmp_path, SOUND.replace(old, new))

    with pytest.raises(SpecError) as raised:
        Spec.load("Sound", {"C": 3, "D": 1}, path=path)

    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert place is None or f"/{place}: " in str(raised.value)
    assert capfd.readouterr() == ("", "")


def test_a_missing_constant_is_named(tmp_path):
    write(tmp_path, SOUND)

    with pytest.raises(SpecError, match=r"constant parameter D"):
        Spec.load("Sound", {"C": 3}, path=tmp_path)


def test_a_faulty_configuration_is_an_error_with_its_line(specs, tmp_path):
    faulty = tmp_path / "Faulty.cfg"
    faulty.write_text("INIT Init\nNEXTO Next\n")

    with pytest.raises(SpecError, match=r"Faulty\.cfg:2: "):
        Spec.load("Ballot", path=specs, cfg=faulty)


def test_arguments_beside_a_configuration_are_refused(specs):
    with pytest.raises(SpecError, match="already says all"):
        Spec.load("Ballot", {"MaxEpoch": 1}, path=specs, cfg=specs / "Ballot.cfg")


def test_files_that_do_not_exist_are_named(specs, tmp_path):
    with pytest.raises(SpecError, match="no module Absent"):
        Spec.load("Absent", path=specs)
    with pytest.raises(SpecError, match=r"absent\.cfg: there is no such configuration"):
        Spec.load("Ballot", path=specs, cfg=tmp_path / "absent.cfg")


def test_an_error_in_an_extended_module_names_that_module(tmp_path):
    write(tmp_path, SOUND.replace("EXTENDS Naturals", "EXTENDS Naturals, Other"))
    write(tmp_path, "---- MODULE Other ----\n\nF == unknown\n====\n", "Other")

    with pytest.raises(SpecError, match=r"Other\.tla:3: .*unknown"):
        Spec.load("Sound", {"C": 3, "D": 1}, path=tmp_path)


def test_modules_are_also_looked_for_on_the_search_path(tmp_path):
    library = tmp_path / "lib"
    library.mkdir()
    write(library, "---- MODULE Other ----\nSeven == 7\n====\n", "Other")
    write(tmp_path, SOUND.replace("EXTENDS Naturals", "EXTENDS Naturals, Other"))

    spec = Spec.load("Sound", {"C": 3, "D": 1}, path=tmp_path, search_path=[library])

    assert spec.evaluate("Seven") == 7


def test_the_constants_of_a_module_have_their_values_in_the_model(specs):
    spec = Spec.load("MCBallot", path=specs, cfg=specs / "MCBallotSlow.cfg")

    declared = dict(spec.constants_of("Ballot"))

    assert list(declared) == ["Replica", "MaxEpoch", "Nil"]
    assert declared["Nil"] == ModelValue("Nil")
    assert declared["Replica"] == spec.evaluate("Replica")
    assert spec.constants_of("Naturals") == ()


def test_an_assumption_about_a_run_of_tlc_is_left_out_and_its_neighbour_is_not(tmp_path):
    text = SOUND.replace(
        "ASSUME Small == C < 5", 'ASSUME TLCGet("config").mode = "bfs" /\\ C < 5'
    ).replace("Naturals", "Naturals, TLC")
    asked = text.replace("ASSUME ", "ASSUME /\\ ").replace('"bfs" /\\', '"bfs"\n       /\\')

    Spec.load("Sound", {"C": 3, "D": 1}, path=write(tmp_path, asked))
    with pytest.raises(SpecError, match="the constants break the assumption"):
        Spec.load("Sound", {"C": 7, "D": 1}, path=write(tmp_path, asked))


def test_a_definition_without_variables_is_left_unchanged(tmp_path):
    text = "EXTENDS Naturals\nVARIABLE x\nnone == << >>\nInit == x = 0\n"
    text += "Next == x' = x + 1 /\\ UNCHANGED none\n"
    write(tmp_path, f"---- MODULE Sound ----\n{text}====\n")
    write(
        tmp_path, "---- MODULE Outer ----\nVARIABLE y\nINSTANCE Sound WITH x <- y\n====\n", "Outer"
    )

    for name, variable in (("Sound", "x"), ("Outer", "y")):
        spec = Spec.load(name, path=tmp_path)
        assert spec.apply(spec.state({variable: 2}), "Next")[variable] == 3
