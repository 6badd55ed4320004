-- Time that threads slept in futex, the system call of contended user-space locks
SELECT thread_name(utid) AS thread, count(*) AS waits, sum(dur) AS total_ns,
       CAST(quantile_cont(dur, 0.99) AS BIGINT) AS p99_ns, max(dur) AS max_ns,
       arg_max(thread_name(waker_utid), dur) AS longest_ended_by
FROM thread_state WHERE syscall = 'futex' AND state IN ('S', 'D')
GROUP BY utid ORDER BY total_ns DESC LIMIT 40;
