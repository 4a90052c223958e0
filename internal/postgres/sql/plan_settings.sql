-- seqlease plan_settings: for this transaction only; a plan made while a table was small is kept when it is large
SELECT set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)
