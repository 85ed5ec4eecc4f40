"""The VaultStore port."""

import asyncio
from uuid import UUID

import pytest

from domain.errors import ConfigurationError, NotFound
from domain.jobs import job_id
from domain.ports import VaultStore
from tests.contract.conftest import Stores
from tests.contract.samples import NOW

SECRET = "hunter2 🔑 \\ '"


async def seal(vault: VaultStore, *, user: str = "ona", secret: str = SECRET, caption: str = "pin") -> UUID:
    return await vault.seal(user, secret=secret, caption=caption, job_id=job_id(user, "r1"), message_id="m1", now=NOW)


async def test_a_value_comes_back(stores: Stores) -> None:
    entry = await seal(stores.vault)
    assert await stores.vault.open("ona", entry, accessor="cli", now=NOW) == SECRET


async def test_sealing_again_is_one_entry(stores: Stores) -> None:
    entries = await asyncio.gather(*(seal(stores.vault) for _ in range(8)))
    assert len(set(entries)) == 1
    others = {await seal(stores.vault, secret="x"), await seal(stores.vault, caption="card")}
    assert len(others | set(entries)) == 3
    for entry in entries[:2]:
        assert await stores.vault.open("ona", entry, accessor="cli", now=NOW) == SECRET


async def test_another_user_finds_nothing(stores: Stores) -> None:
    entry = await seal(stores.vault)
    assert await seal(stores.vault, user="bo") != entry
    with pytest.raises(NotFound):
        await stores.vault.open("bo", entry, accessor="cli", now=NOW)


async def test_another_master_key_is_refused(stores: Stores) -> None:
    entry = await seal(stores.vault)
    with pytest.raises(ConfigurationError):
        await stores.vault_with(bytes(32)).open("ona", entry, accessor="cli", now=NOW)
    assert await stores.vault.open("ona", entry, accessor="cli", now=NOW) == SECRET
