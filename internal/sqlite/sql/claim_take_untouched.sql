-- seqlease claim_take_untouched (L1, L2, L17): the entries of a part of one run, without tickets, none of which is elsewhere
-- (OR FAIL: should it end midway, the writer undoes all of the request, so SQLite needs no copies of the pages to undo the statement)
INSERT OR FAIL INTO leased (pipeline_version, entry_id, attempt_id, position, revision, attempts, hand_outs)
SELECT @pipeline_version, e.id, @attempt_id, @taken + e.id - @first_entry_id, e.revision, 1, 1
FROM entry AS e
WHERE e.id BETWEEN @first_entry_id AND @last_entry_id
