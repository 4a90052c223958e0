-- bench row_lease_alone_schema: a row for each entry and pipeline version, waiting from the start
CREATE TABLE processing (
    accession        text COLLATE "C" NOT NULL,
    version          bigint NOT NULL,
    pipeline_version bigint NOT NULL,
    status           text COLLATE "C" NOT NULL DEFAULT 'RECEIVED',
    attempts         int NOT NULL DEFAULT 0,
    attempt_id       uuid,
    lease_until      timestamptz,
    started_at       timestamptz,
    finished_at      timestamptz,
    outcome          smallint,
    body             bytea,
    queue_order      bigint NOT NULL,
    PRIMARY KEY (accession, version, pipeline_version)
) WITH (toast_tuple_target = 8160);
ALTER TABLE processing ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE INDEX processing_waiting ON processing (pipeline_version, queue_order) WHERE status = 'RECEIVED';
CREATE INDEX processing_held ON processing (pipeline_version, lease_until) WHERE status = 'IN_PROCESSING';
