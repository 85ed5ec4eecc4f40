"""Which embedder the stored vectors were made with, and how to change it."""

from domain.errors import EmbeddingMismatch
from infra.stores.database import Connection, Database

SELECT_META = "SELECT key, value FROM meta WHERE key = ANY(%s)"
INSERT_META = "INSERT INTO meta (key, value) VALUES (%s, %s) ON CONFLICT (key) DO NOTHING"
REPLACE_META = "INSERT INTO meta (key, value) VALUES (%s, %s) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

NAME, DIMENSION = "embedder_name", "embedder_dimension"

PLAIN_DIMENSIONS = 1900
"""Vectors up to this length fit into a table's page of 8 KB; longer ones must lie beside it."""
LET_LONG_VECTORS_OUT = (
    "ALTER TABLE record_vectors ALTER COLUMN vector SET STORAGE EXTERNAL",
    "ALTER TABLE anchor_vectors ALTER COLUMN vector SET STORAGE EXTERNAL",
    "ALTER TABLE frame_vectors ALTER COLUMN vector SET STORAGE EXTERNAL",
)

BATCH = 64
"""Texts a call to the embedder; each batch is a transaction, so a re-embedding that was cut goes on from there."""


async def check_embedder(database: Database, *, name: str, dimension: int) -> None:
    """Note the embedder at the first start; at any other raise EmbeddingMismatch if it is not the same."""
    async with database.transaction() as connection:
        await _note(connection, INSERT_META, name, dimension)
        rows = await (await connection.execute(SELECT_META, ([NAME, DIMENSION],))).fetchall()
    stored = {row["key"]: row["value"] for row in rows}
    if (stored[NAME], stored[DIMENSION]) != (name, str(dimension)):
        raise EmbeddingMismatch(
            f"the stored vectors are {stored[NAME]}'s of {stored[DIMENSION]} dimensions, the configured embedder is "
            f"{name} of {dimension}: configure the former again, or change all vectors with `reverie reembed`"
        )


async def _note(connection: Connection, statement: str, name: str, dimension: int) -> None:
    for key, value in ((NAME, name), (DIMENSION, str(dimension))):
        cursor = await connection.execute(statement, (key, value))
    if cursor.rowcount and dimension > PLAIN_DIMENSIONS:
        for alteration in LET_LONG_VECTORS_OUT:
            await connection.execute(alteration)
