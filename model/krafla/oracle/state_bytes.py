"""A state as bytes that another process can turn into the same state, with the same fingerprint.

TLC's own value streams, which also feed its queue on disk, compressed with a dictionary of sample
states. TLC numbers each string when it first sees it, sorts by these numbers, and streams them.
So processes that exchange states must number the strings alike: ``Names`` has the numbering of
one, and ``Names.given_to`` gives it to a copy of TLC's classes before a spec is loaded there.

Source: TLCState.write, ValueOutputStream, ValueInputStream, UniqueString, InternTable of TLC 2.18.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krafla.oracle.errors import EvaluationError, SpecError
from krafla.oracle.jvm import TlcClasses, java, java_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krafla.oracle.spec import Spec

__all__ = ["Names", "StateBytes"]

_LEVEL = 1
# A dictionary longer than that costs more per state than it saves.
_DICTIONARY_MAX = 16_384


@dataclass(frozen=True, slots=True)
class Names:
    """The strings of one loaded spec in TLC's numbering, and its model values in their order."""

    strings: tuple[str, ...]
    model_values: tuple[str, ...]

    @classmethod
    def of(cls, spec: Spec) -> Names:
        """Return the names as they are now."""
        table = spec.classes("util.UniqueString").internTbl
        numbered = {int(one.getTok()): str(one.toString()) for one in table.toMap().values()}
        values = spec.classes("tlc2.value.impl.ModelValue").mvs or ()
        return cls(
            tuple(numbered[number] for number in sorted(numbered)),
            tuple(str(one.val.toString()) for one in values),
        )

    def given_to(self, classes: TlcClasses) -> TlcClasses:
        """Return classes, in which no spec has been loaded, with the strings numbered as here."""
        unique = classes("util.UniqueString").uniqueStringOf
        for text in self.strings:
            unique(text)
        return classes

    def check(self, spec: Spec) -> None:
        """Raise ``SpecError`` unless a spec, loaded into such classes, names everything as here."""
        mine = Names.of(spec)
        if mine.model_values != self.model_values or mine.strings[: len(self.strings)] != (
            self.strings
        ):
            raise SpecError(f"{spec.name}: two processes number its strings differently")


class StateBytes:
    """Turns states of one spec into bytes and back, with a dictionary that all processes share."""

    def __init__(self, spec: Spec, dictionary: bytes = b"") -> None:
        self._spec = spec
        self._dictionary = dictionary
        self._table = spec.classes("util.UniqueString").internTbl
        self._count = _opened(spec.classes("util.InternTable"), "tokenCnt")
        self._strings = self._numbered()
        self._out = java("java.io.ByteArrayOutputStream")()
        self._buffer = spec.classes("util.BufferedDataOutputStream")(self._out)
        nowhere = java("java.io.File")(os.devnull)
        self._writer = spec.classes("tlc2.value.ValueOutputStream")(nowhere, False)
        _opened(type(self._writer), "dos").set(self._writer, self._buffer)
        self._written = _Handles(self._writer)
        self._input = spec.classes("util.BufferedDataInputStream")
        # It looks at the first bytes of its file.
        self._reader = spec.classes("tlc2.value.ValueInputStream")(
            java("java.io.File")(str(Path(__file__).resolve())), False
        )
        self._source = _opened(type(self._reader), "dis")
        self._source.get(self._reader).close()
        self._read = _Handles(self._reader)

    def _numbered(self) -> int:
        return int(self._count.get(self._table))

    def encode(self, states: Sequence[Any]) -> list[bytes]:
        """Return each of TLC's states as bytes.

        ``EvaluationError`` if the spec has made strings since this was made: another process may
        have numbered them differently.
        """
        content, ends = self._streamed(states)
        return [self._packed(content[start:end]) for start, end in pairwise([0, *ends])]

    def _streamed(self, states: Sequence[Any]) -> tuple[bytes, list[int]]:
        if self._numbered() != self._strings:
            raise EvaluationError(
                f"{self._spec.name} makes strings while it runs, and processes would number them"
                " differently: it can be explored in one process only"
            )
        self._out.reset()
        ends = []
        for state in states:
            # TLC writes no negative number here so that it can be read again.
            state.uid, state.workerId = 0, 0
            self._written.clear()
            state.write(self._writer)
            self._buffer.flush()
            ends.append(int(self._out.size()))
        return bytes(self._out.toByteArray()), ends

    def _packed(self, content: bytes) -> bytes:
        packer = zlib.compressobj(_LEVEL, wbits=-zlib.MAX_WBITS, zdict=self._dictionary)
        return packer.compress(content) + packer.flush()

    def decode(self, packed: Iterable[bytes]) -> list[Any]:
        """Return TLC's states that these bytes stand for; ``EvaluationError`` if they are none."""
        found = []
        try:
            content = [self._unpacked(one) for one in packed]
            stream = java("java.io.ByteArrayInputStream")(b"".join(content))
            self._source.set(self._reader, self._input(stream))
            for _ in content:
                self._read.clear()
                state = self._spec.empty_state.createEmpty()
                state.read(self._reader)
                found.append(state)
        except (zlib.error, java_error()) as error:
            raise EvaluationError(f"these bytes are no state of {self._spec.name}") from error
        return found

    def _unpacked(self, packed: bytes) -> bytes:
        unpacker = zlib.decompressobj(wbits=-zlib.MAX_WBITS, zdict=self._dictionary)
        return unpacker.decompress(packed) + unpacker.flush()

    def dictionary_of(self, states: Sequence[Any]) -> bytes:
        """Return the dictionary that compresses states like these well."""
        return self._streamed(states)[0][-_DICTIONARY_MAX:]


class _Handles:
    """What a stream has met so far: a state that is written or read must not refer to another."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._field = _opened(type(stream), "handles")
        self._new = self._field.getType().getDeclaredConstructor()
        self._new.setAccessible(True)

    def clear(self) -> None:
        self._field.set(self._stream, self._new.newInstance())


def _opened(owner: Any, name: str) -> Any:
    field = owner.class_.getDeclaredField(name)
    field.setAccessible(True)
    return field
