"""AutoDream: consolidations with their pairs, the merge log, batches, and a running digest of each user's records."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

TABLES = (
    "ALTER TABLE jobs ADD COLUMN batch_id uuid",
    "CREATE INDEX jobs_batch ON jobs (batch_id, sequence) WHERE batch_id IS NOT NULL",
    """
    CREATE TABLE batch_chunks (
        batch_id uuid NOT NULL,
        ordinal integer NOT NULL,
        chunk_id uuid NOT NULL,
        PRIMARY KEY (batch_id, ordinal)
    )
    """,
    "CREATE UNIQUE INDEX batch_chunks_chunk ON batch_chunks (batch_id, chunk_id)",
    """
    CREATE TABLE consolidations (
        id uuid NOT NULL,
        user_id text NOT NULL,
        request_id text NOT NULL,
        sequence integer NOT NULL,
        mode text NOT NULL,
        dry_run boolean NOT NULL,
        review boolean NOT NULL,
        chunk_ids uuid[] NOT NULL,
        since timestamptz,
        target uuid,
        absorbed uuid,
        name text NOT NULL,
        force boolean NOT NULL,
        actor text NOT NULL,
        timeout_seconds integer NOT NULL,
        after_job integer NOT NULL,
        state text NOT NULL,
        applying boolean NOT NULL,
        step text NOT NULL,
        reason text NOT NULL,
        detail text NOT NULL,
        receipt jsonb NOT NULL,
        evidence_position bigint NOT NULL,
        accepted_at timestamptz NOT NULL,
        started_at timestamptz,
        finished_at timestamptz,
        PRIMARY KEY (id)
    )
    """,
    "CREATE UNIQUE INDEX consolidations_request ON consolidations (user_id, request_id)",
    "CREATE UNIQUE INDEX consolidations_sequence ON consolidations (user_id, sequence)",
    "CREATE INDEX consolidations_open ON consolidations (user_id, sequence) WHERE state IN ('accepted', 'running')",
    """
    CREATE TABLE dream_sources (
        consolidation_id uuid NOT NULL REFERENCES consolidations (id),
        stage text NOT NULL,
        anchor_id uuid NOT NULL,
        waiting boolean NOT NULL,
        PRIMARY KEY (consolidation_id, stage, anchor_id)
    )
    """,
    """
    CREATE TABLE dream_pairs (
        id uuid NOT NULL,
        consolidation_id uuid NOT NULL REFERENCES consolidations (id),
        stage text NOT NULL,
        key text NOT NULL,
        type text NOT NULL,
        a_id uuid NOT NULL,
        a_name text NOT NULL,
        a_records uuid[] NOT NULL,
        b_id uuid NOT NULL,
        b_name text NOT NULL,
        b_records uuid[] NOT NULL,
        similarity double precision NOT NULL,
        state text NOT NULL,
        verdict text,
        canonical uuid,
        reason text NOT NULL,
        decided_by text NOT NULL,
        PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX dream_pairs_page ON dream_pairs (consolidation_id, id)",
    "CREATE INDEX dream_pairs_key ON dream_pairs (key)",
    """
    CREATE TABLE dream_rejections (
        user_id text NOT NULL,
        key text NOT NULL,
        rejected_at timestamptz NOT NULL,
        PRIMARY KEY (user_id, key)
    )
    """,
    """
    CREATE TABLE dream_frontier (
        user_id text NOT NULL,
        anchor_id uuid NOT NULL,
        position bigint GENERATED ALWAYS AS IDENTITY,
        PRIMARY KEY (user_id, anchor_id)
    )
    """,
    "CREATE INDEX dream_frontier_order ON dream_frontier (user_id, position)",
    """
    CREATE TABLE merges (
        id uuid NOT NULL,
        user_id text NOT NULL,
        sequence bigint GENERATED ALWAYS AS IDENTITY,
        consolidation_id uuid NOT NULL REFERENCES consolidations (id),
        absorbed uuid NOT NULL,
        absorbed_name text NOT NULL,
        representative uuid NOT NULL,
        representative_name text NOT NULL,
        type text NOT NULL,
        graph_id text NOT NULL,
        properties text NOT NULL,
        model text NOT NULL,
        vector vector NOT NULL,
        names_added text[] NOT NULL,
        score_before double precision NOT NULL,
        evidence_position bigint NOT NULL,
        state text NOT NULL,
        merged_at timestamptz NOT NULL,
        undone_by uuid,
        PRIMARY KEY (id)
    )
    """,
    "CREATE INDEX merges_consolidation ON merges (consolidation_id, id)",
    "CREATE INDEX merges_representative ON merges (user_id, representative)",
    "CREATE INDEX merges_absorbed ON merges (user_id, absorbed)",
    """
    CREATE TABLE merge_arms (
        merge_id uuid NOT NULL REFERENCES merges (id),
        frame_id text NOT NULL,
        role text NOT NULL,
        arm_id text NOT NULL,
        frame_graph_id text NOT NULL,
        properties text NOT NULL,
        collided boolean NOT NULL,
        PRIMARY KEY (merge_id, frame_id, role)
    )
    """,
    """
    CREATE TABLE merge_records (
        merge_id uuid NOT NULL REFERENCES merges (id),
        record_id uuid NOT NULL,
        kind text NOT NULL,
        collided boolean NOT NULL,
        PRIMARY KEY (merge_id, record_id)
    )
    """,
    """
    CREATE TABLE merge_aliases (
        merge_id uuid NOT NULL REFERENCES merges (id),
        key text NOT NULL,
        PRIMARY KEY (merge_id, key)
    )
    """,
    """
    CREATE TABLE evidence_digests (
        user_id text NOT NULL,
        records bigint NOT NULL,
        first bigint NOT NULL,
        second bigint NOT NULL,
        PRIMARY KEY (user_id)
    )
    """,
)

