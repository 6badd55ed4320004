package sonde.tools.report.answer;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import sonde.analysis.stack.CallTreeBuilder;
import sonde.event.result.Frame;

/** What a thread waited for, by the functions of its chain, where these say more than the call. */
final class KernelReasons {
    private static final String MAPPED = "a mapped file's pages (page fault)";

    static final String TRACER = "its tracer (ptrace)";

    /** Functions of the kernel, and what they wait for. */
    private static final Map<String, String> KERNEL = new LinkedHashMap<>();

    static {
        KERNEL.put("do_swap_page", "memory from swap");
        KERNEL.put("balance_dirty_pages", "write-back of written pages");
        KERNEL.put("jbd2_log_wait_commit", "a commit of the file system's journal");
        KERNEL.put("filemap_fault", MAPPED);
        KERNEL.put("do_signal_stop", "SIGCONT or its tracer (stopped)");
        KERNEL.put("ptrace_stop", TRACER);
        KERNEL.put("try_to_free_pages", "free memory (reclaim)");
        KERNEL.put("mem_cgroup_handle_over_high", "free memory of its cgroup");
        KERNEL.put("do_freezer_trap", "its cgroup to be thawed");
    }

    private static final Pattern DIRECT =
            Pattern.compile("_*iomap_dio_(rw|complete)|.*blkdev_direct_(IO|read|write).*");

    /** fs/ext4/fsync.c and its like, below generic_write_sync. */
    private static final Pattern SYNC =
            Pattern.compile("\\w+_sync_file|\\w+_file_fsync|vfs_fsync_range|generic_\\w*fsync\\w*");

    private static final String PAGE_WAIT = "folio_wait_bit_common";

    private static final Pattern LOCKING =
            Pattern.compile(
                    "rwsem_down_.*|down_(read|write).*|_*mutex_lock.*|_*ww_mutex_lock.*"
                            + "|_*percpu_down_.*|percpu_rwsem_wait|_*rt_mutex_.*|_*down(_\\w+)?");

    /** Before the function of a wait in no system call, of which no more is known. */
    static final String FUNCTION = "the kernel function ";

    private final CallTreeBuilder trees;

    KernelReasons(CallTreeBuilder trees) {
        this.trees = trees;
    }

    String of(int node, String call) {
        List<Frame> chain = node < 0 ? List.of() : trees.chain(node).reversed();
        String reason = reason(chain, call);
        String function = reason.isEmpty() && call.isEmpty() ? trees.waitsIn(node) : "";
        return function.isEmpty() ? reason : FUNCTION + function;
    }

    /**
     * mm/oom_kill.c, mm/memcontrol.c: why the kernel sent SIGKILL; empty where somebody else did.
     */
    String killer(int node) {
        List<String> kernel =
                node < 0 ? List.of() : trees.chain(node).stream().map(Frame::name).toList();
        if (kernel.stream().noneMatch(name -> name.contains("oom_kill_process"))) {
            return "";
        }
        return kernel.contains("mem_cgroup_out_of_memory")
                ? "the memory limit of its cgroup was reached"
                : "the machine had no memory left";
    }

    /** arch/x86/entry/common.c, arch/arm64/kernel/syscall.c. */
    private static final Pattern ENTRY =
            Pattern.compile("entry_SYSCALL_.*|_*do_(fast_)?syscall_\\w+|(do_)?el0_svc.*");

    /** Whether a sample was taken in a system call, also where its own function is not running. */
    boolean isCall(int node) {
        return trees.chain(node).reversed().stream()
                .takeWhile(frame -> frame.kind() == Frame.Kind.KERNEL)
                .anyMatch(frame -> ENTRY.matcher(frame.name()).matches());
    }

    /** Whether a sample was taken in a page fault. */
    boolean isFault(int node) {
        return node >= 0
                && trees.chain(node).reversed().stream()
                        .takeWhile(frame -> frame.kind() == Frame.Kind.KERNEL)
                        .anyMatch(frame -> FAULTS.contains(frame.name()));
    }

    /** arch/x86/mm/fault.c, arch/arm64/mm/fault.c. */
    private static final Set<String> FAULTS =
            Set.of(
                    "exc_page_fault",
                    "asm_exc_page_fault",
                    "do_user_addr_fault",
                    "do_page_fault",
                    "do_mem_abort",
                    "handle_mm_fault");

    static String reason(List<Frame> chain, String call) {
        List<String> kernel =
                chain.stream()
                        .takeWhile(frame -> frame.kind() == Frame.Kind.KERNEL)
                        .map(Frame::name)
                        .toList();
        if (call.equals("futex")) {
            List<String> user =
                    chain.stream()
                            .dropWhile(frame -> frame.kind() == Frame.Kind.KERNEL)
                            .map(Frame::name)
                            .toList();
            return FutexReasons.of(user);
        }
        boolean isMemory = kernel.stream().anyMatch(KernelReasons::isAddressSpace);
        if (isMemory && kernel.stream().anyMatch(name -> name.startsWith("rwsem_down_"))) {
            return "the lock of its address space (mmap_lock)";
        }
        for (Map.Entry<String, String> known : KERNEL.entrySet()) {
            if (kernel.contains(known.getKey())) {
                return known.getValue();
            }
        }
        String lock = kernelLock(kernel);
        return lock.isEmpty() ? disk(kernel, call) : lock;
    }

    /** Why a call that reads or writes a file waits for the disk; empty where it does not. */
    private static String disk(List<String> kernel, String call) {
        if (kernel.stream().anyMatch(name -> DIRECT.matcher(name).matches())) {
            return "the disk (O_DIRECT)";
        }
        boolean writes = call.contains("write");
        if (writes && kernel.stream().anyMatch(name -> SYNC.matcher(name).matches())) {
            return "the disk (O_SYNC or O_DSYNC)";
        }
        boolean misses = kernel.contains("filemap_get_pages") && kernel.contains(PAGE_WAIT);
        return misses ? "the disk (not in the page cache)" : "";
    }

    /** kernel/locking: who takes a mutex or semaphore of the kernel; empty where nobody does. */
    private static String kernelLock(List<String> kernel) {
        boolean locks = false;
        for (String function : kernel) {
            if (LOCKING.matcher(function).matches()) {
                locks = true;
            } else if (locks) {
                return "a kernel lock taken in " + function;
            }
        }
        return "";
    }

    /** mm/mmap.c, mm/memory.c, kernel/fork.c: all take mmap_lock. */
    private static boolean isAddressSpace(String function) {
        return function.contains("munmap")
                || function.contains("vm_mmap")
                || function.contains("mprotect")
                || function.contains("madvise")
                || function.contains("sys_brk")
                || function.contains("lock_mm_and_find_vma")
                || function.contains("do_user_addr_fault");
    }
}
