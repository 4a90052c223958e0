-- bench count_costs
CREATE EXTENSION pg_stat_statements
