"""A consolidation to merge under, and merges to make."""

from uuid import UUID, uuid5

from domain.dream.rounds import Consolidation, ConsolidationState, Mode, consolidation_id, merge_id
from domain.graph import Joined
from domain.jobs import anchor_id
from infra.stores.graph import AgeGraph
from tests.contract.conftest import Stores
from tests.contract.samples import NOW
from tests.fakes.graph import MemoryGraph

INSERT = """
INSERT INTO consolidations (id, user_id, request_id, sequence, mode, dry_run, review, chunk_ids, name, force, actor,
                            timeout_seconds, after_job, state, applying, step, reason, receipt, evidence_position,
                            accepted_at, started_at)
SELECT %(id)s, %(user)s, %(request)s, 1 + count(*), 'intermediate', false, false, '{}', '', false, 'test', 60, 0,
       %(state)s, false, '', '', '{}', 0, now(), now()
FROM consolidations WHERE user_id = %(user)s
ON CONFLICT (id) DO UPDATE SET state = %(state)s
"""


async def running(
    stores: Stores,
    request: str = "c1",
    *,
    user: str = "ona",
    state: ConsolidationState = ConsolidationState.RUNNING,
) -> UUID:
    """Store a consolidation in a state, or change its state; returns its id."""
    identity = consolidation_id(user, request)
    if isinstance(stores.graph, MemoryGraph):
        stores.graph._evidence.consolidations[identity] = Consolidation(
            id=identity, user_id=user, request_id=request, mode=Mode.INTERMEDIATE, sequence=1, after_job=0,
            state=state, accepted_at=NOW,
        )  # fmt: skip
    elif isinstance(stores.graph, AgeGraph):
        values = {"id": identity, "user": user, "request": request, "state": str(state)}
        async with stores.graph._database.transaction() as connection:
            await connection.execute(INSERT, values)
    return identity


def joined(consolidation: UUID, absorbed: str, representative: str, *, user: str = "ona", again: str = "") -> Joined:
    """A merge of two anchors by key; `again` tells it apart from one of the same consolidation before."""
    ends = {"absorbed": anchor_id(user, absorbed), "representative": anchor_id(user, representative)}
    identity = merge_id(consolidation, ends["absorbed"])
    return Joined(id=uuid5(identity, again) if again else identity, **ends)
