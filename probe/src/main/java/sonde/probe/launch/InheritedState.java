package sonde.probe.launch;

import java.io.File;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.ResourceLimit;
import sonde.sys.SignalDispositions;
import sonde.sys.SyscallException;

/**
 * What this process was given when it started, and so what the recorded command is to get. A JVM
 * changes some of it for itself; three things it hides completely, so the launcher script passes
 * them in variables of its own, which the command does not see:
 *
 * <ul>
 *   <li>{@code SONDE_SIGIGN}: the {@code SigIgn} line's value of /proc/self/status, 16 hex digits.
 *       HotSpot puts handlers over an ignored SIGPIPE, SIGQUIT or SIGXFSZ.
 *   <li>{@code SONDE_NOFILE}: the soft limit of open files, a number or {@code unlimited}. HotSpot
 *       raises it to the hard limit unless it runs with {@code -XX:-MaxFDLimit}.
 *   <li>{@code SONDE_FDS}: the inherited descriptors, separated by blanks. The JDK opens its module
 *       image and jars without O_CLOEXEC; without the variable they are told by their paths.
 * </ul>
 *
 * <p>{@code SONDE_KEEP_NAME} holds what a variable was that the JVM must not see, or sees with
 * another value (settings of Java, LC_ALL): {@code =VALUE}, empty when there was none. {@code
 * SONDE_CLOSED} lists the standard streams that were closed.
 *
 * <p>The mask of blocked signals needs no variable: the java launcher's first thread keeps it. The
 * coredump_filter is taken from the parent process, because HotSpot widens its own.
 *
 * @param environment {@code NAME=value}, byte for byte, without variables of ours
 * @param limits soft and hard limit of each resource, by number
 * @param ignoredSignals set of signals as {@link SignalDispositions#bit}
 * @param blockedSignals set of signals
 * @param descriptors open descriptors that are to survive execve
 * @param coredumpFilter bits of /proc/PID/coredump_filter
 * @param nice nice value of the first thread
 * @param cpus CPUs it may run on
 */
