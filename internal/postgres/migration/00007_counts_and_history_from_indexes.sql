-- Counts of entries from indexes alone, and the claims of an entry by their bounds.
-- Why separate: it runs outside a transaction, so that servers go on meanwhile
-- (some seconds for each million entries and small results), and ships with the migrations before it.
-- Servers of the release before may run beside it. A transaction of more than five
-- seconds makes it give up: run it again.
--
-- The indexes have what counting needs besides: 16 bytes for an entry, 8 for a result.
-- claim_record: the least and the greatest of entry_ids, null where a server of a
-- release before wrote the row.

-- +goose NO TRANSACTION

-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS entry_released_counted;
CREATE INDEX CONCURRENTLY entry_released_counted ON entry (organism_id, accession, version) INCLUDE (group_id) WHERE released_at IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS entry_released;
ALTER INDEX entry_released_counted RENAME TO entry_released;

DROP INDEX CONCURRENTLY IF EXISTS entry_unreleased_counted;
CREATE INDEX CONCURRENTLY entry_unreleased_counted ON entry (organism_id, id) INCLUDE (group_id, revision, is_revocation) WHERE released_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS entry_unreleased;
ALTER INDEX entry_unreleased_counted RENAME TO entry_unreleased;

DROP INDEX CONCURRENTLY IF EXISTS result_key;
CREATE UNIQUE INDEX CONCURRENTLY result_key ON result (pipeline_version, entry_id) INCLUDE (organism_id, revision, outcome);
ALTER TABLE result DROP CONSTRAINT result_pkey, ADD CONSTRAINT result_pkey PRIMARY KEY USING INDEX result_key;

ALTER TABLE claim_record ADD COLUMN IF NOT EXISTS first_entry_id bigint, ADD COLUMN IF NOT EXISTS last_entry_id bigint;
DROP INDEX CONCURRENTLY IF EXISTS claim_record_entries;
CREATE INDEX CONCURRENTLY claim_record_entries ON claim_record (organism_id, last_entry_id, first_entry_id);

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS claim_record_entries;
ALTER TABLE claim_record DROP COLUMN IF EXISTS first_entry_id, DROP COLUMN IF EXISTS last_entry_id;
DROP INDEX CONCURRENTLY IF EXISTS result_key;
CREATE UNIQUE INDEX CONCURRENTLY result_key ON result (pipeline_version, entry_id) INCLUDE (organism_id);
ALTER TABLE result DROP CONSTRAINT result_pkey, ADD CONSTRAINT result_pkey PRIMARY KEY USING INDEX result_key;
DROP INDEX CONCURRENTLY IF EXISTS entry_released;
CREATE INDEX CONCURRENTLY entry_released ON entry (organism_id, accession, version) WHERE released_at IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS entry_unreleased;
CREATE INDEX CONCURRENTLY entry_unreleased ON entry (organism_id, id) WHERE released_at IS NULL;
