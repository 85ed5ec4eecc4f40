"""What the API and the command line work with: the ports and the two services on top of them, composed in infra.run."""

from dataclasses import dataclass

from api.acceptor import Acceptor
from api.dreamer import Dreamer
from api.search import Retriever
from domain.ports import (
    ConsolidationStore,
    Embedder,
    GraphStore,
    JobStore,
    ModelCallStore,
    RecordStore,
    Schedules,
    VaultStore,
)
from infra.settings import Settings


@dataclass(frozen=True, kw_only=True)
class Services:
    """One per process."""

    jobs: JobStore
    records: RecordStore
    graph: GraphStore
    calls: ModelCallStore
    vault: VaultStore
    embedder: Embedder
    retriever: Retriever
    acceptor: Acceptor
    consolidations: ConsolidationStore
    dreamer: Dreamer
    schedules: Schedules
    settings: Settings
