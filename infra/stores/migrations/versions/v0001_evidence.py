"""The evidence plane, and the tables that stand beside the graph."""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

STATEMENTS = (
    """
    CREATE TABLE anchor_aliases (
        user_id text NOT NULL,
        key text NOT NULL,
        anchor_id uuid NOT NULL,
        name text NOT NULL,
        PRIMARY KEY (user_id, key)
    )
    """,
    "CREATE INDEX anchor_aliases_anchor ON anchor_aliases (user_id, anchor_id)",
    """
    CREATE TABLE anchor_records (
        user_id text NOT NULL,
        anchor_id uuid NOT NULL,
        record_id uuid NOT NULL,
        kind text NOT NULL,
        PRIMARY KEY (user_id, anchor_id, record_id)
    )
    """,
    "CREATE INDEX anchor_records_record ON anchor_records (user_id, record_id)",
    """
    CREATE TABLE anchor_vectors (
        user_id text NOT NULL,
        anchor_id uuid NOT NULL,
        model text NOT NULL,
        vector vector NOT NULL,
        PRIMARY KEY (user_id, anchor_id)
    )
    """,
    """
    CREATE TABLE frame_citations (
        user_id text NOT NULL,
        record_id uuid NOT NULL,
        frame_id text NOT NULL,
        PRIMARY KEY (user_id, record_id, frame_id)
    )
    """,
    """
    CREATE TABLE frame_vectors (
        user_id text NOT NULL,
        frame_id text NOT NULL,
        model text NOT NULL,
        vector vector NOT NULL,
        PRIMARY KEY (user_id, frame_id)
    )
    """,
    """
    CREATE TABLE jobs (
        id uuid NOT NULL,
        user_id text NOT NULL,
        request_id text NOT NULL,
        body_hash text NOT NULL,
        sequence integer NOT NULL,
        state text NOT NULL,
        session_id text NOT NULL,
        form text NOT NULL,
        title text NOT NULL,
        timezone text NOT NULL,
        time_source text NOT NULL,
        sanitized boolean NOT NULL,
        messages integer NOT NULL,
        chunks integer NOT NULL,
        step text NOT NULL,
        reason text NOT NULL,
        attempt integer NOT NULL,
        accepted_at timestamptz NOT NULL,
        waiting_since timestamptz NOT NULL,
        finished_at timestamptz,
        PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX jobs_open ON jobs (user_id, sequence) WHERE state IN ('accepted', 'running', 'extracted')",
    "CREATE UNIQUE INDEX jobs_request ON jobs (user_id, request_id)",
    "CREATE UNIQUE INDEX jobs_sequence ON jobs (user_id, sequence)",
    """
    CREATE TABLE meta (
        key text NOT NULL,
        value text NOT NULL,
        PRIMARY KEY (key)
    )
    """,
    """
    CREATE TABLE model_calls (
        key text NOT NULL,
        user_id text NOT NULL,
        job_id uuid NOT NULL,
        purpose text NOT NULL,
        model text NOT NULL,
        prompt_id text NOT NULL,
        prompt_hash text NOT NULL,
        tokens_in integer NOT NULL,
        tokens_out integer NOT NULL,
        latency_ms integer NOT NULL,
        attempts integer NOT NULL,
        outcome text NOT NULL,
        answer text,
        first_at timestamptz NOT NULL,
        last_at timestamptz NOT NULL,
        PRIMARY KEY (key)
    )
    """,
    "CREATE INDEX model_calls_job ON model_calls (job_id)",
    "CREATE INDEX model_calls_user ON model_calls (user_id)",
    """
    CREATE TABLE vault_entries (
        id uuid NOT NULL,
        user_id text NOT NULL,
        job_id uuid NOT NULL,
        message_id text NOT NULL,
        caption text NOT NULL,
        sealed bytea NOT NULL,
        created_at timestamptz NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX vault_entries_user ON vault_entries (user_id)",
    """
    CREATE TABLE vault_keys (
        user_id text NOT NULL,
        wrapped bytea NOT NULL,
        PRIMARY KEY (user_id)
    )
    """,
    """
    CREATE TABLE chunks (
        id uuid NOT NULL,
        job_id uuid NOT NULL,
        user_id text NOT NULL,
        ordinal integer NOT NULL,
        content jsonb NOT NULL,
        kinds text[],
        committed boolean NOT NULL,
        failed_step text NOT NULL,
        failed_reason text NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY(job_id) REFERENCES jobs (id)
    )
    """,
    "CREATE UNIQUE INDEX chunks_position ON chunks (job_id, ordinal)",
    """
    CREATE TABLE messages (
        job_id uuid NOT NULL,
        ordinal integer NOT NULL,
        user_id text NOT NULL,
        session_id text NOT NULL,
        message_id text NOT NULL,
        speaker text NOT NULL,
        text text NOT NULL,
        sent_at timestamptz NOT NULL,
        captions jsonb NOT NULL,
        PRIMARY KEY (job_id, ordinal),
        FOREIGN KEY(job_id) REFERENCES jobs (id)
    )
    """,
    "CREATE UNIQUE INDEX messages_turn ON messages (user_id, session_id, message_id)",
    """
    CREATE TABLE vault_accesses (
        id bigint GENERATED ALWAYS AS IDENTITY,
        entry_id uuid NOT NULL,
        user_id text NOT NULL,
        accessor text NOT NULL,
        at timestamptz NOT NULL,
        PRIMARY KEY (id),
        FOREIGN KEY(entry_id) REFERENCES vault_entries (id)
    )
    """,
    "CREATE INDEX vault_accesses_entry ON vault_accesses (entry_id)",
    """
    CREATE TABLE records (
        id uuid NOT NULL,
        position bigint GENERATED ALWAYS AS IDENTITY,
        user_id text NOT NULL,
        kind text NOT NULL,
        title text NOT NULL,
        text text NOT NULL,
        event_start date,
        event_end date,
        event_granularity text,
        event_clock text,
        mention_time timestamptz NOT NULL,
        status text NOT NULL,
        input_id uuid NOT NULL,
        chunk_id uuid NOT NULL,
        session_id text NOT NULL,
        ordinal integer NOT NULL,
        sources jsonb NOT NULL,
        attributes jsonb NOT NULL,
        degraded text NOT NULL,
        version integer NOT NULL,
        index_status text NOT NULL,
        index_step text NOT NULL,
        index_reason text NOT NULL,
        words tsvector GENERATED ALWAYS AS (to_tsvector('simple', left(title || ' ' || text, 200000))) STORED,
        PRIMARY KEY (id),
        FOREIGN KEY(input_id) REFERENCES jobs (id),
        FOREIGN KEY(chunk_id) REFERENCES chunks (id)
    )
    """,
    "CREATE UNIQUE INDEX records_chunk ON records (chunk_id, kind, ordinal)",
    "CREATE INDEX records_input ON records (input_id)",
    "CREATE INDEX records_page ON records (user_id, position)",
    "CREATE INDEX records_session ON records (user_id, session_id, mention_time)",
    "CREATE INDEX records_view ON records (user_id, kind, mention_time)",
    "CREATE INDEX records_words ON records USING gin (words)",
    """
    CREATE TABLE drafts (
        record_id uuid NOT NULL,
        step text NOT NULL,
        draft text NOT NULL,
        PRIMARY KEY (record_id, step),
        FOREIGN KEY(record_id) REFERENCES records (id)
    )
    """,
    """
    CREATE TABLE record_vectors (
        user_id text NOT NULL,
        record_id uuid NOT NULL,
        model text NOT NULL,
        vector vector NOT NULL,
        PRIMARY KEY (user_id, record_id),
        FOREIGN KEY(record_id) REFERENCES records (id)
    )
    """,
    # A vector is read whole in every comparison: keep it in the row, uncompressed.
    "ALTER TABLE record_vectors ALTER COLUMN vector SET STORAGE PLAIN",
    "ALTER TABLE anchor_vectors ALTER COLUMN vector SET STORAGE PLAIN",
    "ALTER TABLE frame_vectors ALTER COLUMN vector SET STORAGE PLAIN",
)


def upgrade() -> None:
    """Create every table."""
    for statement in STATEMENTS:
        op.execute(statement)
