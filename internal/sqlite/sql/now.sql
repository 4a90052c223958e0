-- seqlease now (L11)
SELECT now FROM clock
