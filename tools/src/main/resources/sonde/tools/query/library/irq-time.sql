-- Time in interrupts and soft interrupts, by name and CPU
SELECT category, name, cpu, count(*) AS times, sum(dur) AS total_ns,
       CAST(quantile_cont(dur, 0.99) AS BIGINT) AS p99_ns, max(dur) AS max_ns
FROM slice WHERE category IN ('irq', 'softirq') AND dur >= 0
GROUP BY ALL ORDER BY total_ns DESC LIMIT 40;
