"""HTML pages: each is one self-contained file that opens offline."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from msgspec import json

from krafla.report.chart import columns, curve, shares

if TYPE_CHECKING:
    from krafla.report.document import ColumnFigure, Document, LineFigure

__all__ = ["Picture", "document_page", "embed", "picture", "render"]


@dataclass(frozen=True, slots=True)
class Picture:
    """A figure as SVG, which a notebook shows."""

    svg: str = field(repr=False)

    def _repr_svg_(self) -> str:
        return self.svg


def render(template: str, *, title: str, **data: Any) -> str:
    """Return the page that a template of ``krafla/report/templates`` makes from the data.

    Every text is escaped. A name that the template uses and the data lacks is an error.
    """
    return _environment().get_template(template).render(title=title, **data)


def document_page(document: Document) -> str:
    """Return a report as a page."""
    return render("document.html", title=document.title, document=document)


def picture(figure: ColumnFigure | LineFigure) -> Picture:
    """Return a figure by itself: light, and with all of its colours."""
    text = _environment().get_template("picture.svg").render(figure=figure)
    return Picture(re.sub(r"\s*\n\s*", "\n", text.strip()))


def embed(name: str, value: Any) -> Markup:
    """Return a script element with ``value`` as JSON, which the page finds by its ``id``.

    No text in the value can end the element.
    """
    text = json.encode(value).decode()
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    element = f'<script type="application/json" id="{name}">{text}</script>'
    return Markup(element)  # noqa: S704 - whatever HTML reads as markup is escaped above


@functools.cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("krafla.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {
        "embed": embed,
        "curve": curve,
        "columns": columns,
        "shares": shares,
    }
    return environment
