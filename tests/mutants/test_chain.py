"""A seeded bug goes the whole way, one command a station."""

from __future__ import annotations

import pytest
from tests.mutants.chain import OF_THE_CODE, OF_THE_SPEC, Walker, walk

ALL = (*OF_THE_SPEC, *OF_THE_CODE)


def test_there_are_five_bugs_of_each_side():
    assert (len(OF_THE_SPEC), len(OF_THE_CODE)) == (5, 5)


# At night: each takes a dozen processes with a JVM.
@pytest.mark.nightly
@pytest.mark.parametrize("bug", ALL)
def test_a_bug_is_found_shrunk_explained_replayed_kept_and_red(bug, tmp_path):
    way = walk(bug, tmp_path)

    assert 1 < way.shrunk <= way.found
    assert "false at BrokerLease" in way.conjunct
    if way.side == "spec":
        # The implementation is right: it takes all steps but the one that the bug allows.
        assert f"follows {way.shrunk - 1} of {way.shrunk} steps" in way.replayed.output
    else:
        assert "is not enabled" in way.replayed.output or " leads to " in way.replayed.output
        assert "does it still" in way.red.output
    assert "1 failed" in way.red.output
    assert "1 passed" in way.green.output


@pytest.mark.nightly
def test_without_the_bug_there_is_nothing_to_find(tmp_path):
    walker = Walker("amending-takes-new-epoch", tmp_path)

    healthy = walker.run(
        "fuzz", "lease", "--profile", "restless", "--examples", "2", "--steps", "300",
        "--save", str(tmp_path / "found"), bug=False,
    )  # fmt: skip

    assert healthy.status in {0, 3}, healthy
    assert not list((tmp_path / "found").iterdir())
