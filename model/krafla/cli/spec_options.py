"""The options by which a verb is given the spec that judges a program."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from krafla.verdict import KraflaError

if TYPE_CHECKING:
    from krafla.match.spec_source import SpecSource
    from krafla.project.models import Model
    from krafla.values import Value

__all__ = ["Cfg", "Constants", "GivenSpec", "SpecOptions"]

Cfg = Annotated[
    Path | None, typer.Option(metavar="FILE.cfg", help="The cfg of --spec FILE.tla, if another.")
]
Constants = Annotated[
    Path | None, typer.Option(metavar="FILE.json", help="The constants, instead of a cfg.")
]


class GivenSpec(NamedTuple):
    """A spec that judges a program: its files, and its constants if no cfg says them."""

    source: SpecSource
    constants: tuple[tuple[str, Value], ...] = ()


class SpecOptions(NamedTuple):
    """What ``--spec``, ``--cfg`` and ``--constants`` say."""

    spec: str | None
    cfg: Path | None
    constants: Path | None

    @property
    def has_constants(self) -> bool:
        """Return whether a cfg or a file of constants is named."""
        return self.cfg is not None or self.constants is not None

    @property
    def words(self) -> list[str]:
        """Return ``--cfg`` and ``--constants`` as words of a command."""
        files = {"--cfg": self.cfg, "--constants": self.constants}
        named = {option: path for option, path in files.items() if path is not None}
        return [word for option, path in named.items() for word in (option, str(path))]

    def given(self) -> GivenSpec:
        """Return the spec, or that of the only model of the ``krafla.toml`` at hand.

        The project of ``--spec`` becomes the one at hand. ``KraflaError`` names a file that is not
        there, or says which models there are.
        """
        from krafla.match.spec_source import SpecSource
        from krafla.project.asked import put_spec_at_hand

        if self.spec is None or not self.has_constants:
            model = _model(self.spec)
            return GivenSpec(SpecSource(model.module, model.config, model.search_path))
        if self.cfg is not None and self.constants is not None:
            raise KraflaError("a cfg says the constants: leave out --constants", str(self.cfg))
        put_spec_at_hand(self.spec)
        module = Path(self.spec).resolve()
        if module.suffix != ".tla":
            raise KraflaError("with --cfg or --constants, --spec is a .tla", self.spec)
        if self.cfg is not None and not self.cfg.is_file():
            raise KraflaError("there is no such cfg", str(self.cfg))
        config = None if self.cfg is None else self.cfg.resolve()
        # The project at hand may have another module of this name.
        source = SpecSource(module, config, is_carried=True)
        return GivenSpec(source, () if self.constants is None else _read_constants(self.constants))


def _model(spec: str | None) -> Model:
    from krafla.project.asked import names_asked, put_spec_at_hand, the_name
    from krafla.project.at_hand import at_hand
    from krafla.project.tree import Tree

    if spec is None:
        if isinstance(at_hand(), Tree):
            raise KraflaError("no spec is named: say --spec FILE.tla")
        names: tuple[str, ...] = ()
    else:
        names = names_asked((spec,))
        put_spec_at_hand(spec)
    manifest = at_hand().manifest()
    return manifest.select((the_name(names, manifest.models),))[0]


def _read_constants(path: Path) -> tuple[tuple[str, Value], ...]:
    """Return the constants in a file: a JSON object of values as in a trace."""
    from krafla.traces import TraceFormatError
    from krafla.traces.files import read_text
    from krafla.traces.from_lines import constants_of
    from krafla.traces.limits import MAX_LINE
    from krafla.traces.reader import strict_json

    text, _ = read_text(path, MAX_LINE)
    data = strict_json(text, str(path))
    if not isinstance(data, dict):
        raise TraceFormatError("expected an object of constants, by their names", str(path))
    try:
        return constants_of(data)
    except ValueError as error:
        raise TraceFormatError(str(error), str(path)) from error
