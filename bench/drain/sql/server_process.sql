-- bench server_process: its id is in the first line
SELECT pg_read_file('postmaster.pid')
