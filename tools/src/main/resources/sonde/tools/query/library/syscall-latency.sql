-- Latency of system calls by process and call, longest sum first
SELECT coalesce(p.name, '?') || ' ' || p.pid AS process, s.name AS call, count(*) AS calls,
       sum(s.dur) AS total_ns, CAST(quantile_cont(s.dur, 0.5) AS BIGINT) AS p50_ns,
       CAST(quantile_cont(s.dur, 0.99) AS BIGINT) AS p99_ns, max(s.dur) AS max_ns,
       count(*) FILTER (s.ret BETWEEN -4095 AND -1) AS errors
FROM slice s JOIN thread t USING (utid) JOIN process p USING (upid)
WHERE s.category = 'syscall' AND s.dur >= 0
GROUP BY p.upid, p.name, p.pid, s.name ORDER BY total_ns DESC LIMIT 40;
