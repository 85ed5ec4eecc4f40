"""The AGE graph `memory`: one for all users, its labels and indexes, made whole by one idempotent block of SQL.

Kept out of the version files because it's needed again after a graph was dropped or restored from a dump. A label table
gets no column of ours (Cypher would crash), so what must be found by value stands in the properties or in side tables.
"""

GRAPH = "memory"

ENSURE_GRAPH = """
DO $block$
DECLARE
    schema_oid oid;
    broken boolean;
BEGIN
    PERFORM pg_advisory_xact_lock(7225, 2);
    -- create_graph needs ag_catalog's operator classes on the path
    PERFORM set_config('search_path', 'public,ag_catalog', true);
    broken := to_regclass('memory."Anchor"') IS NULL OR to_regclass('memory."Frame"') IS NULL
        OR to_regclass('memory."ARM"') IS NULL
        OR NOT EXISTS (SELECT FROM ag_catalog.ag_graph WHERE name = 'memory');
    IF broken THEN
        DELETE FROM ag_catalog.ag_label l USING ag_catalog.ag_graph g WHERE l.graph = g.graphid AND g.name = 'memory';
        DELETE FROM ag_catalog.ag_graph WHERE name = 'memory';
        DROP SCHEMA IF EXISTS memory CASCADE;
        PERFORM ag_catalog.create_graph('memory');
        PERFORM ag_catalog.create_vlabel('memory', 'Anchor');
        PERFORM ag_catalog.create_vlabel('memory', 'Frame');
        PERFORM ag_catalog.create_elabel('memory', 'ARM');
        -- what stood beside the old graph speaks of anchors and frames that are gone
        TRUNCATE public.anchor_aliases, public.anchor_records, public.anchor_vectors, public.frame_vectors,
                 public.frame_citations;
        -- a retry of their jobs indexes them again
        UPDATE public.records SET index_status = 'failed', index_step = 'upsert', index_reason = 'graph_lost'
        WHERE index_status = 'indexed';
        -- so will rounds merge again, on verdicts that are kept; not there yet when the graph is first made
        IF to_regclass('public.merges') IS NOT NULL THEN
            TRUNCATE public.dream_frontier;
            UPDATE public.merges SET state = 'lost' WHERE state = 'applied';
        END IF;
    END IF;
    -- pg_dump keeps the number that the old schema had, and Cypher looks the labels up by it
    schema_oid := 'memory'::regnamespace::oid;
    IF EXISTS (SELECT FROM ag_catalog.ag_graph WHERE name = 'memory' AND graphid <> schema_oid) THEN
        ALTER TABLE ag_catalog.ag_label DROP CONSTRAINT IF EXISTS fk_graph_oid;
        UPDATE ag_catalog.ag_label l SET graph = schema_oid FROM ag_catalog.ag_graph g
        WHERE l.graph = g.graphid AND g.name = 'memory';
        UPDATE ag_catalog.ag_graph SET graphid = schema_oid WHERE name = 'memory';
        ALTER TABLE ag_catalog.ag_label ADD CONSTRAINT fk_graph_oid
            FOREIGN KEY (graph) REFERENCES ag_catalog.ag_graph (graphid);
    END IF;
    -- only where one is missing: even to find that it exists, CREATE INDEX waits for every writer
    IF (SELECT count(*) FROM pg_indexes WHERE schemaname = 'memory' AND indexname IN
            ('anchor_key', 'anchor_id', 'frame_id', 'arm_role', 'arm_adjacency', 'arm_incidence')) < 6 THEN
        CREATE UNIQUE INDEX IF NOT EXISTS anchor_key ON memory."Anchor" (
            ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '"user_id"'::ag_catalog.agtype]),
            ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '"key"'::ag_catalog.agtype]));
        CREATE UNIQUE INDEX IF NOT EXISTS anchor_id ON memory."Anchor" (
            ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '"user_id"'::ag_catalog.agtype]),
            ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '"anchor_id"'::ag_catalog.agtype]));
        CREATE UNIQUE INDEX IF NOT EXISTS frame_id ON memory."Frame" (
            ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '"user_id"'::ag_catalog.agtype]),
            ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '"fid"'::ag_catalog.agtype]));
        CREATE UNIQUE INDEX IF NOT EXISTS arm_role ON memory."ARM" (start_id, end_id,
            ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '"role"'::ag_catalog.agtype]));
        -- the frame's own id on the arm gives adjacency in frame-id order: graphids only tell who came first
        CREATE INDEX IF NOT EXISTS arm_adjacency ON memory."ARM" (end_id,
            ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '"predicate"'::ag_catalog.agtype]),
            ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '"fid"'::ag_catalog.agtype]));
        CREATE INDEX IF NOT EXISTS arm_incidence ON memory."ARM" (end_id,
            ag_catalog.agtype_access_operator(VARIADIC ARRAY[properties, '"fid"'::ag_catalog.agtype]));
        -- prefixes of the above; kept, they mislead the planner
        DROP INDEX IF EXISTS memory."ARM_start_id_idx", memory."ARM_end_id_idx";
    END IF;
END
$block$
"""
