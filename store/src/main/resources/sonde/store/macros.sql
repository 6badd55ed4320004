-- How much of [ts1, ts1 + dur1) lies in [ts2, ts2 + dur2), nanoseconds; 0 when they do not meet.
CREATE MACRO overlap_dur(ts1, dur1, ts2, dur2) AS
    greatest(0, least(ts1 + dur1, ts2 + dur2) - greatest(ts1, ts2));

-- Whether two spans meet; one of length 0 meets what it lies in.
CREATE MACRO spans_overlap(ts1, dur1, ts2, dur2) AS
    ts1 < ts2 + greatest(dur2, 1) AND ts2 < ts1 + greatest(dur1, 1);

-- Nanoseconds as a text with a unit.
CREATE MACRO nanos(value) AS
    CASE WHEN abs(value) >= 1000000000 THEN round(value / 1e9, 3) || ' s'
         WHEN abs(value) >= 1000000 THEN round(value / 1e6, 3) || ' ms'
         WHEN abs(value) >= 1000 THEN round(value / 1e3, 3) || ' us'
         ELSE value || ' ns' END;

-- "comm tid" of a thread.
CREATE MACRO thread_name(number) AS
    (SELECT coalesce(t.name, '?') || ' ' || t.tid FROM thread t WHERE t.utid = number);

-- The slices around a slice, the outermost last.
CREATE MACRO ancestor_slice(slice_id) AS TABLE
    WITH RECURSIVE up AS (
        SELECT s.* FROM slice s
        WHERE s.id = (SELECT parent_id FROM slice WHERE id = slice_id)
        UNION ALL
        SELECT s.* FROM slice s JOIN up ON s.id = up.parent_id)
    SELECT * FROM up;

-- The slices inside a slice, the nearest first.
CREATE MACRO descendant_slice(slice_id) AS TABLE
    WITH RECURSIVE down AS (
        SELECT s.* FROM slice s WHERE s.parent_id = slice_id
        UNION ALL
        SELECT s.* FROM slice s JOIN down ON s.parent_id = down.id)
    SELECT * FROM down;

-- The frames of a call chain, callee first.
CREATE MACRO callstack(callsite) AS TABLE
    WITH RECURSIVE up AS (
        SELECT s.id, s.parent_id, s.frame_id, s.depth FROM stack s WHERE s.id = callsite
        UNION ALL
        SELECT s.id, s.parent_id, s.frame_id, s.depth FROM stack s JOIN up ON s.id = up.parent_id)
    SELECT up.depth, f.name, f.module, f.kind
    FROM up JOIN frame f ON f.id = up.frame_id ORDER BY up.depth DESC;

-- The same as one text, caller first.
CREATE MACRO callstack_text(callsite) AS
    (SELECT string_agg(name, ';' ORDER BY depth) FROM callstack(callsite));

-- What a thread waited for: its own spans, and while it slept those of the thread that woke it.
CREATE MACRO critical_path(thread_utid) AS TABLE
    WITH own AS (SELECT * FROM thread_state WHERE utid = thread_utid),
    chain AS (
        SELECT w.ts, w.dur, w.state, w.syscall, w.waker_utid,
               o.utid AS on_utid, o.state AS on_state,
               greatest(o.ts, w.ts) AS from_ts,
               least(o.ts + o.dur, w.ts + w.dur) AS to_ts
        FROM own w JOIN thread_state o
          ON o.utid = w.waker_utid AND o.ts < w.ts + w.dur AND w.ts < o.ts + o.dur
        WHERE w.state IN ('S', 'D'))
    SELECT ts, dur, thread_utid AS utid, state, syscall FROM own
    WHERE state NOT IN ('S', 'D') OR waker_utid IS NULL
    UNION ALL
    SELECT from_ts, to_ts - from_ts, on_utid, on_state, NULL FROM chain
    ORDER BY 1;
