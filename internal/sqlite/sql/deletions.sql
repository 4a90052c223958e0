-- seqlease deletions (L10): those under way, of an organism or (0) of all; what was decided hides its entries
SELECT id, organism_id, hides FROM upload
WHERE deleted_by IS NOT NULL AND (@organism_id = 0 OR organism_id = @organism_id)
ORDER BY id
