-- seqlease rank_settings: for this transaction only; the upload's own commit brings what was reserved before it to the disk
SELECT set_config('synchronous_commit', 'off', true), set_config('enable_seqscan', 'off', true),
    set_config('enable_bitmapscan', 'off', true), set_config('jit', 'off', true)