public record InheritedState(
        List<byte[]> environment,
        List<ResourceLimit> limits,
        long ignoredSignals,
        long blockedSignals,
        BitSet descriptors,
        int coredumpFilter,
        int nice,
        BitSet cpus) {
    /** Variables with this prefix are between our launcher script and us. */
    static final String OWN_PREFIX = "SONDE_";

    private static final String KEPT_PREFIX = "SONDE_KEEP_";

    /** Variables of {@link #OWN_PREFIX} that are not the user's. */
    private static final Set<String> OF_THE_LAUNCHER =
            Set.of("SONDE_CLOSED", "SONDE_SIGIGN", "SONDE_CACHE", "SONDE_CALLED");

    private static final int ENVIRONMENT_LIMIT = 64 << 20;
    private static final int STATUS_LIMIT = 64 << 10;
    private static final int MAX_DESCRIPTORS = 1 << 20;
    private static final int DEFAULT_COREDUMP_FILTER = 0x33;

    /**
     * Looks now. To be called first in main: descriptors opened and limits changed before this
     * count as given.
     */
    public static InheritedState capture() throws SyscallException {
        List<byte[]> environment = new ArrayList<>();
        Map<String, String> own = new TreeMap<>();
        for (byte[] variable :
                CommandWords.split(FileCalls.readAll("/proc/self/environ", ENVIRONMENT_LIMIT))) {
            String text = new String(variable, StandardCharsets.ISO_8859_1);
            if (text.startsWith(OWN_PREFIX)) {
                int equals = text.indexOf('=');
                own.put(text.substring(0, Math.max(0, equals)), text.substring(equals + 1));
            } else {
                environment.add(variable);
            }
        }
        restoreKept(environment, own);
        int pid = ProcessCalls.getpid();
        String status = text("/proc/self/status");
        String first = text("/proc/self/task/" + pid + "/status");
        return new InheritedState(
                List.copyOf(environment),
                limits(own.get("SONDE_NOFILE")),
                ignored(own.get("SONDE_SIGIGN"), status),
                hexadecimal(line(first, "SigBlk")),
                descriptors(own.get("SONDE_FDS"), own.getOrDefault("SONDE_CLOSED", "")),
                coredumpFilter(line(status, "PPid")),
                ProcessCalls.nice(pid),
                ProcessCalls.affinity(pid));
    }

    /**
     * This with words added to a variable of the environment, behind a blank when it has some.
     *
     * @param name of the variable
     */
    public InheritedState withWords(String name, String words) {
        byte[] prefix = (name + "=").getBytes(StandardCharsets.ISO_8859_1);
        byte[] added = words.getBytes(StandardCharsets.UTF_8);
        List<byte[]> changed = new ArrayList<>();
        byte[] variable = prefix;
        for (byte[] entry : environment) {
            if (entry.length >= prefix.length
                    && Arrays.equals(entry, 0, prefix.length, prefix, 0, prefix.length)) {
                variable = Arrays.copyOf(entry, entry.length + 1);
                variable[entry.length] = ' ';
            } else {
                changed.add(entry);
            }
        }
        byte[] whole = Arrays.copyOf(variable, variable.length + added.length);
        System.arraycopy(added, 0, whole, variable.length, added.length);
        changed.add(whole);
        return withEnvironment(changed);
    }

    private InheritedState withEnvironment(List<byte[]> changed) {
        return new InheritedState(
                List.copyOf(changed),
                limits,
                ignoredSignals,
                blockedSignals,
                descriptors,
                coredumpFilter,
                nice,
                cpus);
    }

    /**
     * This with another value of a variable of the environment.
     *
     * @param value null for a variable that there is not to be
     */
    public InheritedState withVariable(String name, @Nullable String value) {
        byte[] prefix = (name + "=").getBytes(StandardCharsets.UTF_8);
        List<byte[]> changed = new ArrayList<>(environment);
        changed.removeIf(one ->
                one.length >= prefix.length
                        && Arrays.equals(one, 0, prefix.length, prefix, 0, prefix.length));
        if (value != null) {
            changed.add((name + "=" + value).getBytes(StandardCharsets.UTF_8));
        }
        return withEnvironment(changed);
    }

    /** Gives variables back what the launcher took from them. */
    private static void restoreKept(List<byte[]> environment, Map<String, String> own) {
        own.forEach((kept, value) -> {
            if (kept.startsWith(KEPT_PREFIX)) {
                String name = kept.substring(KEPT_PREFIX.length());
                environment.removeIf(variable ->
                        new String(variable, StandardCharsets.ISO_8859_1).startsWith(name + "="));
                if (!value.isEmpty()) {
                    environment.add((name + value).getBytes(StandardCharsets.ISO_8859_1));
                }
            }
        });
    }

    /** Makes an environment of this process the one that it was given, for other programs. */
    public static void restore(Map<String, String> environment) {
        for (String name : List.copyOf(environment.keySet())) {
            String value = environment.getOrDefault(name, "");
            if (name.startsWith(KEPT_PREFIX)) {
                String original = name.substring(KEPT_PREFIX.length());
                if (value.isEmpty()) {
                    environment.remove(original);
                } else {
                    environment.put(original, value.substring(1));
                }
            }
            if (name.startsWith(KEPT_PREFIX) || OF_THE_LAUNCHER.contains(name)) {
                environment.remove(name);
            }
        }
    }

    private static String text(String path) throws SyscallException {
        return new String(FileCalls.readAll(path, STATUS_LIMIT), StandardCharsets.ISO_8859_1);
    }

    private static String line(String status, String key) {
        for (String line : status.split("\n", -1)) {
            if (line.startsWith(key + ":")) {
                return line.substring(key.length() + 1).strip();
            }
        }
        return "0";
    }

    private static long hexadecimal(String digits) {
        return Long.parseUnsignedLong(digits, 16);
    }

    private static long ignored(@Nullable String given, String status) {
        if (given != null && given.matches("[0-9a-fA-F]{1,16}")) {
            return hexadecimal(given);
        }
        return hexadecimal(line(status, "SigIgn"));
    }

    private static List<ResourceLimit> limits(@Nullable String files) throws SyscallException {
        List<ResourceLimit> limits = new ArrayList<>();
        for (int resource = 0; resource < ResourceLimit.COUNT; resource++) {
            limits.add(ProcessCalls.limit(0, resource));
        }
        if (files != null && files.matches("unlimited|[0-9]{1,18}")) {
            long soft = "unlimited".equals(files) ? ResourceLimit.INFINITY : Long.parseLong(files);
            long hard = limits.get(ResourceLimit.RLIMIT_NOFILE).hard();
            limits.set(ResourceLimit.RLIMIT_NOFILE, new ResourceLimit(soft, hard));
        }
        return List.copyOf(limits);
    }

    /** Descriptors without FD_CLOEXEC, less those the JVM has opened for itself. */
    private static BitSet descriptors(@Nullable String given, String closed) {
        BitSet descriptors = new BitSet();
        if (given != null && given.matches("[0-9 ]{0,65536}")) {
            for (String number : given.split(" ", -1)) {
                if (!number.isEmpty() && number.length() < 7) {
                    descriptors.set(Integer.parseInt(number));
                }
            }
            return descriptors;
        }
        for (int fd : open()) {
            boolean standsIn = fd <= 2 && closed.contains(Integer.toString(fd));
            if (!standsIn && survivesExec(fd) && (fd <= 2 || !ofTheJvm(fd))) {
                descriptors.set(fd);
            }
        }
        return descriptors;
    }

    /** The numbers of all open descriptors. */
    static List<Integer> open() {
        List<Integer> open = new ArrayList<>();
        String[] names = new File("/proc/self/fd").list();
        for (String name : names == null ? new String[0] : names) {
            int fd = Integer.parseInt(name);
            if (fd < MAX_DESCRIPTORS) {
                open.add(fd);
            }
        }
        return open;
    }

    /** False for one that is closed on exec, or closed already. */
    static boolean survivesExec(int fd) {
        try {
            return (Fd.fcntl(fd, Fd.F_GETFD, 0) & Fd.FD_CLOEXEC) == 0;
        } catch (SyscallException e) {
            return false;
        }
    }

    private static boolean ofTheJvm(int fd) {
        String target;
        try {
            byte[] link = ("/proc/self/fd/" + fd).getBytes(StandardCharsets.US_ASCII);
            target =
                    new String(
                            FileCalls.readlinkat(FileCalls.AT_FDCWD, link), StandardCharsets.UTF_8);
        } catch (SyscallException e) {
            return e.errno() != Errno.ENAMETOOLONG;
        }
        if (target.startsWith(System.getProperty("java.home") + "/")) {
            return true;
        }
        for (String property : List.of("java.class.path", "jdk.module.path")) {
            for (String entry : System.getProperty(property, "").split(File.pathSeparator, -1)) {
                String path = new File(entry).getAbsoluteFile().toPath().normalize().toString();
                boolean inside = target.startsWith(path + "/") && target.endsWith(".jar");
                if (!entry.isEmpty() && (target.equals(path) || inside)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static int coredumpFilter(String parent) {
        try {
            String bits = text("/proc/" + parent + "/coredump_filter").strip();
            return bits.isEmpty() ? DEFAULT_COREDUMP_FILTER : Integer.parseInt(bits, 16);
        } catch (SyscallException | NumberFormatException e) {
            return DEFAULT_COREDUMP_FILTER;
        }
    }

    /** A variable's value, or null. */
    byte @Nullable [] variable(String name) {
        byte[] prefix = (name + "=").getBytes(StandardCharsets.US_ASCII);
        for (byte[] variable : environment) {
            if (variable.length >= prefix.length
                    && Arrays.equals(variable, 0, prefix.length, prefix, 0, prefix.length)) {
                return Arrays.copyOfRange(variable, prefix.length, variable.length);
            }
        }
        return null;
    }
}
