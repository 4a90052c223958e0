-- Results are rows of a table with a rowid. It is separate because stores with the
-- schema before it exist. It copies all results, which takes seconds for a million
-- of some hundred bytes, and as much room as they have for the time being, and
-- ships alone or with others: no older server runs beside it, as a store has one
-- server.
--
-- The key of a table without rowid stands in an index, of whose rows only the
-- first quarter of a page stays in place: a result of a kilobyte took a page of
-- overflow, four times its size on disk and in the log of each commit.

-- +goose Up
CREATE TABLE result_row (
    pipeline_version INTEGER NOT NULL,
    entry_id         INTEGER NOT NULL,
    revision         INTEGER NOT NULL,
    attempt_id       BLOB NOT NULL,
    organism_id      INTEGER NOT NULL,
    outcome          TEXT NOT NULL CHECK (outcome IN ('NO_ISSUES', 'HAS_WARNINGS', 'HAS_ERRORS')),
    digest           BLOB NOT NULL,
    dictionary_id    INTEGER NOT NULL,
    processed_at     INTEGER NOT NULL,
    claimed_by       TEXT, -- NULL: stored by a release that didn't note it
    body             BLOB NOT NULL,
    PRIMARY KEY (pipeline_version, entry_id)
) STRICT;
INSERT INTO result_row (pipeline_version, entry_id, revision, attempt_id, organism_id, outcome, digest, dictionary_id, processed_at,
                        claimed_by, body)
SELECT pipeline_version, entry_id, revision, attempt_id, organism_id, outcome, digest, dictionary_id, processed_at, claimed_by, body
FROM result
ORDER BY pipeline_version, entry_id;
DROP TABLE result;
-- The views that read results keep the name of the table.
PRAGMA legacy_alter_table = ON;
ALTER TABLE result_row RENAME TO result;
PRAGMA legacy_alter_table = OFF;
CREATE INDEX result_with_errors ON result (pipeline_version, entry_id) WHERE outcome = 'HAS_ERRORS';
