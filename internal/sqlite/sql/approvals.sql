-- seqlease approvals: those under way, of an organism or (0) of all, and whether they are decided
SELECT id, released_at IS NOT NULL FROM approval
WHERE @organism_id = 0 OR organism_id = @organism_id
ORDER BY id
