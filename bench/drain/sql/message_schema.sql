-- bench message_schema: messages with the instant from which on they are visible, and how often they were read; results beside them
CREATE TABLE message (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    read_count int NOT NULL DEFAULT 0,
    sent_at    timestamptz NOT NULL DEFAULT now(),
    visible_at timestamptz NOT NULL DEFAULT now(),
    document   bytea NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE message ALTER COLUMN document SET STORAGE EXTERNAL;
CREATE INDEX message_visible ON message (visible_at);
CREATE TABLE result (
    message_id bigint PRIMARY KEY,
    body       bytea NOT NULL
) WITH (toast_tuple_target = 8160);
ALTER TABLE result ALTER COLUMN body SET STORAGE EXTERNAL;
