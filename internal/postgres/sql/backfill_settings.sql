-- seqlease backfill_settings: for this transaction only; a chunk that is lost in a crash is made again, and its plan must never be one for small tables
SELECT set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
    set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true), set_config('hash_mem_multiplier', '1000', true)
