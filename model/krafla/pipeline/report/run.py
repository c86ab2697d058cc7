"""The report on the logs of a store, or on its campaign: a page, Markdown, tables of Parquet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from krafla.files import check_writable, write_text
from krafla.pipeline.campaign.result import CAMPAIGN, read_outcome
from krafla.pipeline.campaign.run import store_of
from krafla.pipeline.ingest import open_store
from krafla.pipeline.known_files import INGEST, listed_places
from krafla.pipeline.listing import is_local
from krafla.pipeline.report.campaign_document import campaign_document
from krafla.pipeline.report.campaign_tables import campaign_tables
from krafla.pipeline.report.logs_document import logs_document
from krafla.pipeline.report.logs_tables import logs_tables
from krafla.pipeline.report.tables import check_apart
from krafla.pipeline.session import told
from krafla.report.document_markdown import markdown_document
from krafla.report.page import document_page
from krafla.verdict import KraflaError
from kraft.errors import printable

if TYPE_CHECKING:
    from krafla.pipeline.report.tables import ReportTables
    from krafla.pipeline.session import Session
    from krafla.report.document import Document

__all__ = ["PAGE", "Report", "Written", "make_report", "write_report"]

PAGE: Final = "report.html"


@dataclass(frozen=True, slots=True)
class Report:
    """A report: its tables, and the document in which they are told."""

    tables: ReportTables
    document: Document

    @property
    def html(self) -> str:
        """Return the report as one page that opens offline."""
        return document_page(self.document)

    @property
    def markdown(self) -> str:
        """Return the report as Markdown."""
        return markdown_document(self.document)


@dataclass(frozen=True, slots=True)
class Written:
    """Where a report was written: two files, None if not asked for, and a place for each table."""

    page: Path | None
    markdown: Path | None
    tables: tuple[str, ...]


def make_report(session: Session, out: str) -> Report:
    """Return the report on a store, whose path or URI is ``out``.

    ``KraflaError`` if the store has no ingest and no finished campaign.
    """
    store = open_store(session, out)
    folder = Path(store.uri) / "found" if is_local(store.uri) else None
    name = printable(store.uri.rpartition("/")[2])
    with told(session.log):
        session.phase("adding up")
        if store.commits(CAMPAIGN):
            store = store_of(session, store.uri)
            outcome = read_outcome(store)
            tables = campaign_tables(store, outcome)
            return Report(tables, campaign_document(tables, outcome, name, folder))
        if store.commits(INGEST):
            roots = listed_places(store).roots
            tables = logs_tables(store)
            return Report(tables, logs_document(tables, name, roots, printable(store.uri)))
        raise KraflaError("there is no ingest and no finished campaign here", printable(store.uri))


def write_report(
    session: Session,
    out: str,
    page: Path | None = None,
    markdown: Path | None = None,
    tables: str | None = None,
) -> Written:
    """Write the forms of a report that are asked for, and return their places.

    ``page`` and ``markdown`` are files here, ``tables`` is a folder or a URI for Parquet. The page
    is ``report.html`` in a store that is a folder, unless it is named. ``KraflaError`` if the store
    holds nothing, if it is no folder and no form is asked for, or if the tables would lie in it.
    """
    store = open_store(session, out)
    if page is None and is_local(store.uri):
        page = Path(store.uri) / PAGE
    if page is None and markdown is None and tables is None:
        raise KraflaError(
            "name the page, which is a file here: --page FILE (or --markdown FILE, --tables URI)",
            printable(store.uri),
        )
    place = None if tables is None else check_apart(tables, store.uri)
    check_writable(markdown)
    made = make_report(session, out)
    for path, text in ((page, made.html), (markdown, made.markdown)):
        if path is not None:
            write_text(path, [text])
    names: list[str] = []
    if place is not None:
        with told(session.log):
            session.phase("writing the tables")
            names = made.tables.write(place)
    return Written(page, markdown, tuple(f"{place}/{name}" for name in names))
