-- How long each thread waited for a CPU after it was woken (state R), longest sum first
SELECT thread_name(utid) AS thread, count(*) AS waits, sum(dur) AS total_ns,
       CAST(avg(dur) AS BIGINT) AS mean_ns,
       CAST(quantile_cont(dur, 0.99) AS BIGINT) AS p99_ns, max(dur) AS max_ns
FROM thread_state WHERE state = 'R' GROUP BY utid ORDER BY total_ns DESC LIMIT 40;
