-- seqlease switch_settings: for this transaction only; others queue behind a lock that is waited for, and a vacuum of results gives way after a second
SELECT set_config('lock_timeout', '2s', true), set_config('statement_timeout', '10s', true), set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true), set_config('hash_mem_multiplier', '1000', true)
