"""The evidence plane's tables and the graph's side tables: the schema of record that the migrations must arrive at.

The stores speak SQL of their own to these tables; nothing loads or saves through these classes. The graph's own label
tables belong to Apache AGE (schema `memory`) and stand in the migrations.
"""

from infra.stores.tables import dream, evidence, graph
from infra.stores.tables.columns import Table
from infra.stores.tables.graph import NAME_INDEX_PREFIX

__all__ = ["NAME_INDEX_PREFIX", "Table", "dream", "evidence", "graph"]
