-- bench claim_settings: for the transaction of a claim
SELECT set_config('synchronous_commit', 'off', true)
