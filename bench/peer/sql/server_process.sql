-- seqlease bench_server_process (the first line is the process id of the server)
SELECT pg_read_file('postmaster.pid')
