"""The provenance hypergraph."""

from alembic import op

from infra.stores.migrations.age import ENSURE_GRAPH

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the graph, its labels and indexes."""
    op.execute(ENSURE_GRAPH)
