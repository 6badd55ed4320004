-- Block requests by the process that issued them: number, bytes, time from issue to completion
WITH done AS (
    SELECT i.utid, i.dev, i.sector, i.nr_sector, i.ts, c.ts - i.ts AS dur
    FROM "block.block_rq_issue" i ASOF JOIN "block.block_rq_complete" c
      ON c.dev = i.dev AND c.sector = i.sector AND c.ts >= i.ts)
SELECT thread_name(utid) AS thread, dev >> 20 AS major, dev & 1048575 AS minor,
       count(*) AS requests, sum(nr_sector) * 512 AS bytes, sum(dur) AS total_ns,
       CAST(quantile_cont(dur, 0.99) AS BIGINT) AS p99_ns, max(dur) AS max_ns
FROM done GROUP BY utid, dev ORDER BY total_ns DESC LIMIT 40;
