"""Why a jar could not be fetched, in a sentence: the innermost cause of a chain of errors."""

from __future__ import annotations

import re
import ssl
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["not_fetched"]

# The number of the error, and the line of OpenSSL's C code.
_NOISE: Final = re.compile(r"^\[[^]]*\] | \(_ssl\.c:\d+\)$")
_OTHER_CERTIFICATES: Final = (
    ". REQUESTS_CA_BUNDLE=FILE names the certificates to trust, such as those of a proxy"
)


def not_fetched(what: str, error: Exception, path: Path) -> str:
    """Return that a jar could not be fetched from where and why; ``path`` is where it belongs."""
    cause: BaseException = error
    while (inner := cause.__cause__ or cause.__context__) is not None:
        cause = inner
    told = str(cause).splitlines() or [type(cause).__name__]
    advice = _OTHER_CERTIFICATES if isinstance(cause, ssl.SSLError) else ""
    url = getattr(getattr(error, "request", None), "url", None)
    place = "" if url is None else f" from {url}"
    return (
        f"{what} could not be fetched{place}: {_NOISE.sub('', told[0])}{advice}. "
        f"The first run needs the network; or lay the jar there as {path}"
    )
