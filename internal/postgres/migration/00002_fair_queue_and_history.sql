-- Lanes and fair order of the queue, pauses, the history of attempts, quarantine.
-- Why separate: the first schema may hold data. It rebuilds ticket (a copy of
-- the waiting entries, about a second for each 500,000), so servers of the first schema must be
-- stopped: their claims don't know lanes. Tickets and leases are kept: what
-- waits is ordered as if its groups had submitted it at the same time. Attempts of
-- the first schema were made among others, so they condemn nobody: each entry has
-- at least one left, alone (L9).
--
-- ticket: the primary key is the order of work: by lane, and within a lane by
-- rank (L17). Ranks of lanes 0 and 1 are turns that groups take one by one, those
-- of the others microseconds since 1970. UNIQUE (pipeline_version, entry_id): no
-- entry waits twice.
-- turn: the largest rank that a group was given; its row is locked for a short
-- transaction only.
-- claim_record: one row for each claim, with parallel arrays, so that it costs a
-- claim some bytes per entry. failure: a row for each entry that went wrong.
-- cut: what an edit, a deletion or an operator took from a lease that goes on (L7).
-- quarantine: why; attempt_id is that of the system's result, null where a good
-- result stayed.

-- +goose Up
ALTER TABLE organism ADD COLUMN paused boolean NOT NULL DEFAULT false;
ALTER TABLE pipeline_version ADD COLUMN paused boolean NOT NULL DEFAULT false;

-- The lane of an entry that was handed out hand_outs times, of which attempts
-- count (L9): 0 fresh, 1 bulk, 2 suspect, 3 alone, 4 spent.
-- +goose StatementBegin
CREATE FUNCTION waiting_lane(attempts int, hand_outs int, bulk boolean, max_attempts int, max_hand_outs int) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE
        WHEN attempts >= max_attempts OR hand_outs - attempts >= max_hand_outs THEN 4
        WHEN attempts >= 3 OR attempts >= max_attempts - 1 OR hand_outs - attempts >= (max_hand_outs + 1) / 2 THEN 3
        WHEN attempts > 0 THEN 2
        WHEN bulk THEN 1
        ELSE 0
    END::smallint
$$;
-- +goose StatementEnd

CREATE TABLE turn (
    organism_id      int NOT NULL,
    lane             smallint NOT NULL,
    pipeline_version bigint NOT NULL,
    group_id         bigint NOT NULL,
    last_rank        bigint NOT NULL,
    PRIMARY KEY (organism_id, pipeline_version, lane, group_id)
);
CREATE INDEX turn_last ON turn (organism_id, pipeline_version, lane, last_rank);

