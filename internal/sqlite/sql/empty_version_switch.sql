-- seqlease empty_version_switch (V1)
DELETE FROM version_switch
