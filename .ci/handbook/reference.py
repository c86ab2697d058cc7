"""The parts of the reference that are made from code: the command line, the API, the formats."""

from __future__ import annotations

import enum
import importlib
import inspect
import json
import re
from typing import TYPE_CHECKING, Any

import click
import typer
from handbook.runs import ROOT

from krafla.cli import application

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_SCHEMA = ROOT / "model" / "krafla" / "schemas" / "trace.schema.json"
# reStructuredText's code, which docstrings have, is Markdown's with one backtick.
_LINE_MAX = 88
_CODE = re.compile(r"``([^`]+)``")


def command(verb: str) -> str:
    """Return the help, the arguments and the options of a command of `krafla`."""
    group = typer.main.get_command(application(verb))
    return "\n".join(_command(group.commands[verb], f"krafla {verb}"))


def _command(command: click.Command, name: str) -> Iterator[str]:
    context = click.Context(command, info_name=name)
    usage = " ".join([name, *command.collect_usage_pieces(context)])
    yield from ("```text", usage, "```", "", *_help(command.help or ""), "")
    if isinstance(command, click.Group):
        for action, one in command.commands.items():
            yield from (f"### {name} {action}", "", *_command(one, f"{name} {action}"))
        return
    records = [record for one in command.params if (record := one.get_help_record(context))]
    if records:
        yield from ("| argument or option | |", "|---|---|")
        for names, text in records:
            yield f"| {_cell(f'`{names}`')} | {_cell(text)} |"
        yield ""


def _help(text: str) -> Iterator[str]:
    """Yield the help of a command as Markdown: what is not to be wrapped becomes a block."""
    for paragraph in text.replace("\r", "").split("\n\n"):
        if paragraph.startswith("\b"):
            yield from ("```text", paragraph.removeprefix("\b").strip("\n"), "```", "")
        else:
            yield from (_plain(paragraph), "")


def _plain(text: str) -> str:
    """Return a docstring's paragraph as Markdown."""
    return _CODE.sub(r"`\1`", inspect.cleandoc(text)).replace("<", "&lt;")


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def public_names(package: str = "krafla.testing") -> str:
    """Return what a package has in `__all__`, with signatures and docstrings."""
    module = importlib.import_module(package)
    lines: list[str] = []
    for name in module.__all__:
        lines += _name(name, getattr(module, name))
    return "\n".join(lines)


def _name(name: str, value: Any) -> Iterator[str]:
    yield from (f"## {name}", "")
    if inspect.isclass(value) and not issubclass(value, enum.Enum):
        yield from _signature(f"class {name}", value)
        yield from (*_docstring(value), "")
        for member, what in sorted(vars(value).items()):
            if member.startswith("_") or not _is_shown(what):
                continue
            yield from (f"### {name}.{member}", "")
            function = getattr(what, "__func__", what)
            if inspect.isfunction(function):
                yield from _signature(member, getattr(value, member))
            yield from (*_docstring(what), "")
        return
    if callable(value) and not inspect.isclass(value):
        yield from _signature(name, value)
    yield from (*_docstring(value), "")


def _is_shown(what: object) -> bool:
    kinds = (property, classmethod, staticmethod)
    return (inspect.isfunction(what) or isinstance(what, kinds)) and bool(inspect.getdoc(what))


def _signature(name: str, value: Callable[..., Any]) -> Iterator[str]:
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        return
    # Annotations that are not evaluated are shown as strings.
    text = re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)
    if len(name) + len(text) > _LINE_MAX:
        text = "\n".join(_on_lines(text))
    yield from ("```python", f"{name}{text}", "```", "")


def _on_lines(signature: str) -> Iterator[str]:
    """Yield a signature with one parameter in a line."""
    depth, line = 0, ""
    for at, character in enumerate(signature):
        depth += (character in "([{") - (character in ")]}")
        if depth == 1 and character == "(":
            yield "("
        elif depth == 1 and character == ",":
            yield f"    {line.strip()},"
            line = ""
        elif depth == 0:
            yield f"    {line.strip()},"
            yield signature[at:]
            return
        else:
            line += character


def _docstring(value: object) -> Iterator[str]:
    """Yield a docstring as Markdown; its indented blocks are code."""
    for paragraph in (inspect.getdoc(value) or "").split("\n\n"):
        if paragraph.startswith("    "):
            yield from ("```python", inspect.cleandoc(paragraph), "```", "")
        else:
            yield from (_plain(paragraph).replace("::", ":"), "")


def trace_schema() -> str:
    """Return the lines of a trace file and their fields, from its JSON Schema."""
    definitions = json.loads(_SCHEMA.read_text("utf-8"))["$defs"]
    lines: list[str] = []
    for name, one in sorted(definitions.items(), key=lambda item: not item[0].endswith("Line")):
        lines += [f"## {name}", "", one.get("description", ""), ""]
        if "enum" in one:
            lines += [", ".join(f"`{value}`" for value in one["enum"]), ""]
        if one.get("properties"):
            lines += ["| field | type | |", "|---|---|---|"]
            needed = one.get("required", [])
            for field, what in sorted(one["properties"].items()):
                remark = "required" if field in needed else f"`{json.dumps(what.get('default'))}`"
                lines += [f"| `{field}` | {_cell(_type(what))} | {remark} |"]
            lines += [""]
        elif "enum" not in one:
            lines += ["A value is " + _cell(_type(one)) + ".", ""]
    return "\n".join(lines)


def _type(what: dict[str, Any]) -> str:
    """Return the type that a schema allows, in a few words."""
    if "$ref" in what:
        name = what["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in what or "oneOf" in what:
        kinds = dict.fromkeys(_type(one) for one in what.get("anyOf", what.get("oneOf")))
        return " or ".join(kinds)
    if "enum" in what or "const" in what:
        return " or ".join(f"`{json.dumps(one)}`" for one in what.get("enum", [what.get("const")]))
    if what.get("type") == "array":
        if what.get("prefixItems"):
            return "a list of " + ", ".join(_type(one) for one in what["prefixItems"])
        return f"a list of ({_type(what['items'])})" if what.get("items") else "a list"
    if what.get("type") == "object" and what.get("properties"):
        return "an object with " + ", ".join(
            f"`{name}`: {_type(one)}" for name, one in what["properties"].items()
        )
    return str(what.get("type", "anything"))
