"""The store of inputs and jobs."""

from infra.stores.jobs.store import PostgresJobs

__all__ = ["PostgresJobs"]
