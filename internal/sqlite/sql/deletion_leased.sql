-- seqlease deletion_leased (L10): those entries of a part that any version leases
SELECT DISTINCT d.entry_id
FROM pipeline_version AS p
CROSS JOIN upload_run AS n
CROSS JOIN leased AS d ON d.pipeline_version = p.version AND d.entry_id BETWEEN n.first_entry_id AND n.last_entry_id
WHERE p.organism_id = @organism_id AND n.upload_id = @upload_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id
ORDER BY d.entry_id
