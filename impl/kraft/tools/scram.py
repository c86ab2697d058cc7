"""A user's SCRAM credential from the text of `--add-scram`.

Kafka: ScramParser, ScramFormatter. RFC 5802.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from typing import Any, Final

from kraft.tools.guard import ExitCode, ToolError

_MECHANISMS: Final = {"SCRAM-SHA-256": (1, "sha256"), "SCRAM-SHA-512": (2, "sha512")}
_ITERATIONS: Final = 4096
_MOST_ITERATIONS: Final = 16384
_KEYS: Final = {"name", "salt", "iterations", "password", "saltedpassword"}
_SALT_BYTES: Final = 20


def scram_fields(argument: str) -> dict[str, Any]:
    """Return the fields of the UserScramCredentialRecord that `MECHANISM=[key=value,...]` asks for.

    A salt that is not given is drawn. Raises ToolError, which never repeats a password.
    """
    mechanism, separator, rest = argument.partition("=")
    if not separator:
        raise _refused(f"Failed to find equals sign in SCRAM argument '{argument}'")
    if mechanism not in _MECHANISMS:
        raise _refused(f"The add-scram mechanism {mechanism} is not supported.")
    number, digest = _MECHANISMS[mechanism]
    if not (rest.startswith("[") and rest.endswith("]")):
        raise _refused("Expected the configuration of --add-scram in square brackets")
    given = _given(rest[1:-1])
    iterations = given.get("iterations", str(_ITERATIONS))
    if not re.fullmatch(r"\d{1,5}", iterations, re.ASCII) or not (
        _ITERATIONS <= int(iterations) <= _MOST_ITERATIONS
    ):
        raise _refused(f"The iterations of --add-scram are not {_ITERATIONS} to {_MOST_ITERATIONS}")
    if not given.get("name"):
        raise _refused("You must supply 'name' to add-scram")
    if ("password" in given) == ("saltedpassword" in given):
        raise _refused("You must supply one of 'password' or 'saltedpassword' to add-scram")
    if "saltedpassword" in given and "salt" not in given:
        raise _refused("You must supply 'salt' with 'saltedpassword' to add-scram")
    salt = _base64(given["salt"]) if "salt" in given else secrets.token_bytes(_SALT_BYTES)
    if "password" in given:
        password = given["password"].encode()
        salted = hashlib.pbkdf2_hmac(digest, password, salt, int(iterations))
    else:
        salted = _base64(given["saltedpassword"])
    client_key = hmac.digest(salted, b"Client Key", digest)
    return {
        "name": given["name"],
        "mechanism": number,
        "salt": salt,
        "storedKey": hashlib.new(digest, client_key).digest(),
        "serverKey": hmac.digest(salted, b"Server Key", digest),
        "iterations": int(iterations),
    }


def _given(text: str) -> dict[str, str]:
    given: dict[str, str] = {}
    for part in text.split(",") if text else []:
        key, separator, value = part.partition("=")
        if not separator or key not in _KEYS or key in given:
            raise _refused("--add-scram has a key that is unknown, there twice or without a value")
        quoted = len(value) > 1 and value.startswith('"') and value.endswith('"')
        given[key] = value[1:-1] if quoted else value
    return given


def _base64(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _refused("a value of --add-scram is not base64") from None


def _refused(reason: str) -> ToolError:
    return ToolError(reason, ExitCode.REFUSED)
