-- Lists of entries and their counts from indexes. It is separate because stores with
-- the schema before it exist. It builds two indexes of entries anew, which takes
-- seconds for a million of them, and ships alone or with others: no older server runs
-- beside it, as a store has one server.
--
-- An index has as many rows as before, so that submitting and approving cost what they
-- did; only an edit has one more to change, for the revision.

-- +goose Up
-- With the group, so that a page is found without the entries before it.
DROP INDEX entry_in_order;
CREATE INDEX entry_in_order ON entry (organism_id, accession, version, group_id);
-- With all that counting needs of an entry.
DROP INDEX entry_unreleased;
CREATE INDEX entry_unreleased ON entry (organism_id, id, group_id, is_revocation, revision, released_at) WHERE released_at IS NULL;

-- The entries of uploads that are complete, and that aren't deleted; mostly no upload
-- or deletion is under way.
DROP VIEW published_entry;
CREATE VIEW published_entry AS
SELECT e.id, e.accession, e.version, e.organism_id, e.group_id, e.submission_id, e.submitter, e.submitted_at,
       e.is_revocation, e.revision, e.released_at
FROM entry AS e
WHERE NOT EXISTS (SELECT 1 FROM upload_run)
   OR e.id > coalesce((SELECT p.last_entry_id * (SELECT u.hides FROM upload AS u WHERE u.id = p.upload_id)
                       FROM upload_run AS p
                       WHERE p.first_entry_id <= e.id
                       ORDER BY p.first_entry_id DESC LIMIT 1), 0);
