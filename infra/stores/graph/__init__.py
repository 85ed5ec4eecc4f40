"""The hypergraph's store."""

from infra.stores.graph.store import AgeGraph

__all__ = ["AgeGraph"]
