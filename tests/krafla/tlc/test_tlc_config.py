"""Reading cfg files, and writing variants of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from krafla.tlc.capabilities import EXTRA_KEYWORDS, inspect
from krafla.tlc.config import ModelConfig, read_config
from krafla.tlc.jar import find_oracle_jar
from krafla.values import ModelValue
from krafla.verdict import KraflaError

TEXT = """\\* INVARIANT Commented
CONSTANTS
  Replica = {r1, r2}  Nil = Nil (* PROPERTY
  Inside *)
  Broker <- OneBroker
  Max = 3
SPECIFICATION Spec
INVARIANTS TypeOK
  Safe
PROPERTY Live
CHECK_DEADLOCK FALSE
PROPERTIES Fair
"""


def test_names_are_read_past_comments_and_line_ends():
    config = ModelConfig(TEXT)

    assert config.invariants == ("TypeOK", "Safe")
    assert config.properties == ("Live", "Fair")
    assert not config.checks_deadlock


def test_constants_with_values_are_read_and_replaced_ones_left_out():
    values = frozenset({ModelValue("r1"), ModelValue("r2")})

    assert ModelConfig(TEXT).constants == (
        ("Replica", values),
        ("Nil", ModelValue("Nil")),
        ("Max", 3),
    )


def test_a_variant_keeps_every_line_where_it_was():
    variant = ModelConfig(TEXT).without(["INVARIANT", "INVARIANTS", "PROPERTY", "PROPERTIES"])

    assert (variant.invariants, variant.properties) == ((), ())
    assert len(variant.text.splitlines()) == len(TEXT.splitlines())
    assert variant.text.splitlines()[6] == "SPECIFICATION Spec"


def test_a_line_is_added_at_the_end():
    assert ModelConfig(TEXT).with_line("PROPERTY Last").properties == ("Live", "Fair", "Last")


def test_deadlock_is_checked_unless_the_cfg_says_otherwise():
    assert ModelConfig("SPECIFICATION Spec").checks_deadlock


def test_a_cfg_that_is_not_text_is_refused_with_its_byte(tmp_path):
    path = tmp_path / "bad.cfg"
    path.write_bytes(b"INIT \xff")

    with pytest.raises(KraflaError, match=r"bad\.cfg, byte 5"):
        read_config(path)


def test_what_the_jar_does_not_know_is_left_out_and_what_it_asks_is_told():
    text = f"{TEXT}ALIAS\n  Short\nPOSTCONDITION Full\n_POSSIBLE Half\n"
    old = inspect(find_oracle_jar().path)
    new = replace(old, keywords=old.keywords | set(EXTRA_KEYWORDS))
    config = ModelConfig(text)

    assert config.known_to(old).text.split() == TEXT.split()
    told = [sentence.partition(" is not asked")[0] for sentence in config.unasked(old)]
    assert told == ["POSTCONDITION Full", "_POSSIBLE Half"]
    assert config.known_to(new) == config
    assert config.unasked(new) == ()
