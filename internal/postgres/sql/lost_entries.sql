-- seqlease lost_entries (L7): what was cut from an attempt's lease
SELECT accession, version FROM cut WHERE attempt_id = @attempt::uuid
