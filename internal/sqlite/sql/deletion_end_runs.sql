-- seqlease deletion_end_runs (L10)
DELETE FROM withdrawn_run WHERE upload_id = @upload_id
