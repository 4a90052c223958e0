-- seqlease takes_writes (B041): a standby and a former primary answer reads, but no claim
SELECT NOT current_setting('transaction_read_only')::boolean
