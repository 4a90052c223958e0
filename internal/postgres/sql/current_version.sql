-- seqlease current_version (V1, V7): the current version; no switch is committed until the transaction ends
SELECT current_version FROM organism WHERE id = @organism::int FOR SHARE
