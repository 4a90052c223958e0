-- seqlease now (L11): the database's clock
SELECT clock_timestamp()
