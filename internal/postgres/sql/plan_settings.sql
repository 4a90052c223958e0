-- seqlease plan_settings: for this transaction only; a plan made while a table was small is kept when it is large, and a list, however long, is looked up by hash
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true),
    set_config('hash_mem_multiplier', '1000', true)
