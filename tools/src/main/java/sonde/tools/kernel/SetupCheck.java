package sonde.tools.kernel;

import java.util.ArrayList;
import java.util.List;
import sonde.event.result.Result;
import sonde.tools.kernel.KernelSetting.SettingVerdict;

/**
 * Whether this machine keeps what a crash, a message or a trace would tell: each setting with what
 * it means and the line that changes it. Changes nothing.
 */
public final class SetupCheck {
    static final String PSTORE_BACKEND = "/sys/module/pstore/parameters/backend";
    private static final String SYSCTL = "/proc/sys/kernel/";

    private final KernelFiles files;
    private final List<KernelSetting> settings = new ArrayList<>();

    private SetupCheck(KernelFiles files) {
        this.files = files;
    }

    /** Looks at everything. */
    public static SetupCheck of(KernelFiles files) {
        SetupCheck check = new SetupCheck(files);
        check.settings.addAll(new DumpCheck(files).settings());
        check.panic();
        check.settings.addAll(new LogCheck(files).settings());
        check.core();
        check.accounting();
        check.observers();
        check.mounts();
        return check;
    }

    /** What was found. */
    public Result result() {
        return KernelSetting.result("settings", settings);
    }

    /** Whether something of it is a problem. */
    public boolean hasProblems() {
        return settings.stream().anyMatch(one -> one.verdict() == SettingVerdict.PROBLEM);
    }

    List<KernelSetting> settings() {
        return settings;
    }

    /** A file of the crash kernel: Linux 6.19 moved kexec_crash_* to kexec/crash_*. */
    static String crash(KernelFiles files, String name) {
        String now = "/sys/kernel/kexec/crash_" + name;
        return files.has(now) ? now : "/sys/kernel/kexec_crash_" + name;
    }

    private void panic() {
        boolean dumps = files.number(crash(files, "loaded")).orElse(0L) == 1;
        files.number(SYSCTL + "panic")
                .ifPresent(seconds -> {
                    String name = "reboot after a panic (kernel.panic)";
                    settings.add(
                            seconds != 0
                                    ? KernelSetting.ok(
                                            name,
                                            seconds.toString(),
                                            seconds < 0
                                                    ? "The machine reboots at once."
                                                    : "The machine reboots after "
                                                            + seconds
                                                            + " s.")
                                    : dumps
                                            ? KernelSetting.ok(
                                                    name, "0", "The crash kernel starts instead.")
                                            : KernelSetting.problem(
                                                    name,
                                                    "0",
                                                    "After a panic the machine stands still until"
                                                            + " somebody switches it off.",
                                                    "sysctl kernel.panic=10   (boot: panic=10;"
                                                            + " build: CONFIG_PANIC_TIMEOUT)"));
                });
        boolean atBoot = files.parameter("oops").orElse("").equals("panic");
        flag(
                "panic_on_oops",
                "An oops ends the machine" + (dumps ? " and leaves a dump." : "."),
                "An oops ends one task, and the kernel goes on in a state that nobody knows"
                        + (dumps ? "; the loaded crash kernel makes no dump of it." : "."),
                "sysctl kernel.panic_on_oops=1   (boot: oops=panic; build: CONFIG_PANIC_ON_OOPS)",
                dumps);
        if (atBoot && files.number(SYSCTL + "panic_on_oops").orElse(1L) == 0) {
            settings.add(
                    KernelSetting.note(
                            "oops=panic",
                            "overruled",
                            "The boot command line has oops=panic; kernel.panic_on_oops was"
                                    + " set to 0 since.",
                            "sysctl kernel.panic_on_oops=1"));
        }
        for (String row :
                List.of(
                        "panic_on_warn A WARN",
                        "panic_on_rcu_stall An RCU stall",
                        "hung_task_panic A hung task",
                        "softlockup_panic A soft lockup",
                        "hardlockup_panic A hard lockup",
                        "panic_on_unrecovered_nmi An NMI that no handler knows",
                        "panic_on_io_nmi An NMI of a failed bus")) {
            String what = row.substring(row.indexOf(' ') + 1);
            String ends = what + " ends the machine" + (dumps ? " and leaves a dump." : ".");
            flag(row.substring(0, row.indexOf(' ')), ends, what + " is logged only.", "", false);
        }
        files.number(SYSCTL + "oops_limit")
                .ifPresent(limit ->
                        settings.add(
                                KernelSetting.ok(
                                        "kernel.oops_limit",
                                        limit.toString(),
                                        limit == 0
                                                ? "Oopses are not counted."
                                                : "The machine panics at this number of"
                                                        + " oopses.")));
        files.number(SYSCTL + "panic_print")
                .ifPresent(mask ->
                        settings.add(
                                mask == 0
                                        ? KernelSetting.ok(
                                                "kernel.panic_print",
                                                "0",
                                                "A panic prints its own stack only; bit 0 adds all"
                                                        + " tasks, bit 1 memory, bit 3 locks.")
                                        : KernelSetting.ok(
                                                "kernel.panic_print",
                                                mask.toString(),
                                                "A panic prints more than its own stack.")));
    }

