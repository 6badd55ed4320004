package sonde.tools.kernel;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Optional;

/** The debugging aids of Linux: what builds one, which symbol it has, and where its state is. */
enum DebugFeatureTable {
    KASAN(
            "KASAN",
            "KASAN KASAN_GENERIC KASAN_SW_TAGS KASAN_HW_TAGS KASAN_OUTLINE KASAN_INLINE"
                    + " KASAN_VMALLOC KASAN_STACK",
            "kasan_report",
            (files, config) ->
                    built(
                            !files.parameter("kasan").equals(Optional.of("off")),
                            "/proc/cmdline (kasan=off switches tag-based modes off)"),
            "kasan.fault=panic and kasan_multi_shot on the boot command line"),
    KFENCE(
            "KFENCE",
            "KFENCE KFENCE_SAMPLE_INTERVAL",
            "__kfence_alloc",
            (files, _) -> number(files, "/sys/module/kfence/parameters/sample_interval"),
            "kfence.sample_interval=100 on the boot command line"),
    KMSAN("KMSAN", "KMSAN", "~ kmsan_report", (_, _) -> Optional.empty(), ""),
    KCSAN(
            "KCSAN",
            "KCSAN KCSAN_STRICT KCSAN_EARLY_ENABLE",
            "__tsan_read8",
            (files, _) -> line(files, KernelFiles.DEBUGFS + "/kcsan", "enabled: 1"),
            "echo on > /sys/kernel/debug/kcsan"),
    UBSAN(
            "UBSAN",
            "UBSAN UBSAN_BOUNDS UBSAN_SHIFT UBSAN_SIGNED_WRAP UBSAN_INTEGER_WRAP UBSAN_BOOL"
                    + " UBSAN_ENUM UBSAN_ALIGNMENT UBSAN_TRAP UBSAN_SANITIZE_ALL",
            "~ __ubsan_handle_out_of_bounds __ubsan_handle_shift_out_of_bounds"
                    + " __ubsan_handle_load_invalid_value",
            (_, _) -> Optional.empty(),
            ""),
    LOCKDEP(
            "lockdep",
            "LOCKDEP",
            "lock_acquire",
            // It switches itself off at its first report, or when the kernel is tainted by an oops.
            (files, _) ->
                    files.text("/proc/lockdep_stats")
                            .map(text ->
                                    sign(
                                            text.matches("(?s).*debug_locks:\\s+1\\b.*"),
                                            "debug_locks in /proc/lockdep_stats")),
            "a boot: lockdep stays off after its first report"),
    PROVE_LOCKING(
            "PROVE_LOCKING",
            "PROVE_LOCKING PROVE_RAW_LOCK_NESTING PROVE_RCU",
            "~ check_irq_usage",
            (files, _) -> number(files, "/sys/module/lockdep/parameters/prove_locking"),
            "echo 1 > /sys/module/lockdep/parameters/prove_locking"),
    LOCK_STAT(
            "lock statistics",
            "LOCK_STAT",
            "lock_contended",
            (files, _) -> number(files, "/proc/sys/kernel/lock_stat"),
            "sysctl kernel.lock_stat=1"),
    ATOMIC_SLEEP(
            "sleep in atomic context",
            "DEBUG_ATOMIC_SLEEP",
            "__might_sleep",
            (_, _) -> Optional.empty(),
            ""),
    KMEMLEAK(
            "kmemleak",
            "DEBUG_KMEMLEAK DEBUG_KMEMLEAK_DEFAULT_OFF DEBUG_KMEMLEAK_AUTO_SCAN",
            "kmemleak_free",
            (files, config) -> {
                String asked = files.parameter("kmemleak").orElse("");
                boolean isOff = asked.equals("off");
                isOff |= config.isSet("DEBUG_KMEMLEAK_DEFAULT_OFF") && !asked.equals("on");
                return built(!isOff, "/proc/cmdline and the configuration");
            },
            "kmemleak=on on the boot command line; sonde kernel kmemleak scan"),
    KGDB(
            "KGDB",
            "KGDB KGDB_SERIAL_CONSOLE KGDB_KDB",
            "kgdb_breakpoint",
            (files, _) ->
                    files.text("/sys/module/kgdboc/parameters/kgdboc")
                            .map(text ->
                                    sign(!text.isEmpty(), "/sys/module/kgdboc/parameters/kgdboc")),
            "echo ttyS0,115200 > /sys/module/kgdboc/parameters/kgdboc"),
    KDB("KDB", "KGDB_KDB", "kdb_main_loop", (_, _) -> Optional.empty(), ""),
    FAULT_INJECTION(
            "fault injection",
            "FAULT_INJECTION FAILSLAB FAIL_PAGE_ALLOC FAIL_MAKE_REQUEST FAIL_FUTEX FAIL_FUNCTION"
                    + " FAIL_IO_TIMEOUT FAULT_INJECTION_USERCOPY",
            "should_fail",
            (files, _) -> injection(files),
            "echo 10 > /sys/kernel/debug/failslab/probability"),
    SLUB_DEBUG(
            "slub_debug",
            "SLUB_DEBUG SLUB_DEBUG_ON",
            "~ check_object validate_slab_cache",
            (files, _) ->
                    files.text("/sys/kernel/slab/kmalloc-64/sanity_checks")
                            .map(text ->
                                    sign(
                                            text.equals("1"),
                                            "/sys/kernel/slab/kmalloc-64/sanity_checks")),
            "slub_debug=FZPU (Linux 6.9: slab_debug=FZPU) on the boot command line"),
    PAGE_OWNER(
            "page_owner",
            "PAGE_OWNER",
            "__set_page_owner",
            (files, _) ->
                    files.names(KernelFiles.DEBUGFS).isEmpty()
                            ? Optional.empty()
                            : built(
                                    files.has(KernelFiles.DEBUGFS + "/page_owner"),
                                    "/sys/kernel/debug/page_owner"),
            "page_owner=on on the boot command line"),
    HUNG_TASK(
            "hung tasks",
            "DETECT_HUNG_TASK",
            "reset_hung_task_detector",
            (files, _) ->
                    number(files, "/proc/sys/kernel/hung_task_timeout_secs")
                            .map(one -> budget(files, one)),
            "sysctl kernel.hung_task_timeout_secs=120 kernel.hung_task_warnings=-1"),
    SOFT_LOCKUP(
            "soft lockups",
            "SOFTLOCKUP_DETECTOR",
            "touch_softlockup_watchdog",
            (files, _) -> number(files, "/proc/sys/kernel/soft_watchdog"),
            "sysctl kernel.soft_watchdog=1"),
    HARD_LOCKUP(
            "hard lockups",
            "HARDLOCKUP_DETECTOR HARDLOCKUP_DETECTOR_PERF HARDLOCKUP_DETECTOR_BUDDY",
            "~ watchdog_hardlockup_check watchdog_overflow_callback",
            (files, _) -> number(files, "/proc/sys/kernel/nmi_watchdog"),
            "sysctl kernel.nmi_watchdog=1"),
    RCU_STALL(
            "RCU stalls",
            "RCU_STALL_COMMON",
            "rcu_cpu_stall_reset",
            (files, _) ->
                    files.number("/sys/module/rcupdate/parameters/rcu_cpu_stall_suppress")
                            .map(number ->
                                    sign(
                                            number == 0,
                                            "/sys/module/rcupdate/parameters/"
                                                    + "rcu_cpu_stall_suppress")),
            "echo 0 > /sys/module/rcupdate/parameters/rcu_cpu_stall_suppress"),
    WORKQUEUES(
            "stalled workqueues",
            "WQ_WATCHDOG",
            "wq_watchdog_touch",
            (files, _) -> number(files, "/sys/module/workqueue/parameters/watchdog_thresh"),
            "echo 30 > /sys/module/workqueue/parameters/watchdog_thresh"),
    DYNAMIC_DEBUG(
            "dynamic debug",
            "DYNAMIC_DEBUG DYNAMIC_DEBUG_CORE",
            "__dynamic_pr_debug",
            (files, _) ->
                    Optional.of("/proc/dynamic_debug/control")
                            .filter(files::has)
                            .map(file -> sign(true, file)),
            "sonde kernel dyndbg list"),
    SYSRQ(
            "magic SysRq",
            "MAGIC_SYSRQ MAGIC_SYSRQ_SERIAL",
            "handle_sysrq",
            (files, _) -> number(files, "/proc/sys/kernel/sysrq"),
            "sysctl kernel.sysrq=1"),
    CRASH_DUMP(
            "crash kernel",
            "CRASH_DUMP KEXEC KEXEC_FILE",
            "crash_kexec",
            (files, _) -> number(files, SetupCheck.crash(files, "loaded")),
            "sonde kernel check"),
    PSTORE(
            "pstore",
            "PSTORE PSTORE_RAM PSTORE_BLK PSTORE_CONSOLE",
            "pstore_register",
            (files, _) ->
                    files.text(SetupCheck.PSTORE_BACKEND)
                            .map(text -> sign(!text.equals("(null)"), SetupCheck.PSTORE_BACKEND)),
            "sonde kernel check"),
    KPROBES(
            "kprobes",
            "KPROBES KPROBES_ON_FTRACE OPTPROBES",
            "register_kprobe",
            (files, _) -> number(files, KernelFiles.DEBUGFS + "/kprobes/enabled"),
            "echo 1 > /sys/kernel/debug/kprobes/enabled"),
    UPROBES("uprobes", "UPROBE_EVENTS", "uprobe_register", (_, _) -> Optional.empty(), ""),
    FTRACE(
            "function tracing",
            "DYNAMIC_FTRACE DYNAMIC_FTRACE_WITH_REGS DYNAMIC_FTRACE_WITH_ARGS",
            "register_ftrace_function",
            (files, _) -> number(files, "/proc/sys/kernel/ftrace_enabled"),
            "sysctl kernel.ftrace_enabled=1"),
    FENTRY(
            "fentry",
            "DYNAMIC_FTRACE_WITH_DIRECT_CALLS",
            "register_ftrace_direct",
            (files, _) -> refused(files, "/sys/kernel/tracing/available_filter_functions"),
            ""),
    FUNCTION_ERRORS(
            "error injection of BPF",
            "BPF_KPROBE_OVERRIDE FUNCTION_ERROR_INJECTION",
            "~ bpf_override_return",
            (_, _) -> Optional.empty(),
            ""),
    BTF(
            "BTF",
            "DEBUG_INFO_BTF DEBUG_INFO_BTF_MODULES",
            "~ btf_vmlinux",
            (files, _) ->
                    Optional.of("/sys/kernel/btf/vmlinux")
                            .filter(files::has)
                            .map(file -> sign(true, file)),
            ""),
    BPF_JIT(
            "JIT of BPF",
            "BPF_JIT BPF_JIT_ALWAYS_ON",
            "~",
            (files, _) -> number(files, "/proc/sys/net/core/bpf_jit_enable"),
            "sysctl net.core.bpf_jit_enable=1"),
    PRINTK_CALLER("printk caller ids", "PRINTK_CALLER", "~", (_, _) -> Optional.empty(), "");

