-- Events that are missing, by source and CPU
SELECT source, kind, cpu, count(*) AS notices, sum(events) AS events, min(ts) AS first_ts,
       max(ts) AS last_ts
FROM loss GROUP BY source, kind, cpu ORDER BY events DESC;
