-- seqlease give_back (L8): the entries wait again
INSERT INTO ticket (organism_id, pipeline_version, entry_id, attempts, hand_outs)
SELECT @organism_id, pipeline_version, entry_id, attempts - @uncounted, hand_outs FROM leased WHERE attempt_id = @attempt_id
