"""Settings, read once from the environment (`REVERIE_*`) and handed down from infra.run."""

import os
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


def _default_data_dir() -> Path:
    """A user's own data directory; the system's for root, whose home the OS user that runs Postgres can't enter."""
    return Path("/var/lib/reverie") if os.geteuid() == 0 else Path.home() / ".local" / "share" / "reverie"


class Settings(BaseSettings):
    """Everything an operator may change. Constants of the paper are not here; they live in domain."""

    model_config = SettingsConfigDict(env_prefix="REVERIE_", extra="ignore", frozen=True)

    data_dir: Path = Field(
        default_factory=_default_data_dir,
        description="Directory of the embedded servers, the generated passwords and the vault key.",
    )
    database_url: str | None = Field(None, description="Existing Postgres to use instead of the embedded one.")
    database_pool_size: int = Field(10, ge=1, description="Connections a process keeps open at most.")
    temporal_address: str | None = Field(None, description="Existing Temporal frontend (host:port) to use.")
    temporal_namespace: str = Field("reverie", description="Temporal namespace.")
    task_queue_prefix: str = Field("reverie", description="Prefix of the Temporal task queues.")
    api_host: str = Field("127.0.0.1", description="Address the API listens on.")
    api_port: int = Field(8321, description="Port of the API; 0 takes a free one.")
    vault_key: SecretStr | None = Field(
        None, description="Master key of the vault, 32 bytes in base64; generated if unset."
    )
    model_base_url: str | None = Field(
        None, description="OpenAI-compatible endpoint; unset means the offline rules model."
    )
    model_api_key: SecretStr = Field(SecretStr(""), description="Key for the model endpoint.")
    chat_model: str = Field("gpt-4.1-mini", description="Chat model of the endpoint.")
    embedding_model: str | None = Field(None, description="Embedding model of the endpoint; unset means local MiniLM.")
    embedding_dimension: int = Field(384, ge=1, description="Length of the embedding vectors.")
    model_timeout_seconds: float = Field(60.0, gt=0, description="Time limit of one request to the endpoint.")
    model_concurrency: int = Field(8, ge=1, description="Model calls one worker makes at a time.")
    model_calls_per_second: float = Field(50.0, gt=0, description="Model steps a second over all workers of the queue.")
    default_timezone: str = Field("UTC", description="Zone of users whose input names none.")
    relation_lexicon: Path | None = Field(
        None, description='TOML file of more relation families for questions: `employ = ["recruit", "take_on"]`.'
    )
    max_message_characters: int = Field(1_000_000, ge=1, description="Longest text of one message.")
    max_input_messages: int = Field(5_000, ge=1, description="Most messages in one input.")
    chunk_characters: int = Field(
        4_000, ge=200, description="Aim for the length of a chunk; turns are never cut below a sentence."
    )
    chunk_turns: int = Field(8, ge=1, description="Most turns in a chunk.")
