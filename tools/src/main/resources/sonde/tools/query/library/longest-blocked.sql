-- The longest spans in uninterruptible sleep (state D), with the system call and who ended them
SELECT ts, dur AS dur_ns, thread_name(utid) AS thread, syscall,
       thread_name(waker_utid) AS woken_by, callstack_text(callsite_id) AS stack
FROM (SELECT * FROM thread_state WHERE state = 'D' ORDER BY dur DESC LIMIT 40)
ORDER BY dur DESC;
