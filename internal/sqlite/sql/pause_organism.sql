-- seqlease pause_organism (L16)
UPDATE organism SET paused = @paused WHERE id = @organism_id
