-- The organism in the index of results, so that they can be counted by organism
-- without reading them (V8): rows hold their documents.
-- Why separate: it runs outside a transaction, so that servers go on meanwhile
-- (about a second for each million small results), and ships with the migrations before it. Servers of the
-- release before may run beside it. A transaction of more than five seconds makes it
-- give up: run it again. The index costs a result 8 bytes.

-- +goose NO TRANSACTION

-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS result_key;
CREATE UNIQUE INDEX CONCURRENTLY result_key ON result (pipeline_version, entry_id) INCLUDE (organism_id);
ALTER TABLE result DROP CONSTRAINT result_pkey, ADD CONSTRAINT result_pkey PRIMARY KEY USING INDEX result_key;

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS result_key;
CREATE UNIQUE INDEX CONCURRENTLY result_key ON result (pipeline_version, entry_id);
ALTER TABLE result DROP CONSTRAINT result_pkey, ADD CONSTRAINT result_pkey PRIMARY KEY USING INDEX result_key;
