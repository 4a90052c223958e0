-- seqlease any_ended (L4): has a lease of any queue ended
SELECT EXISTS (SELECT 1
               FROM pipeline_version AS p
               CROSS JOIN lease AS l ON l.organism_id = p.organism_id AND l.pipeline_version = p.version
                                    AND l.lease_until <= (SELECT now FROM clock))
