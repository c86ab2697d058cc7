"""Two nodes speak the newest version that both know, or none."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kraft.errors import ErrorCode, UnsupportedVersionError
from kraft.rpc.api_versions import SupportedApi, SupportedApisResponse
from kraft.wire.apis import CONTROLLER_APIS
from kraft.wire.negotiation import ServedVersions, negotiated

VERSIONS = st.integers(-1, 20)
REFUSED = ErrorCode.UNSUPPORTED_VERSION
ERRORS = st.sampled_from([REFUSED, REFUSED, ErrorCode.NONE, ErrorCode.INVALID_REQUEST])


@given(st.sampled_from([*CONTROLLER_APIS.values()]), VERSIONS, VERSIONS)
def test_the_newest_version_that_both_know_is_used(api, oldest, newest):
    served = ServedVersions({api.key: SupportedApi(api.key, oldest, newest)})
    ours = range(api.request.oldest, api.request.newest + 1)
    both = set(ours) & set(range(oldest, newest + 1))
    if both:
        assert served.newest(api) == max(both)
    else:
        with pytest.raises(UnsupportedVersionError, match=f"The node does not support {api.name}"):
            served.newest(api)


def test_the_sentences_are_those_of_kafka():
    fetch = CONTROLLER_APIS[1]
    with pytest.raises(UnsupportedVersionError) as absent:
        ServedVersions({}).newest(fetch)
    with pytest.raises(UnsupportedVersionError) as old:
        ServedVersions({1: SupportedApi(1, 0, 3)}).newest(fetch)
    assert str(absent.value) == "The node does not support Fetch"
    assert str(old.value) == (
        "The node does not support Fetch with version in range [4,18]."
        " The supported range is [0,3]."
    )


@given(
    st.integers(0, 4),
    st.lists(st.tuples(ERRORS, st.lists(st.tuples(VERSIONS, VERSIONS), max_size=1)), min_size=6),
)
@example(2, [(REFUSED, [(0, 2)])] * 6)
def test_a_node_is_asked_for_its_versions_few_times(version, answers):
    asked = []
    for error, ranges in answers:
        asked.append(version)
        rows = tuple(SupportedApi(18, *one) for one in ranges)
        try:
            version = negotiated(version, SupportedApisResponse(error, rows))
        except UnsupportedVersionError:
            assert error is not ErrorCode.NONE
            break
        if isinstance(version, ServedVersions):
            assert error is ErrorCode.NONE
            break
    assert len(asked) <= 5
    assert asked == sorted(set(asked), reverse=True)


def test_a_node_that_tells_no_versions_is_asked_in_the_oldest_one():
    assert negotiated(4, SupportedApisResponse(ErrorCode.UNSUPPORTED_VERSION)) == 0
    told = (SupportedApi(18, 0, 2),)
    assert negotiated(4, SupportedApisResponse(ErrorCode.UNSUPPORTED_VERSION, told)) == 2
