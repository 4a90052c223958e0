-- seqlease delete_everything (L10): empties the tables, which are locked; sequences go on, so that no accession or id is given out again
TRUNCATE entry, ticket, lease, cut, result, quarantine, failure, claim_record, turn, backfill, data_use_terms, original_submission,
    external_metadata, upload_key CONTINUE IDENTITY
