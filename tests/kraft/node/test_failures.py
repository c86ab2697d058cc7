"""Why a connection failed, in words and without its address."""

import errno
import socket
import ssl

import pytest

from kraft.node.failures import failure_text

REFUSED = OSError(errno.ECONNREFUSED, "Connect call failed ('127.0.0.1', 9093)")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (REFUSED, "connection refused"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "name or service not"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER]"), "it does not speak TLS as asked"),
        (TimeoutError(), "it did not answer in time"),
        (ConnectionResetError("it closed the connection"), "it closed the connection"),
        (ValueError("a\nb"), r"a\nb"),
        (EOFError(), "EOFError"),
    ],
)
def test_a_failure_is_told_in_words(error, said):
    assert failure_text(error).startswith(said)
    assert "127.0.0.1" not in failure_text(error)
