-- seqlease lock_everything: waits for all who read or write entries, and keeps others out until the transaction ends; entry comes first, as in every writer
LOCK TABLE entry, ticket, lease, cut, result, quarantine, failure, claim_record, turn, backfill, data_use_terms, original_submission,
    external_metadata, upload_key IN ACCESS EXCLUSIVE MODE
