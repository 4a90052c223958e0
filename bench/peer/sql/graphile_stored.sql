-- seqlease bench_graphile_stored (results stored)
SELECT count(*) FROM bench_result WHERE octet_length(body) = $1
