"""The report on the logs of a store, or on its campaign, as one page that opens offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.files import write_bytes
from krafla.pipeline.campaign.page import campaign_page
from krafla.pipeline.campaign.result import CAMPAIGN
from krafla.pipeline.campaign.run import store_of
from krafla.pipeline.ingest import INGEST, open_store
from krafla.pipeline.listing import is_local
from krafla.pipeline.report_logs import logs_report
from krafla.pipeline.session import told
from krafla.report.page import render
from krafla.verdict import KraflaError
from kraft.errors import printable

if TYPE_CHECKING:
    from krafla.pipeline.session import Session

__all__ = ["PAGE", "write_report"]

PAGE: Final = "report.html"


def write_report(session: Session, out: str, page: Path | None = None) -> Path:
    """Write the page of a store and return its path: ``report.html`` in a store that is a folder.

    ``out`` is the path or the URI of the store.

    ``KraflaError`` if the store holds nothing, or if it is no folder and no page is named.
    """
    store = open_store(session, out)
    folder = Path(store.uri) if is_local(store.uri) else None
    if page is None:
        if folder is None:
            raise KraflaError("name the page, which is a file here: --page FILE", store.uri)
        page = folder / PAGE
    with told(session.log):
        session.phase("adding up")
        if store.commits(CAMPAIGN):
            found = None if folder is None else folder / "found"
            text = campaign_page(store_of(session, store.uri), found)
        elif store.commits(INGEST):
            data = logs_report(store, printable(store.uri.rpartition("/")[2]))
            text = render("pipeline.html", data=data, **data.pop("head"))
        else:
            raise KraflaError("there is no ingest and no finished campaign here", store.uri)
    write_bytes(page, [text.encode()])
    return page