    private void flag(String name, String on, String off, String change, boolean noteWhenOff) {
        files.number(SYSCTL + name)
                .ifPresent(value -> {
                    boolean isOff = value == 0;
                    settings.add(
                            new KernelSetting(
                                    "kernel." + name,
                                    value.toString(),
                                    isOff && noteWhenOff ? SettingVerdict.NOTE : SettingVerdict.OK,
                                    isOff ? off : on,
                                    isOff && noteWhenOff ? change : ""));
                });
    }

    /** core(5). */
    private void core() {
        String name = "core dumps of programs (kernel.core_pattern)";
        String pattern = files.text(SYSCTL + "core_pattern", "");
        if (pattern.startsWith("|")) {
            String program = pattern.substring(1).strip().split("\\s+", 2)[0];
            settings.add(
                    files.has(program)
                            ? KernelSetting.ok(
                                    name,
                                    pattern,
                                    program.endsWith("systemd-coredump")
                                            ? "coredumpctl lists and keeps them."
                                            : "This program gets each dump.")
                            : KernelSetting.problem(
                                    name,
                                    pattern,
                                    "The program " + program + " is missing: dumps are lost.",
                                    "sysctl kernel.core_pattern=/var/crash/core.%e.%p.%t"));
        } else if (pattern.isEmpty()) {
            settings.add(
                    KernelSetting.problem(
                            name,
                            "empty",
                            "No file is written.",
                            "sysctl kernel.core_pattern=/var/crash/core.%e.%p.%t"));
        } else {
            boolean fixed = !pattern.contains("%") && !pattern.contains("/");
            settings.add(
                    fixed
                            ? KernelSetting.note(
                                    name,
                                    pattern,
                                    "Each dump is written to the folder of the program, over the"
                                            + " one before, and only where 'ulimit -c' allows it.",
                                    "sysctl kernel.core_pattern=/var/crash/core.%e.%p.%t")
                            : KernelSetting.ok(
                                    name, pattern, "A file, where 'ulimit -c' allows it."));
        }
    }

    private void accounting() {
        String name = "waiting times of tasks (kernel.task_delayacct)";
        settings.add(
                files.number(SYSCTL + "task_delayacct")
                        .map(on ->
                                on != 0
                                        ? KernelSetting.ok(
                                                name, "1", "iotop and getdelays have numbers.")
                                        : KernelSetting.note(
                                                name,
                                                "0",
                                                "The kernel counts no waits for I/O, swap and"
                                                        + " reclaim of each task (Linux 5.14).",
                                                "sysctl kernel.task_delayacct=1   (boot:"
                                                        + " delayacct)"))
                        .orElse(
                                KernelSetting.unknown(
                                        name,
                                        "The kernel is built without CONFIG_TASK_DELAY_ACCT, or"
                                                + " older than 5.14, where delayacct is the"
                                                + " default.",
                                        "")));
        KernelConfig config = files.config();
        if (config.isKnown() && !config.isSet("TASKSTATS")) {
            settings.add(
                    KernelSetting.note(
                            "taskstats",
                            "absent",
                            "iotop and getdelays cannot ask this kernel.",
                            "build: CONFIG_TASKSTATS, CONFIG_TASK_DELAY_ACCT"));
        }
    }

