-- seqlease pause_organism (L16): pauses or resumes every version of an organism
UPDATE organism SET paused = @paused::boolean WHERE id = @organism::int
