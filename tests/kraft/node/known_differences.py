"""Where our controllers answer otherwise than Kafka's, and why: by the name of the question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Difference(NamedTuple):
    """A difference: what it is, and in which of the two clusters it is seen."""

    what: str
    static: bool = True
    dynamic: bool = True


_REQUEST_SIZE: Final = Difference("`socket.request.max.bytes` has another default here: 2 MiB")
_LOGGERS: Final = Difference("the loggers are those of this program: names of Python's modules")
_UNREAD: Final = "Kafka's controllers do not serve this API, though they list it"

KNOWN: Final[Mapping[str, Difference]] = {
    "configs CONTROLLER --describe --entity-type brokers --entity-name 3000 --all": _REQUEST_SIZE,
    "describeConfigs of the controller": _REQUEST_SIZE,
    "describeConfigs of the controller, again": _REQUEST_SIZE,
    "configs CONTROLLER --describe --broker-logger 3000": _LOGGERS,
    "describeConfigs of the controller's loggers": _LOGGERS,
    "features CONTROLLER upgrade --release-version 4.1": Difference(
        "on a static quorum Kafka raises `kraft.version` to 1; here it cannot be raised, and "
        "nothing is upgraded",
        dynamic=False,
    ),
    "DescribeUserScramCredentials": Difference(f"{_UNREAD}: no answer; here it is answered"),
    "DescribeDelegationToken": Difference(f"{_UNREAD}: UNKNOWN_SERVER_ERROR; here it is answered"),
    "AddRaftVoter of another cluster": Difference("the same error, here without a sentence"),
    "Envelope of a client that may do nothing": Difference(
        "there is no authorizer here: every principal may do all"
    ),
    "CreateAcls of a wrong cluster among others, of a standby": Difference(
        "a standby says NOT_CONTROLLER of every entry; Kafka's says first which are invalid",
        static=False,
    ),
}
"""All differences that were seen."""
