-- seqlease deletion_turns (L17): as return_turns, of a part, whose runs of tickets were withdrawn
UPDATE turn SET last_rank = last_rank - w.turns
FROM (SELECT v.organism_id, v.version, v.lane, v.group_id, count(*) AS turns
      FROM (SELECT p.organism_id, p.version, t.lane, e.group_id
            FROM pipeline_version AS p
            CROSS JOIN upload_run AS n
            CROSS JOIN ticket AS t ON t.pipeline_version = p.version AND t.entry_id BETWEEN n.first_entry_id AND n.last_entry_id
                                  AND t.lane < 2
            CROSS JOIN entry AS e ON e.id = t.entry_id
            WHERE p.organism_id = @organism_id AND n.upload_id = @upload_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id
            UNION ALL
            SELECT u.organism_id, u.pipeline_version, 0, e.group_id
            FROM pipeline_version AS p
            CROSS JOIN upload_run AS n
            CROSS JOIN withdrawn_run AS u
                ON u.pipeline_version = p.version AND u.first_entry_id BETWEEN n.first_entry_id AND n.last_entry_id
            CROSS JOIN entry AS e ON e.id BETWEEN u.first_entry_id AND min(u.last_entry_id, n.last_entry_id)
            WHERE p.organism_id = @organism_id AND n.upload_id = @upload_id AND n.first_entry_id BETWEEN @first_entry_id AND @last_entry_id
              AND NOT EXISTS (SELECT 1 FROM ticket AS t WHERE t.pipeline_version = u.pipeline_version AND t.entry_id = e.id)
              AND NOT EXISTS (SELECT 1 FROM leased AS d WHERE d.pipeline_version = u.pipeline_version AND d.entry_id = e.id)
              AND NOT EXISTS (SELECT 1 FROM result AS r
                              WHERE r.pipeline_version = u.pipeline_version AND r.entry_id = e.id AND r.revision = e.revision)) AS v
      GROUP BY v.organism_id, v.version, v.lane, v.group_id) AS w
WHERE turn.organism_id = w.organism_id AND turn.pipeline_version = w.version AND turn.lane = w.lane AND turn.group_id = w.group_id
