-- What the busiest thread waited for: its own time, and that of the threads that woke it
WITH busiest AS (
    SELECT utid FROM thread_state WHERE state = 'Running'
    GROUP BY utid ORDER BY sum(dur) DESC LIMIT 1)
SELECT thread_name(utid) AS thread, state, coalesce(syscall, '') AS syscall,
       count(*) AS spans, sum(dur) AS total_ns
FROM critical_path((SELECT utid FROM busiest))
GROUP BY utid, state, syscall ORDER BY total_ns DESC LIMIT 40;
