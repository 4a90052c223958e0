-- bench floor_schema: the bodies of results with their key, stored as the store stores them
CREATE TABLE result (
    pipeline_version bigint NOT NULL,
    entry_id         bigint NOT NULL,
    body             bytea NOT NULL,
    PRIMARY KEY (pipeline_version, entry_id)
) WITH (toast_tuple_target = 8160);
ALTER TABLE result ALTER COLUMN body SET STORAGE EXTERNAL;
