"""The store of consolidations."""

from infra.stores.consolidations.store import PostgresConsolidations

__all__ = ["PostgresConsolidations"]