    /**
     * What a file says of the state.
     *
     * @param whenBuilt whether it only counts where something else says that the aid is built
     */
    record RuntimeSign(boolean on, String evidence, boolean whenBuilt) {}

    /** Looks at files. */
    @FunctionalInterface
    interface FeatureSign {
        Optional<RuntimeSign> of(KernelFiles files, KernelConfig config);
    }

    final String title;
    final List<String> configs;
    final List<String> symbols;

    /** Whether a kernel without these symbols lacks the aid: they are not static or inlined. */
    final boolean isKnownBySymbol;

    final FeatureSign sign;
    final String change;

    DebugFeatureTable(
            String title, String configs, String symbols, FeatureSign sign, String change) {
        this.title = title;
        this.configs = List.of(configs.split(" "));
        this.symbols = List.of(symbols.split(" "));
        isKnownBySymbol = !symbols.startsWith("~");
        this.sign = sign;
        this.change = change;
    }

    private static RuntimeSign sign(boolean on, String evidence) {
        return new RuntimeSign(on, evidence, false);
    }

    private static Optional<RuntimeSign> built(boolean on, String evidence) {
        return Optional.of(new RuntimeSign(on, evidence, true));
    }

    /** A file with a number, 0 for off, or with Y and N. */
    private static Optional<RuntimeSign> number(KernelFiles files, String file) {
        return files.text(file)
                .map(text -> sign(!text.equals("0") && !text.equals("N"), file + " = " + text));
    }