DIGESTS = (
    # Order-free, so that one record more costs one hash however many there are; two seeds make 128 bits.
    """
    CREATE FUNCTION record_digest(r records, seed bigint) RETURNS bigint LANGUAGE sql STABLE AS $$
        SELECT hashtextextended(jsonb_build_array(
            r.id, r.user_id, r.kind, r.title, r.text, r.event_start, r.event_end, r.event_granularity, r.event_clock,
            extract(epoch FROM r.mention_time), r.status, r.input_id, r.chunk_id, r.session_id, r.ordinal, r.sources,
            r.attributes, r.degraded, r.version
        )::text, seed)
    $$
    """,
    """
    CREATE FUNCTION digest_new_records() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        INSERT INTO public.evidence_digests AS d
        SELECT n.user_id, count(*), bit_xor(public.record_digest(n, 0)), bit_xor(public.record_digest(n, 1))
        FROM fresh n GROUP BY n.user_id ORDER BY n.user_id
        ON CONFLICT (user_id) DO UPDATE
        SET records = d.records + excluded.records, first = d.first # excluded.first,
            second = d.second # excluded.second;
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE FUNCTION digest_lost_records() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE public.evidence_digests d
        SET records = d.records - l.records, first = d.first # l.first, second = d.second # l.second
        FROM (
            SELECT o.user_id, count(*) AS records, bit_xor(public.record_digest(o, 0)) AS first,
                   bit_xor(public.record_digest(o, 1)) AS second
            FROM lost o GROUP BY o.user_id
        ) l WHERE l.user_id = d.user_id;
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE FUNCTION digest_changed_record() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        UPDATE public.evidence_digests d
        SET first = d.first # public.record_digest(OLD, 0) # public.record_digest(NEW, 0),
            second = d.second # public.record_digest(OLD, 1) # public.record_digest(NEW, 1)
        WHERE d.user_id = NEW.user_id;
        RETURN NULL;
    END
    $$
    """,
    """
    CREATE TRIGGER digest_new AFTER INSERT ON records REFERENCING NEW TABLE AS fresh
    FOR EACH STATEMENT EXECUTE FUNCTION digest_new_records()
    """,
    """
    CREATE TRIGGER digest_lost AFTER DELETE ON records REFERENCING OLD TABLE AS lost
    FOR EACH STATEMENT EXECUTE FUNCTION digest_lost_records()
    """,
    # not for the columns that say how far a record is on its way into the graph
    """
    CREATE TRIGGER digest_changed AFTER UPDATE OF
        id, kind, title, text, event_start, event_end, event_granularity, event_clock, mention_time, status, input_id,
        chunk_id, session_id, ordinal, sources, attributes, degraded, version
    ON records FOR EACH ROW EXECUTE FUNCTION digest_changed_record()
    """,
)

FILL = (
    """
    INSERT INTO evidence_digests
    SELECT r.user_id, count(*), bit_xor(record_digest(r, 0)), bit_xor(record_digest(r, 1)) FROM records r
    GROUP BY r.user_id
    """,
    """
    INSERT INTO dream_frontier (user_id, anchor_id)
    SELECT DISTINCT user_id, anchor_id FROM anchor_records WHERE kind = 'semantic' ORDER BY user_id, anchor_id
    """,
)


def upgrade() -> None:
    """Create the tables and triggers; what is there already enters the digests and the frontier."""
    for statement in (*TABLES, *DIGESTS, *FILL):
        op.execute(statement)
