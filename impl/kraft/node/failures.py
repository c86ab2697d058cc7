"""Why a connection or a listener failed, in words.

Kafka: NetworkClient, SslTransportLayer.
"""

from __future__ import annotations

import os
import ssl

from kraft.errors import printable


def failure_text(error: Exception) -> str:
    """Return why a connection failed, as the end of a sentence on one line.

    asyncio's own text of an OSError names the address once more, and TLS has numbers of its own.
    """
    if isinstance(error, ssl.SSLCertVerificationError):
        return printable(f"its certificate is not accepted: {error.verify_message}")
    if isinstance(error, ssl.SSLError):
        return "it does not speak TLS as asked"
    if isinstance(error, TimeoutError):
        return "it did not answer in time"
    if isinstance(error, OSError) and error.errno is not None:
        # A name that has no address has a number below zero.
        text = os.strerror(error.errno) if error.errno > 0 else str(error.strerror)
        return printable(text.lower())
    return printable(str(error) or type(error).__name__)
