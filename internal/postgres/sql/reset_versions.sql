-- seqlease reset_versions (V1): pipeline version 1 is current and the only one; counters of the others stay, so that their marks go on rising
WITH newer AS (
    DELETE FROM pipeline_version WHERE version > 1
),
switches AS (
    DELETE FROM version_switch
),
first AS (
    INSERT INTO pipeline_version (organism_id, version) SELECT id, 1 FROM organism ORDER BY id
    ON CONFLICT DO NOTHING
)
UPDATE organism SET current_version = 1 WHERE current_version <> 1
