-- seqlease cut_places (L8): the places leave their leases
DELETE FROM leased
WHERE (pipeline_version, entry_id) IN (SELECT p.value ->> 0, p.value ->> 1 FROM json_each(@places) AS p)
