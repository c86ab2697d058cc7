"""HTML pages: each is one self-contained file that opens offline."""

from __future__ import annotations

import functools
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from msgspec import json

from krafla.report.chart import curve, shares

__all__ = ["embed", "render"]


def render(template: str, *, title: str, **data: Any) -> str:
    """Return the page that a template of ``krafla/report/templates`` makes from the data.

    Every text is escaped. A name that the template uses and the data lacks is an error.
    """
    return _environment().get_template(template).render(title=title, **data)


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
    environment.globals |= {"embed": embed, "curve": curve, "shares": shares}
    return environment
