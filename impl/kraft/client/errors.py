"""How a request of a client fails: each error is one sentence for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraft.errors import ErrorCode


class ClientError(Exception):
    """A request that was not done."""


class UnreachableError(ClientError):
    """No node answered in time; the sentence names the addresses."""


class RefusedError(ClientError):
    """A node refused: `code` says why, and the sentence is the node's own if it sent one."""

    def __init__(self, code: ErrorCode, sentence: str | None) -> None:
        super().__init__(sentence or f"the request was refused with {code.name}")
        self.code = code