    private void observers() {
        files.number(SYSCTL + "perf_event_paranoid")
                .ifPresent(level -> settings.add(paranoid(level)));
        files.number(SYSCTL + "kptr_restrict")
                .ifPresent(level ->
                        settings.add(
                                new KernelSetting(
                                        "kernel addresses (kernel.kptr_restrict)",
                                        level.toString(),
                                        level == 2 ? SettingVerdict.NOTE : SettingVerdict.OK,
                                        level == 2
                                                ? "Nobody sees kernel addresses: tools cannot name"
                                                        + " functions of the kernel."
                                                : "Root sees kernel addresses.",
                                        level == 2 ? "sysctl kernel.kptr_restrict=1" : "")));
        files.text("/sys/kernel/security/lockdown")
                .ifPresent(text -> {
                    boolean isOff = text.contains("[none]");
                    settings.add(
                            isOff
                                    ? KernelSetting.ok("lockdown", text, "Root may trace.")
                                    : KernelSetting.note(
                                            "lockdown",
                                            text,
                                            "Root may not read kernel memory: kprobes, BPF and"
                                                    + " perf are limited.",
                                            "a boot without lockdown= and secure boot"));
                });
        SysrqKey.mask(files)
                .ifPresentOrElse(
                        mask ->
                                settings.add(
                                        new KernelSetting(
                                                "magic SysRq (kernel.sysrq)",
                                                Long.toString(mask),
                                                mask == 0 ? SettingVerdict.NOTE : SettingVerdict.OK,
                                                SysrqKey.describe(mask),
                                                mask == 1 ? "" : "sysctl kernel.sysrq=1")),
                        () ->
                                settings.add(
                                        KernelSetting.note(
                                                "magic SysRq",
                                                "absent",
                                                "A hung machine cannot be asked for its tasks.",
                                                "build: CONFIG_MAGIC_SYSRQ")));
    }

    /** kernel.perf_event_paranoid; 3 and 4 are Debian's, Ubuntu's and Android's. */
    private static KernelSetting paranoid(long level) {
        String meaning =
                level < 0
                        ? "Every user may use all events."
                        : level == 0
                                ? "Users without CAP_PERFMON get no raw tracepoints."
                                : level == 1
                                        ? "Users without CAP_PERFMON get only their own processes."
                                        : level == 2
                                                ? "Users without CAP_PERFMON get only their own"
                                                        + " processes, in user space."
                                                : "Users without CAP_PERFMON get no events.";
        String name = "perf for users (kernel.perf_event_paranoid)";
        return level <= 2
                ? KernelSetting.ok(name, Long.toString(level), meaning)
                : KernelSetting.note(
                        name,
                        Long.toString(level),
                        meaning,
                        "sysctl kernel.perf_event_paranoid=1   (or run as root)");
    }

    private void mounts() {
        List<String> types =
                files.text("/proc/filesystems", "").lines().map(String::strip).toList();
        for (String row :
                List.of(
                        "debugfs /sys/kernel/debug",
                        "tracefs /sys/kernel/tracing",
                        "bpf /sys/fs/bpf",
                        "pstore /sys/fs/pstore",
                        "securityfs /sys/kernel/security")) {
            String type = row.substring(0, row.indexOf(' '));
            String place = row.substring(row.indexOf(' ') + 1);
            boolean known =
                    types.stream()
                            .anyMatch(line -> line.replaceFirst("nodev\\s+", "").equals(type));
            String at =
                    files.text("/proc/self/mounts", "")
                            .lines()
                            .map(line -> line.split(" "))
                            .filter(parts -> parts.length > 2 && parts[2].equals(type))
                            .map(parts -> parts[1])
                            .findFirst()
                            .orElse("");
            String name = "file system " + type;
            settings.add(
                    !at.isEmpty()
                            ? KernelSetting.ok(name, at, "It is mounted.")
                            : known
                                    ? KernelSetting.note(
                                            name,
                                            "not mounted",
                                            "Tools do not find its files.",
                                            "mount -t " + type + " none " + place)
                                    : KernelSetting.note(
                                            name, "absent", "This kernel does not have it.", ""));
        }
    }
}
