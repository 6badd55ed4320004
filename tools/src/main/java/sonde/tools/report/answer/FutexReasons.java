package sonde.tools.report.answer;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** What a thread waits for in a futex, by the functions of libraries and run times above it. */
final class FutexReasons {
    /** Nothing that a program waits for: a thread of a run time's pool without work. */
    static final String RUNTIME_WORK = "work of its run time";

    /** How deep below the call the functions of the lock itself are. */
    private static final int DEPTH = 14;

    private static final Map<Pattern, String> REASONS = new LinkedHashMap<>();

    private static void reason(String pattern, String reason) {
        REASONS.put(Pattern.compile(pattern), reason);
    }

    /** Where the JVM was not asked, or no look met a wait. */
    static final String MONITOR = "a Java monitor (--jvm tells its class)";

    static {
        // Python/ceval_gil.c, Modules/_threadmodule.c
        reason("(take_gil|_?PyEval_AcquireLock).*", "the GIL of Python");
        reason(
                "(lock_PyThread_acquire_lock|PyThread_acquire_lock_timed|rlock_acquire"
                        + "|acquire_timed).*",
                "a Python lock, condition or queue");
        // library/std/src/sys/sync/mutex/futex.rs; parking_lot/src/raw_mutex.rs
        reason(".*Mutex(::|>::|\\.)lock_(contended|slow).*", WaitRules.LOCK);
        reason(".*RwLock(::|>::)(read|write)_contended.*", WaitRules.LOCK);
        reason(".*RawRwLock(::|>::)lock_(shared|exclusive|upgradable)_slow.*", WaitRules.LOCK);
        reason("(absl::.*)?Mutex::LockSlow.*", WaitRules.LOCK);
        // src/hotspot/share/runtime: objectMonitor.cpp, synchronizer.cpp, safepoint.cpp
        reason("(ObjectMonitor|ObjectSynchronizer)::(enter|reenter|EnterI|ReenterI).*", MONITOR);
        reason(
                "(SafepointSynchronize::block|SafepointMechanism::process).*",
                "the end of a stop of all Java threads");
        reason(
                "VMThread::(execute|wait_until_executed).*",
                "a stop of all Java threads (garbage collection or another VM operation)");
        // src/node_platform.cc, deps/uv/src/threadpool.c, deps/v8/src/libplatform
        reason(
                ".*PlatformWorkerThread.*|.*WorkerThreadsTaskRunner.*|.*DefaultWorkerThreads.*",
                RUNTIME_WORK);
        reason("(pthread_barrier_wait|___?pthread_barrier_wait).*", "a barrier");
        reason(
                "(__new_sem_wait|__sem_wait|sem_(clock|timed)?wait|do_futex_wait|__new_sem).*",
                "a semaphore");
        reason(
                "(_Unwind_Find_FDE|_?_?dl_iterate_phdr|__GI___dl_iterate_phdr).*",
                "a lock of the loader (an exception was thrown)");
    }

    private static final Pattern ALLOCATOR =
            Pattern.compile(
                    "(__libc_)?(malloc|calloc|realloc|free|memalign|cfree)"
                            + "|_int_(malloc|free|realloc|memalign).*|arena_get.*|__malloc_.*"
                            + "|sys(malloc|trim)|malloc_consolidate");

    private FutexReasons() {}

    /** The reason of a chain of user code, callee first; empty where it tells none. */
    static String of(List<String> chain) {
        List<String> near = chain.subList(0, Math.min(DEPTH, chain.size()));
        boolean allocator =
                near.stream()
                        .dropWhile(name -> !name.contains("lll_lock_wait"))
                        .limit(4)
                        .anyMatch(name -> ALLOCATOR.matcher(name).matches());
        if (allocator) {
            return WaitRules.LOCK + " of malloc";
        }
        for (Map.Entry<Pattern, String> known : REASONS.entrySet()) {
            if (near.stream().anyMatch(name -> known.getKey().matcher(name).matches())) {
                return known.getValue();
            }
        }
        return near.stream().anyMatch(FutexReasons::isLock) ? WaitRules.LOCK : "";
    }

    private static boolean isLock(String function) {
        return function.contains("lll_lock_wait")
                || function.contains("pthread_mutex_lock")
                || function.contains("pthread_mutex_timedlock")
                || function.contains("pthread_rwlock_");
    }
}
