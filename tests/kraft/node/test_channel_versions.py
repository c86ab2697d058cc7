"""What a channel says first on a connection, and the versions in which it goes on."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from tests.kraft.node.test_channels import (
    ALL_VERSIONS,
    TIMEOUT,
    VOTE,
    Quorum,
    answer_versions,
    answer_vote,
)
from tests.kraft.node.virtual_time import run_virtually

from kraft.errors import ErrorCode
from kraft.node.channels import Attempts
from kraft.rpc.raft_voters import ApiVersionsRequest, ApiVersionsResponse
from kraft.wire.requests import read_request

PRE_VOTE = replace(VOTE, pre_vote=True)
WITH_OLD_VOTE = {**ALL_VERSIONS, 52: (0, 1)}


async def asked(quorum, *requests):
    """Return the errors of the responses to requests, one sent after the other."""
    for number, request in enumerate(requests):
        quorum.channels.send(2, number, request)
        assert len(quorum.delivered) == number
        await quorum.until(number + 1)
    return [response.error_code for _, _, response in quorum.delivered]


def test_a_request_goes_in_the_newest_version_that_both_know():
    async def main():
        seen = []

        def answer(frame, transport):
            seen.append(read_request(frame).header.api_version)
            answer_vote(frame, transport)

        async with Quorum() as quorum:
            await quorum.start(2, answer, versions=WITH_OLD_VOTE)
            await quorum.start(3, answer)
            for node in (2, 3, 2):
                quorum.channels.send(node, node, VOTE)
                await quorum.until(len(seen) + 1)
            return seen, {response.vote_granted for _, _, response in quorum.delivered}

    assert run_virtually(main()) == ([1, 2, 1], {True})


def test_a_request_that_an_old_version_cannot_say_fails_and_the_connection_goes_on(caplog):
    async def main():
        async with Quorum() as quorum:
            await quorum.start(2, answer_vote, versions=WITH_OLD_VOTE)
            return await asked(quorum, PRE_VOTE, PRE_VOTE, VOTE), quorum.seen

    errors, seen = run_virtually(main())

    unsupported = ErrorCode.UNSUPPORTED_VERSION
    assert errors == [unsupported, unsupported, ErrorCode.NONE]
    assert seen == {"connections": 1, "requests": 1}
    (line,) = [one.message for one in caplog.records]
    assert line.startswith("Node 2 is too old for a request: preVote is True")


def test_a_request_that_the_node_does_not_serve_fails():
    without_votes = {key: versions for key, versions in ALL_VERSIONS.items() if key != 52}

    async def main():
        async with Quorum() as quorum:
            await quorum.start(2, answer_vote, versions=without_votes)
            return await asked(quorum, VOTE)

    assert run_virtually(main()) == [ErrorCode.UNSUPPORTED_VERSION]


def test_requests_wait_for_the_versions_and_keep_their_order():
    async def main():
        async with Quorum() as quorum:
            await quorum.start(2, answer_vote)
            for number in range(5):
                quorum.channels.send(2, number, VOTE)
                await asyncio.sleep(0)
            await quorum.until(5)
            return [number for _, number, _ in quorum.delivered]

    assert run_virtually(main()) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("told", "versions"), [((0, 2), [4, 2]), (None, [4, 0])])
def test_a_node_that_knows_only_an_older_question_is_asked_again(told, versions):
    seen = []

    def answer(frame, transport):
        header = read_request(frame).header
        if header.api_key == 18:
            seen.append(header.api_version)
        if header.api_key == 52:
            answer_vote(frame, transport)
        elif header.api_version > versions[-1]:
            served = {} if told is None else {18: told}
            answer_versions(frame, transport, served, ErrorCode.UNSUPPORTED_VERSION)
        else:
            answer_versions(frame, transport, ALL_VERSIONS)

    async def main():
        async with Quorum() as quorum:
            await quorum.start(2, answer, versions=None)
            return await asked(quorum, VOTE, VOTE)

    assert run_virtually(main()) == [ErrorCode.NONE, ErrorCode.NONE]
    assert seen == versions


def test_a_node_that_refuses_to_tell_its_versions_is_left():
    def refuse(frame, transport):
        answer_versions(frame, transport, {}, ErrorCode.INVALID_REQUEST)

    async def main():
        async with Quorum() as quorum:
            await quorum.start(2, refuse, versions=None)
            return await asked(quorum, VOTE, VOTE), quorum.seen["connections"]

    assert run_virtually(main()) == ([ErrorCode.BROKER_NOT_AVAILABLE] * 2, 2)


def test_a_node_that_never_tells_its_versions_is_left_after_the_timeout():
    async def main():
        async with Quorum() as quorum:
            await quorum.start(2, lambda _frame, _transport: None, versions=None)
            begin = asyncio.get_running_loop().time()
            errors = await asked(quorum, VOTE)
            return errors, asyncio.get_running_loop().time() - begin

    errors, took = run_virtually(main())

    assert errors == [ErrorCode.BROKER_NOT_AVAILABLE]
    assert TIMEOUT <= took < TIMEOUT + 0.5


class LateAttempts(Attempts):
    """Attempts that each wait for most of the time that a request has."""

    async def begin(self):
        await asyncio.sleep(0.75 * TIMEOUT)


def test_the_time_of_a_request_begins_before_the_connection_does():
    async def main():
        async with Quorum() as quorum:
            quorum.channels.attempts = LateAttempts()
            await quorum.start(2, lambda _frame, _transport: None, versions=None)
            begin = asyncio.get_running_loop().time()
            errors = await asked(quorum, VOTE)
            assert quorum.seen["connections"] == 1
            return errors, asyncio.get_running_loop().time() - begin

    errors, took = run_virtually(main())

    assert errors == [ErrorCode.BROKER_NOT_AVAILABLE]
    assert TIMEOUT <= took < TIMEOUT + 0.5


def test_a_request_whose_time_was_over_before_the_versions_came_is_not_sent():
    voted = []

    def answer(frame, transport):
        header = read_request(frame).header
        if header.api_key == 18:
            answer_versions(frame, transport, ALL_VERSIONS)
            # The process stood still: the answer is read before the timer is looked at.
            asyncio.get_running_loop().passed += 2 * TIMEOUT
        else:
            voted.append(header.correlation_id)
            answer_vote(frame, transport)

    async def main():
        async with Quorum() as quorum:
            await quorum.start(2, answer, versions=None)
            return await asked(quorum, VOTE, VOTE), quorum.seen["connections"]

    errors = [ErrorCode.BROKER_NOT_AVAILABLE, ErrorCode.NONE]
    assert run_virtually(main()) == (errors, 1)
    assert len(voted) == 1


def test_a_node_that_closes_each_connection_is_tried_less_and_less():
    async def main():
        async with Quorum() as quorum:
            await quorum.start(2, lambda _frame, transport: transport.close(), versions=None)
            begin = asyncio.get_running_loop().time()
            await asked(quorum, *[VOTE] * 12)
            return asyncio.get_running_loop().time() - begin

    assert run_virtually(main()) > 5


def test_raft_is_told_the_kraft_versions_as_before():
    def answer(frame, transport):
        answer_versions(frame, transport, ALL_VERSIONS)

    async def main():
        async with Quorum() as quorum:
            await quorum.start(2, answer)
            quorum.channels.send(2, 7, ApiVersionsRequest())
            await quorum.until(1)
            return quorum.delivered, quorum.seen["requests"]

    # The peer has no kraft.version among its features.
    response = ApiVersionsResponse(ErrorCode.NONE, 0, 0)
    assert run_virtually(main()) == ([(2, 7, response)], 1)
