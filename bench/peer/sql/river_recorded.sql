-- seqlease bench_river_recorded (jobs completed with their output on the row)
SELECT count(*) FROM river_job WHERE state = 'completed' AND octet_length(metadata -> 'output' ->> 'text') = $1
