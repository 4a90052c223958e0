-- bench insert_race_schema: a row appears with the claim
CREATE TABLE processing (
    accession        text COLLATE "C" NOT NULL,
    version          bigint NOT NULL,
    pipeline_version bigint NOT NULL,
    status           text COLLATE "C" NOT NULL DEFAULT 'IN_PROCESSING',
    started_at       timestamptz NOT NULL DEFAULT now(),
    finished_at      timestamptz,
    outcome          smallint,
    body             bytea,
    PRIMARY KEY (accession, version, pipeline_version),
    FOREIGN KEY (accession, version) REFERENCES entry ON DELETE CASCADE
) WITH (toast_tuple_target = 8160);
ALTER TABLE processing ALTER COLUMN body SET STORAGE EXTERNAL;
CREATE TRIGGER processing_changed AFTER INSERT OR UPDATE OR DELETE ON processing
    FOR EACH STATEMENT EXECUTE FUNCTION note_change('benchvirus');
