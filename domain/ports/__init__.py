"""Ports: what the domain's steps need of the world. Each has one real adapter (two for the model) and one fake in
tests."""

from domain.ports.dream import ConsolidationStore, Schedules
from domain.ports.evidence import JobStore, RecordStore, VaultStore
from domain.ports.graph import GraphStore
from domain.ports.models import Embedder, MemoryModel, ModelCallStore
from domain.ports.workflows import WorkflowStarter

__all__ = [
    "ConsolidationStore",
    "Embedder",
    "GraphStore",
    "JobStore",
    "MemoryModel",
    "ModelCallStore",
    "RecordStore",
    "Schedules",
    "VaultStore",
    "WorkflowStarter",
]
