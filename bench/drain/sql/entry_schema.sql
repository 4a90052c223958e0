-- bench entry_schema: what was submitted, in the designs that keep it apart from the queue
CREATE TABLE entry (
    accession     text COLLATE "C" NOT NULL,
    version       bigint NOT NULL,
    organism      text NOT NULL,
    group_id      bigint NOT NULL,
    submitter     text NOT NULL,
    submission_id text NOT NULL,
    submitted_at  timestamptz NOT NULL DEFAULT now(),
    document      bytea NOT NULL,
    PRIMARY KEY (accession, version)
) WITH (toast_tuple_target = 8160);
ALTER TABLE entry ALTER COLUMN document SET STORAGE EXTERNAL;

CREATE TABLE last_change (
    organism   text PRIMARY KEY,
    changed_at timestamptz NOT NULL
);
INSERT INTO last_change VALUES ('benchvirus', now());
CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE last_change SET changed_at = clock_timestamp() WHERE organism = TG_ARGV[0];
    RETURN NULL;
END
$$;
