-- seqlease accept_settings: plan_settings, and a plan that isn't made anew each time
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true),
    set_config('hash_mem_multiplier', '1000', true), set_config('plan_cache_mode', 'force_generic_plan', true)
