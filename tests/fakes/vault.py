"""The vault in memory."""

from datetime import datetime
from uuid import UUID, uuid5

from domain.errors import ConfigurationError, NotFound
from domain.jobs import NAMESPACE


class MemoryVault:
    """VaultStore. The key is only compared: nothing is sealed in memory."""

    def __init__(self, entries: dict[UUID, tuple[str, str, bytes]], master_key: bytes) -> None:
        self._entries = entries
        self._master_key = master_key
        self.accesses: list[tuple[UUID, str]] = []

    async def seal(
        self, user_id: str, *, secret: str, caption: str, job_id: UUID, message_id: str, now: datetime
    ) -> UUID:
        entry = uuid5(NAMESPACE, f"vault\n{user_id}\n{message_id}\n{caption}\n{secret}")
        self._entries.setdefault(entry, (user_id, secret, self._master_key))
        return entry

    async def open(self, user_id: str, entry_id: UUID, *, accessor: str, now: datetime) -> str:
        owner, secret, key = self._entries.get(entry_id, ("", "", b""))
        if owner != user_id:
            raise NotFound(f"no vault entry {entry_id}")
        if key != self._master_key:
            raise ConfigurationError("the vault's master key is not the one this database was used with")
        self.accesses.append((entry_id, accessor))
        return secret
