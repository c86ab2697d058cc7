"""What a report says of logs, as tables: Spark SQL over the tables of an ingest and an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from krafla.audit.statements import STATEMENTS
from krafla.pipeline.audit_tables import AUDIT, latest_audit
from krafla.pipeline.known_files import INGEST, current_files
from krafla.pipeline.report.tables import ROWS_MAX, ReportTables
from krafla.pipeline.tables import COVERAGE, FILES, FINDINGS, QUARANTINE, RECORDS, VERDICTS

if TYPE_CHECKING:
    from krafla.pipeline.store import Store

__all__ = ["logs_tables"]

_DAY: Final = 86_400
_WIDTHS: Final = [
    *(1, 5, 15, 60, 300, 900, 3_600, 10_800, 21_600),
    *(days * _DAY for days in (1, 7, 30, 365, 3_650)),
]
"""The widths of columns over time, in seconds: the first is taken that needs at most 61 of them."""
_SLOWEST: Final = 20
_NEVER: Final = 2**31 - 1
"""The number of an audit that no load comes after."""

_FILES: Final = {
    "summary": """
        SELECT stack(9, 'files', files, 'files read', good, 'in quarantine', bad, 'bytes', bytes,
            'batches', batches, 'records', records, 'log lines and trace steps', events,
            'left out', (SELECT coalesce(sum(files), 0) FROM {left_out}),
            'files since the audit', later) AS (name, value)
        FROM (SELECT count(*) AS files, count_if(status = 'good') AS good,
            count_if(status = 'quarantined') AS bad, coalesce(sum(bytes), 0) AS bytes,
            coalesce(sum(batches), 0) AS batches, coalesce(sum(records), 0) AS records,
            coalesce(sum(events), 0) AS events, count_if(load_number > :audit) AS later
            FROM {files})""",
    "kinds": """
        SELECT kind, count_if(status = 'good') AS read,
            count_if(status = 'quarantined') AS quarantined, sum(bytes) AS bytes
        FROM {files} GROUP BY kind ORDER BY kind""",
    "left_out": "SELECT suffix, files FROM {left_out} ORDER BY files DESC, suffix",
    "slowest": """
        SELECT path, kind, bytes, records, events, milliseconds FROM {files}
        WHERE milliseconds > 0 ORDER BY milliseconds DESC, path LIMIT :slowest""",
    # Numbers in a reason differ from file to file: without them, files have the same one.
    "reasons": r"""
        SELECT stage, if(count(*) = 1, min(reason), told) AS reason, count(*) AS files,
            sum(bytes) AS bytes, min(path) AS example
        FROM (SELECT *, regexp_replace(reason, r'(?<![\w-])-?(0x[0-9a-f]+|\d[\d,]*)\b', 'N') AS told
            FROM {bad})
        GROUP BY stage, told ORDER BY files DESC, stage, reason""",
    "quarantined": """
        SELECT path, kind, bytes, stage, reason, place FROM {bad} ORDER BY path LIMIT :most""",
    "types": """
        SELECT type, sum(copies) AS records FROM {current} GROUP BY type
        ORDER BY records DESC, type""",
    "times": """
        WITH timed AS (SELECT timestamp_ms AS at, copies FROM {current} WHERE timestamp_ms > 0),
        ends AS (SELECT min(at) AS low, max(at) AS high FROM timed),
        step AS (SELECT low, high,
            1000L * try_element_at(filter(:widths, one -> one * 60000L >= high - low), 1) AS ms
            FROM ends),
        each AS (SELECT at DIV ms AS place, sum(copies) AS records FROM timed CROSS JOIN step
            GROUP BY place)
        SELECT place * ms AS start_ms, ms AS width_ms, coalesce(records, 0) AS records
        FROM (SELECT ms, explode(sequence(low DIV ms, high DIV ms)) AS place FROM step)
        LEFT JOIN each USING (place) ORDER BY start_ms""",
    "loads": """
        WITH sizes AS (SELECT load, sum(bytes) AS bytes FROM {all_files} GROUP BY load),
        said AS (SELECT load, count_if(verdict = 'held') AS held,
            count_if(verdict = 'violated') AS violated,
            count_if(verdict = 'inconclusive') AS inconclusive
            FROM {all_verdicts} WHERE path IS NULL GROUP BY load),
        found AS (SELECT load, count_if(weight = 'violation') AS violations
            FROM {all_findings} GROUP BY load)
        SELECT row_number() OVER (ORDER BY committed_ms, load) AS number, kind, committed_ms, load,
            CAST(get_json_object(facts, '$.files') AS bigint) AS files,
            CAST(get_json_object(facts, '$.quarantined') AS bigint) AS quarantined,
            if(kind = 'ingest', coalesce(bytes, 0), NULL) AS bytes,
            if(kind = 'ingest',
                coalesce(CAST(get_json_object(facts, '$.rows.records') AS bigint), 0), NULL)
                AS new_records,
            if(kind = 'audit', coalesce(held, 0), NULL) AS held,
            if(kind = 'audit', coalesce(violated, 0), NULL) AS violated,
            if(kind = 'audit', coalesce(inconclusive, 0), NULL) AS inconclusive,
            if(kind = 'audit', coalesce(violations, 0), NULL) AS violations
        FROM {commits} LEFT JOIN sizes USING (load) LEFT JOIN said USING (load)
        LEFT JOIN found USING (load) ORDER BY number""",
}
_AUDIT: Final = {
    "clusters": """
        WITH members AS (SELECT cluster, count(*) AS directories, sum(records) AS records,
            sum(judged_records) AS judged_records FROM {verdicts} WHERE path IS NOT NULL
            GROUP BY cluster),
        found AS (SELECT cluster, count_if(weight = 'violation') AS violations,
            count(*) AS findings FROM {findings} GROUP BY cluster)
        SELECT v.cluster, v.cluster_id, v.folder, v.releases, v.verdict,
            coalesce(m.directories, 0) AS directories, coalesce(m.records, 0) AS records,
            coalesce(m.judged_records, 0) AS judged_records,
            coalesce(found.violations, 0) AS violations, coalesce(found.findings, 0) AS findings
        FROM {verdicts} v LEFT JOIN members m ON m.cluster = v.cluster
        LEFT JOIN found ON found.cluster = v.cluster WHERE v.path IS NULL
        ORDER BY array_position(array('violated', 'inconclusive', 'held'), v.verdict),
            v.cluster""",
    "directories": """
        SELECT cluster, cluster_id, path, node_id, verdict, records, first_offset, end_offset,
            judged_from, judged_to, judged_records, checkpoints, same_history_as
        FROM {verdicts} WHERE path IS NOT NULL
        ORDER BY array_position(array('violated', 'inconclusive', 'held'), verdict), cluster, path
        LIMIT :most""",
    "findings": """
        SELECT f.weight, f.kind AS rule,
            coalesce(get_json_object(f.evidence, '$.statement'), s.statement) AS statement,
            f.detail, f.cluster, v.cluster_id, f.directory, f.path, f.line, f.byte, f.offset,
            f.known_bug, get_json_object(f.evidence, '$.record') AS record,
            get_json_object(f.evidence, '$.expected') AS expected
        FROM {findings} f LEFT JOIN {statements} s ON s.rule = f.kind
        LEFT JOIN (SELECT cluster, cluster_id FROM {verdicts} WHERE path IS NULL) v
            ON v.cluster = f.cluster
        ORDER BY array_position(:weights, f.weight), rule, f.cluster, path, f.offset, f.line,
            f.byte, f.detail LIMIT :most""",
    "rules": """
        SELECT f.weight, f.kind AS rule,
            min(coalesce(get_json_object(f.evidence, '$.statement'), s.statement)) AS statement,
            count(*) AS findings, count(DISTINCT f.cluster) AS clusters
        FROM {findings} f LEFT JOIN {statements} s ON s.rule = f.kind GROUP BY f.weight, f.kind
        ORDER BY array_position(:weights, f.weight), findings DESC, rule""",
    "asked": """
        SELECT s.rule, s.statement, coalesce(sum(c.count), 0) AS asked,
            count_if(c.count > 0) AS clusters
        FROM {statements} s LEFT JOIN {coverage} c
            ON c.what = 'invariant asked' AND c.name = s.rule
        GROUP BY s.place, s.rule, s.statement ORDER BY s.place""",
    "stepped": """
        SELECT name AS spec, sum(if(what = 'steps', count, 0)) AS steps,
            sum(if(what = 'records judged', count, 0)) AS records,
            sum(if(what = 'records passed over', count, 0)) AS passed_over
        FROM {coverage} WHERE what != 'invariant asked' GROUP BY name ORDER BY name""",
    "passed_over": """
        SELECT name AS spec, reason, sum(count) AS records FROM {coverage}
        WHERE what = 'records passed over' GROUP BY name, reason
        ORDER BY name, records DESC, reason""",
}
_WEIGHTS: Final = ["violation", "unreadable", "inconclusive", "note"]


def logs_tables(store: Store) -> ReportTables:
    """Return the tables of a report on the logs of a store; without an audit fewer of them."""
    made = ReportTables(store.spark)
    files = current_files(store).persist()
    commits = store.commits(INGEST)
    left_out = {name: n for one in commits for name, n in one.facts["left_out"].items()}
    audit = latest_audit(store)
    records = store.read(RECORDS, INGEST).select("file_id", "type", "timestamp_ms")
    made.give("left_out", "suffix string, files long", [*left_out.items()])
    places = [(rule, text, place) for place, (rule, text) in enumerate(STATEMENTS.items())]
    made.give("statements", "rule string, statement string, place int", places)
    made.frames |= {
        "files": files,
        "all_files": store.read(FILES, INGEST),
        "bad": store.read(QUARANTINE, INGEST).join(
            files.where("status = 'quarantined'").select("path", "load"), ["path", "load"]
        ),
        # Equal files share their rows. The content of a file before it grew counts no more.
        "current": records.join(files.groupBy("file_id").agg({"*": "count"}), "file_id").toDF(
            "file_id", "type", "timestamp_ms", "copies"
        ),
        "commits": store.committed(INGEST, AUDIT),
        "all_verdicts": store.read(VERDICTS, AUDIT),
        "all_findings": store.read(FINDINGS, AUDIT),
    }
    number = _NEVER if audit is None else int(audit.facts["number"])
    try:
        made.ask(_FILES, audit=number, slowest=_SLOWEST, most=ROWS_MAX, widths=_WIDTHS)
    finally:
        files.unpersist()
    if audit is not None:
        said = audit.facts["report"]
        columns = "verdict string, " + ", ".join(f"{name} long" for name in said["counts"])
        made.give("said", columns, [(said["verdict"], *said["counts"].values())])
        made.keep("audit", made.frames["said"])
        for name, table in (("verdicts", VERDICTS), ("findings", FINDINGS), ("coverage", COVERAGE)):
            made.frames[name] = store.read(table, AUDIT).where(f"load = '{audit.load}'")
        made.ask(_AUDIT, weights=_WEIGHTS, most=ROWS_MAX)
    return made
