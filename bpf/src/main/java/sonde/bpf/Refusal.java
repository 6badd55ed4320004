package sonde.bpf;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;
import sonde.sys.Files;
import sonde.sys.SyscallException;

/** Finds out why bpf(2) said no when the verifier did not speak. */
final class Refusal {
    private static final int CAP_SYS_ADMIN = 21;
    private static final int CAP_PERFMON = 38;
    private static final int CAP_BPF = 39;
    private static final int SMALL_FILE = 65536;

    private Refusal() {}

    /** The refusal behind an errno; null when the errno is no refusal. */
    static @Nullable BpfRefusedException of(String what, int errno) {
        if (errno == Errno.ENOSYS) {
            return new BpfRefusedException(
                    what,
                    errno,
                    "the kernel has no bpf(2)",
                    "boot a kernel with CONFIG_BPF_SYSCALL=y");
        }
        if (errno != Errno.EPERM && errno != Errno.EACCES) {
            return null;
        }
        return capabilities(what, errno);
    }

    private static BpfRefusedException capabilities(String what, int errno) {
        long effective = effectiveCapabilities();
        boolean admin = has(effective, CAP_SYS_ADMIN);
        if (!admin && !(has(effective, CAP_BPF) && has(effective, CAP_PERFMON))) {
            return new BpfRefusedException(
                    what,
                    errno,
                    "this thread lacks CAP_BPF and CAP_PERFMON",
                    "run as root, or give both (Linux 5.8; before that CAP_SYS_ADMIN)");
        }
        String lockdown = read("/sys/kernel/security/lockdown");
        if (lockdown.contains("[confidentiality]")) {
            return new BpfRefusedException(
                    what,
                    errno,
                    "kernel lockdown is in confidentiality mode",
                    "boot with lockdown=integrity or without Secure Boot");
        }
        return new BpfRefusedException(
                what,
                errno,
                "a security policy of this kernel forbids it ("
                        + Errno.describe(errno)
                        + ", no verifier log)",
                "look for an LSM, seccomp filter or container runtime that filters bpf(2)");
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
            return new String(Files.readAll(path, SMALL_FILE), StandardCharsets.ISO_8859_1);
        } catch (SyscallException e) {
            return "";
        }
    }
}
