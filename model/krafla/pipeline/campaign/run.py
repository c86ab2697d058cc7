"""A campaign over many processes: each seed counts exactly once, whatever dies on the way.

A committed seed is never played again. The result is the set of the seeds' results: it is the same
for any number of processes and any interruption, and one digest proves it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from krafla.pipeline.campaign.findings import shrunk_findings
from krafla.pipeline.campaign.plan import WAVE, check_claim
from krafla.pipeline.campaign.result import CAMPAIGN, facts_of, read_outcome, runs_of
from krafla.pipeline.campaign.rows import spark_schemas
from krafla.pipeline.campaign.waves import check_player, play_missing
from krafla.pipeline.session import told
from krafla.pipeline.store import Store, load_id

if TYPE_CHECKING:
    from krafla.pipeline.campaign.plan import CampaignPlan
    from krafla.pipeline.campaign.result import CampaignResult
    from krafla.pipeline.session import Session

__all__ = ["run_campaign", "store_of"]


def store_of(session: Session, uri: str) -> Store:
    """Return the tables of campaigns at a URI."""
    return Store(session.spark, uri, spark_schemas())


def run_campaign(plan: CampaignPlan, store: Store, session: Session) -> CampaignResult:
    """Play the seeds of a plan that a store lacks; return the campaign's result.

    ``KraflaError`` if the store holds results of other runs. Whatever fails, the results of
    committed waves stay.
    """
    with told(session.log):
        return _run(plan, store, session)


def _run(plan: CampaignPlan, store: Store, session: Session) -> CampaignResult:
    store.refuse_others(WAVE, CAMPAIGN)
    check_claim(plan, store)
    load = load_id(CAMPAIGN, plan.first, plan.last, plan.claim)
    if not store.is_committed(load):
        check_player(plan, session)
        play_missing(plan, store, session)
        session.phase("summing up")
        runs = runs_of(plan, store).persist()
        try:
            findings = shrunk_findings(plan, store, load, runs)
            store.commit(load, CAMPAIGN, facts_of(plan, store, runs, findings))
        finally:
            runs.unpersist()
    return read_outcome(store, load)
