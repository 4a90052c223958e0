-- seqlease paused (L16): whether the organism is paused, and which of its live versions
SELECT o.paused, ARRAY(
    SELECT version FROM pipeline_version WHERE organism_id = o.id AND version >= o.current_version AND paused ORDER BY version
) AS versions
FROM organism AS o WHERE o.id = @organism::int
