-- seqlease edit_entry (L10): a new revision
UPDATE entry SET revision = revision + 1 WHERE id = @entry_id RETURNING revision
