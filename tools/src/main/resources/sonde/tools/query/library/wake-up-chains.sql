-- Who woke whom, and by whom the waker had been woken itself, most frequent first
WITH wake AS (
    SELECT utid, waker_utid, ts, dur FROM thread_state
    WHERE state = 'R' AND waker_utid IS NOT NULL),
chain AS (
    SELECT w.utid, w.waker_utid, w.dur, b.waker_utid AS before_utid
    FROM wake w ASOF LEFT JOIN wake b ON b.utid = w.waker_utid AND b.ts <= w.ts)
SELECT thread_name(before_utid) AS first, thread_name(waker_utid) AS then_by,
       thread_name(utid) AS woken, count(*) AS times, CAST(avg(dur) AS BIGINT) AS mean_wait_ns
FROM chain GROUP BY utid, waker_utid, before_utid ORDER BY times DESC LIMIT 40;
