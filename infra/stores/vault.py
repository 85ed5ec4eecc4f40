"""Sensitive verbatim values in Postgres, sealed so that the database alone tells none of them.

Each user has a random data key, wrapped by the installation's master key (AES key wrap, RFC 3394). A value is sealed
with AES-256-GCM under the data key, bound to its user and entry. Losing a user's row of `vault_keys` loses the values
for good, which is how a user is erased.
"""

import hmac
import os
from datetime import datetime
from hashlib import sha256
from uuid import UUID, uuid5

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.keywrap import InvalidUnwrap, aes_key_unwrap, aes_key_wrap

from domain.errors import ConfigurationError, NotFound
from domain.jobs import NAMESPACE
from infra.stores.database import Connection, Database, one

KEY_BYTES = 32
NONCE_BYTES = 12

INSERT_KEY = "INSERT INTO vault_keys (user_id, wrapped) VALUES (%s, %s) ON CONFLICT DO NOTHING"
SELECT_KEY = "SELECT wrapped FROM vault_keys WHERE user_id = %s"

INSERT_ENTRY = """
INSERT INTO vault_entries (id, user_id, job_id, message_id, caption, sealed, created_at)
VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""
SELECT_ENTRY = "SELECT sealed FROM vault_entries WHERE id = %s AND user_id = %s"
INSERT_ACCESS = "INSERT INTO vault_accesses (entry_id, user_id, accessor, at) VALUES (%s, %s, %s, %s)"


class PostgresVault:
    """The VaultStore port over Postgres. `master_key`: 32 bytes; ConfigurationError if it has another length."""

    def __init__(self, database: Database, master_key: bytes) -> None:
        if len(master_key) != KEY_BYTES:
            raise ConfigurationError(f"the vault's master key has {len(master_key)} bytes; it must have {KEY_BYTES}")
        self._database = database
        self._master_key = master_key

    async def seal(
        self, user_id: str, *, secret: str, caption: str, job_id: UUID, message_id: str, now: datetime
    ) -> UUID:
        """Store a value and return its entry; the same value, caption and message of a user give the same entry."""
        async with self._database.transaction() as connection:
            key = await self._new_key(connection, user_id)
            digest = hmac.new(key, secret.encode(), sha256).hexdigest()
            entry = uuid5(NAMESPACE, f"vault\n{user_id}\n{message_id}\n{caption}\n{digest}")
            nonce = os.urandom(NONCE_BYTES)
            sealed = nonce + AESGCM(key).encrypt(nonce, secret.encode(), _bound_to(user_id, entry))
            await connection.execute(INSERT_ENTRY, (entry, user_id, job_id, message_id, caption, sealed, now))
        return entry

    async def open(self, user_id: str, entry_id: UUID, *, accessor: str, now: datetime) -> str:
        """The value; the access is written down in the same transaction.

        Raises NotFound, also for another user's entry; ConfigurationError if the master key is not the one it was
        sealed under, or the stored bytes were tampered with.
        """
        async with self._database.transaction() as connection:
            entry = await (await connection.execute(SELECT_ENTRY, (entry_id, user_id))).fetchone()
            if entry is None:
                raise NotFound(f"no vault entry {entry_id}")
            secret = _unsealed(await self._key(connection, user_id), entry["sealed"], _bound_to(user_id, entry_id))
            await connection.execute(INSERT_ACCESS, (entry_id, user_id, accessor, now))
        return secret

    async def _new_key(self, connection: Connection, user_id: str) -> bytes:
        """The user's key, made if there is none; of two made at once the first stays."""
        fresh = aes_key_wrap(self._master_key, AESGCM.generate_key(8 * KEY_BYTES))
        await connection.execute(INSERT_KEY, (user_id, fresh))
        return await self._key(connection, user_id)

    async def _key(self, connection: Connection, user_id: str) -> bytes:
        row = one(await (await connection.execute(SELECT_KEY, (user_id,))).fetchone())
        try:
            return aes_key_unwrap(self._master_key, row["wrapped"])
        except InvalidUnwrap as error:
            raise ConfigurationError("the vault's master key is not the one this database was used with") from error


def _bound_to(user_id: str, entry: UUID) -> bytes:
    """Associated data: a ciphertext moved to another user or entry doesn't open."""
    return f"{user_id}\n{entry}".encode()


def _unsealed(key: bytes, sealed: bytes, bound: bytes) -> str:
    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], bound).decode()
    except InvalidTag as error:
        raise ConfigurationError("a vault entry does not open under its user's key: its bytes were changed") from error
