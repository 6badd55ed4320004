package sonde.bpf;

import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfRefusedException.Barrier;
import sonde.bpf.call.BpfAttr;
import sonde.sys.Errno;
import sonde.sys.FileCalls;
import sonde.sys.MachineFacts;
import sonde.sys.SyscallException;

/** Finds out why bpf(2) said no when the verifier did not speak. */
public final class RefusalCause {
    private static final int CAP_SYS_ADMIN = 21;
    private static final int CAP_PERFMON = 38;
    private static final int CAP_BPF = 39;
    private static final int SMALL_FILE = 65536;
    private static final Pattern RELEASE = Pattern.compile("(\\d{1,4})\\.(\\d{1,4})");

    private RefusalCause() {}

    /** The refusal behind an errno; null when the errno is no refusal. */
    public static @Nullable BpfRefusedException of(String what, int errno) {
        if (errno == Errno.ENOSYS) {
            return new BpfRefusedException(
                    what,
                    errno,
                    Barrier.NO_SYSCALL,
                    "the kernel has no bpf(2)",
                    "boot a kernel with CONFIG_BPF_SYSCALL=y");
        }
        if (errno != Errno.EPERM && errno != Errno.EACCES) {
            return null;
        }
        return capabilities(what, errno);
    }

    /** The refusal of a program about which the verifier wrote nothing; null for other errors. */
    static @Nullable BpfRefusedException ofProgram(
            String what, ProgramType type, int slots, int errno) {
        return switch (errno) {
            // bpf_prog_load: insn_cnt is 0 or above the limit.
            case Errno.E2BIG ->
                    new BpfRefusedException(
                            what,
                            errno,
                            Barrier.UNSUPPORTED,
                            "it has "
                                    + slots
                                    + " instructions, and a program has 1 to "
                                    + (isPrivileged() ? "1000000" : "4096 without CAP_BPF"),
                            "");
            case Errno.EINVAL ->
                    new BpfRefusedException(
                            what,
                            errno,
                            "this kernel does not know "
                                    + type.kernelName()
                                    + " programs, or not for that place",
                            "use a newer one");
            // bpf_prog_select_runtime: machine code could not be made, and there is no interpreter.
            case BpfAttr.ENOTSUPP ->
                    new BpfRefusedException(
                            what,
                            errno,
                            Barrier.JIT,
                            "the kernel's compiler refused it (limit of its memory: "
                                    + read("/proc/sys/net/core/bpf_jit_limit").strip()
                                    + " bytes)",
                            "raise net.core.bpf_jit_limit, or unload other programs");
            default -> of(what, errno);
        };
    }

    private static BpfRefusedException capabilities(String what, int errno) {
        long effective = effectiveCapabilities();
        boolean admin = has(effective, CAP_SYS_ADMIN);
        if (!admin && !(has(effective, CAP_BPF) && has(effective, CAP_PERFMON))) {
            String closed = read("/proc/sys/kernel/unprivileged_bpf_disabled").strip();
            boolean open = closed.isEmpty() || closed.equals("0");
            return new BpfRefusedException(
                    what,
                    errno,
                    Barrier.CAPABILITY,
                    "this thread lacks "
                            + lacking(effective)
                            + (open ? "" : ", and kernel.unprivileged_bpf_disabled is " + closed),
                    "run as root, or give both (Linux 5.8; before that CAP_SYS_ADMIN)");
        }
        String lockdown = read("/sys/kernel/security/lockdown");
        if (lockdown.contains("[confidentiality]")) {
            return new BpfRefusedException(
                    what,
                    errno,
                    Barrier.LOCKDOWN,
                    "kernel lockdown is in confidentiality mode",
                    "boot with lockdown=integrity or without Secure Boot");
        }
        if (lockedMemoryCounts()) {
            return new BpfRefusedException(
                    what,
                    errno,
                    Barrier.MEMLOCK,
                    "the memory this process may lock is used up (RLIMIT_MEMLOCK)",
                    "raise it: ulimit -l unlimited, or prlimit(1)");
        }
        return new BpfRefusedException(
                what,
                errno,
                Barrier.POLICY,
                "a security policy of this kernel forbids it ("
                        + Errno.describe(errno)
                        + ", no verifier log)",
                "look for an LSM, seccomp filter or container runtime that filters bpf(2)");
    }

    private static String lacking(long effective) {
        String bpf = has(effective, CAP_BPF) ? "" : "CAP_BPF";
        String perfmon = has(effective, CAP_PERFMON) ? "" : "CAP_PERFMON";
        return bpf + (bpf.isEmpty() || perfmon.isEmpty() ? "" : " and ") + perfmon;
    }

    private static boolean isPrivileged() {
        long effective = effectiveCapabilities();
        return has(effective, CAP_BPF) || has(effective, CAP_SYS_ADMIN);
    }

    /** Maps and programs counted as locked memory until Linux 5.11; a limit of some kB is it. */
    private static boolean lockedMemoryCounts() {
        Matcher release = RELEASE.matcher(MachineFacts.uname().release());
        if (!release.lookingAt()) {
            return false;
        }
        int major = Integer.parseInt(release.group(1));
        boolean old = major < 5 || major == 5 && Integer.parseInt(release.group(2)) < 11;
        for (String line : read("/proc/self/limits").lines().toList()) {
            if (line.startsWith("Max locked memory") && !line.contains("unlimited")) {
                return old;
            }
        }
        return false;
    }

    private static boolean has(long capabilities, int capability) {
        return (capabilities >> capability & 1) != 0;
    }

    /** CapEff of this thread; all when it cannot be read, so that others are not blamed. */
    private static long effectiveCapabilities() {
        for (String line : read("/proc/thread-self/status").lines().toList()) {
            if (line.startsWith("CapEff:")) {
                return Long.parseUnsignedLong(line.substring("CapEff:".length()).strip(), 16);
            }
        }
        return -1;
    }

    private static String read(String path) {
        try {
            return new String(FileCalls.readAll(path, SMALL_FILE), StandardCharsets.ISO_8859_1);
        } catch (SyscallException e) {
            return "";
        }
    }
}