ALTER TABLE ticket RENAME TO ticket_without_lane;
ALTER INDEX ticket_pkey RENAME TO ticket_without_lane_pkey;
CREATE TABLE ticket (
    pipeline_version bigint NOT NULL,
    rank             bigint NOT NULL DEFAULT 0,
    entry_id         bigint NOT NULL,
    organism_id      int NOT NULL,
    hand_outs        int NOT NULL DEFAULT 0,
    attempts         smallint NOT NULL DEFAULT 0,
    lane             smallint NOT NULL DEFAULT 0 CHECK (lane BETWEEN 0 AND 4),
    CHECK (attempts >= 0 AND hand_outs >= attempts)
) WITH (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
INSERT INTO ticket (organism_id, pipeline_version, lane, rank, entry_id, attempts, hand_outs)
SELECT t.organism_id, t.pipeline_version, t.lane,
    CASE WHEN t.lane = 0 THEN row_number() OVER (PARTITION BY t.organism_id, t.pipeline_version, t.lane, e.group_id ORDER BY t.entry_id)
        ELSE (extract(epoch FROM now()) * 1000000)::bigint END,
    t.entry_id, t.attempts, t.hand_outs
FROM (
    SELECT organism_id, pipeline_version, entry_id, attempts, hand_outs, waiting_lane(attempts, hand_outs, false, 5, 50) AS lane
    FROM (
        SELECT organism_id, pipeline_version, entry_id, least(attempts, 4)::smallint AS attempts,
            least(attempts, 4) + least(hand_outs - attempts, 49) AS hand_outs
        FROM ticket_without_lane
    ) AS w
) AS t
JOIN entry AS e ON e.id = t.entry_id;
INSERT INTO turn (organism_id, pipeline_version, lane, group_id, last_rank)
SELECT t.organism_id, t.pipeline_version, 0, e.group_id, max(t.rank)
FROM ticket AS t JOIN entry AS e ON e.id = t.entry_id
WHERE t.lane = 0 GROUP BY t.organism_id, t.pipeline_version, e.group_id;
DROP TABLE ticket_without_lane;
ALTER TABLE ticket ADD PRIMARY KEY (organism_id, pipeline_version, lane, rank, entry_id);
CREATE UNIQUE INDEX ticket_entry ON ticket (pipeline_version, entry_id);

CREATE TABLE claim_record (
    organism_id      int NOT NULL,
    lease_seconds    int NOT NULL,
    claimed_at       timestamptz NOT NULL DEFAULT now(),
    pipeline_version bigint NOT NULL,
    attempt_id       uuid NOT NULL,
    claimed_by       text NOT NULL,
    worker_id        text NOT NULL,
    attempts         smallint[] NOT NULL,
    entry_ids        bigint[] NOT NULL,
    PRIMARY KEY (organism_id, claimed_at, attempt_id)
);
INSERT INTO claim_record (organism_id, lease_seconds, claimed_at, pipeline_version, attempt_id, claimed_by, worker_id, attempts, entry_ids)
SELECT l.organism_id, l.lease_seconds, l.claimed_at, l.pipeline_version, l.attempt_id, l.claimed_by, l.worker_id,
    array_agg(p.attempts ORDER BY l.part, p.position), array_agg(p.entry_id ORDER BY l.part, p.position)
FROM lease AS l, unnest(l.entry_ids, l.positions, l.attempts) AS p (entry_id, position, attempts)
GROUP BY l.organism_id, l.lease_seconds, l.claimed_at, l.pipeline_version, l.attempt_id, l.claimed_by, l.worker_id;

UPDATE lease AS l SET (attempts, hand_outs) = (
    SELECT array_agg(least(p.attempts, 4)::smallint ORDER BY p.n),
        array_agg(least(p.attempts, 4) + least(p.hand_outs - p.attempts, 49) ORDER BY p.n)
    FROM unnest(l.attempts, l.hand_outs) WITH ORDINALITY AS p (attempts, hand_outs, n))
WHERE EXISTS (SELECT FROM unnest(l.attempts, l.hand_outs) AS p (attempts, hand_outs) WHERE p.attempts > 4 OR p.hand_outs - p.attempts > 49);

-- kind: 1 expired, 2 given back, 3 undelivered, 4 refused, 5 freed, 6 damaged.
CREATE TABLE failure (
    at               timestamptz NOT NULL DEFAULT now(),
    entry_id         bigint NOT NULL,
    pipeline_version bigint NOT NULL,
    organism_id      int NOT NULL,
    revision         int NOT NULL,
    attempt_id       uuid NOT NULL,
    kind             smallint NOT NULL CHECK (kind BETWEEN 1 AND 6),
    counted          boolean NOT NULL,
    worker_id        text NOT NULL,
    claimed_by       text NOT NULL,
    reason           text NOT NULL
);
CREATE INDEX failure_entry ON failure (entry_id, at);
CREATE INDEX failure_time ON failure (organism_id, at);

CREATE TABLE cut (
    attempt_id uuid NOT NULL,
    accession  text COLLATE "C" NOT NULL,
    version    bigint NOT NULL,
    PRIMARY KEY (attempt_id, accession, version)
);

CREATE TABLE quarantine (
    pipeline_version bigint NOT NULL,
    entry_id         bigint NOT NULL,
    at               timestamptz NOT NULL DEFAULT now(),
    organism_id      int NOT NULL,
    attempts         int NOT NULL,
    hand_outs        int NOT NULL,
    attempt_id       uuid,
    operator         text NOT NULL,
    reason           text NOT NULL,
    PRIMARY KEY (pipeline_version, entry_id)
);
CREATE INDEX quarantine_organism ON quarantine (organism_id, entry_id);

-- +goose Down
DROP TABLE quarantine, cut, failure, claim_record;
ALTER TABLE ticket RENAME TO ticket_with_lane;
ALTER INDEX ticket_pkey RENAME TO ticket_with_lane_pkey;
CREATE TABLE ticket (
    organism_id      int NOT NULL,
    pipeline_version bigint NOT NULL,
    entry_id         bigint NOT NULL,
    attempts         smallint NOT NULL DEFAULT 0,
    hand_outs        int NOT NULL DEFAULT 0,
    PRIMARY KEY (organism_id, pipeline_version, entry_id),
    CHECK (attempts >= 0 AND hand_outs >= attempts)
) WITH (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_delay = 0);
INSERT INTO ticket (organism_id, pipeline_version, entry_id, attempts, hand_outs)
SELECT organism_id, pipeline_version, entry_id, attempts, hand_outs FROM ticket_with_lane;
DROP TABLE ticket_with_lane, turn;
DROP FUNCTION waiting_lane;
ALTER TABLE pipeline_version DROP COLUMN paused;
ALTER TABLE organism DROP COLUMN paused;
