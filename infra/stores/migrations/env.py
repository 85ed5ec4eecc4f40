"""Alembic's entry: run the steps on the connection that `migrate` hands over."""

from alembic import context

from infra.stores.tables import Table

context.configure(connection=context.config.attributes["connection"], target_metadata=Table.metadata)
with context.begin_transaction():
    context.run_migrations()
