-- seqlease claim_settings: for this transaction only; a claim lost in a crash is claimed again, and its plan must never be one for small tables, nor be made anew each time
SELECT set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true), set_config('jit', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true)