    /** A file that is there, and that the kernel keeps closed even for root, as under lockdown. */
    private static Optional<RuntimeSign> refused(KernelFiles files, String file) {
        try (InputStream in = Files.newInputStream(files.path(file))) {
            return in.read() >= 0 ? Optional.empty() : built(false, file + " is empty");
        } catch (NoSuchFileException | AccessDeniedException e) {
            return Optional.empty(); // not mounted, or closed to this user
        } catch (IOException e) {
            String reason = e instanceof FileSystemException at ? at.getReason() : null;
            return built(false, file + ": " + (reason == null ? e.getMessage() : reason));
        }
    }

    private static Optional<RuntimeSign> line(KernelFiles files, String file, String line) {
        return files.text(file)
                .map(text -> sign(text.lines().anyMatch(line::equals), line + " in " + file));
    }

    private static Optional<RuntimeSign> injection(KernelFiles files) {
        List<String> all =
                files.names(KernelFiles.DEBUGFS).stream()
                        .map(name -> KernelFiles.DEBUGFS + "/" + name + "/probability")
                        .filter(files::has)
                        .toList();
        Optional<String> on =
                all.stream().filter(file -> files.number(file).orElse(0L) > 0).findFirst();
        return on.or(() -> all.stream().findFirst()).flatMap(file -> number(files, file));
    }

    /** Reports end when their number is used up: kernel/hung_task.c. */
    private static RuntimeSign budget(KernelFiles files, RuntimeSign timeout) {
        String file = "/proc/sys/kernel/hung_task_warnings";
        return timeout.on() && files.number(file).orElse(1L) == 0
                ? sign(false, file + " = 0: all warnings are used up")
                : timeout;
    }
}
