package sonde.probe.snapshot;

import java.io.File;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.probe.snapshot.SocketNames.SocketEnd;
import sonde.recording.names.FutexWords;
import sonde.sys.Clocks;
import sonde.sys.FileCalls;
import sonde.sys.FileStatus;
import sonde.sys.SyscallException;

/** Names what threads wait for, from /proc and the memory of their processes. */
final class WaitObjects {
    /** Most entries of a poll set that are read. */
    private static final int MOST_READ = 1024;

    private static final int MOST_SHOWN = 4;
    private static final int MOST_HOLDERS = 1 << 18;
    private static final int MOST_TEXT = 1 << 20;
    private static final int MOST_PATH = 4096;
    private static final int POLLFD_BYTES = 8;

    private static final Pattern BRACKETED = Pattern.compile("(\\w+):\\[(\\d{1,18})]");
    private static final Pattern TARGET = Pattern.compile("(?m)^tfd:\\s+(\\d{1,9})");
    private static final Pattern LOCK =
            Pattern.compile("(?m)^(\\d+): (-> )?\\w+\\s+\\w+\\s+\\w+ +(-?\\d{1,9}) ");
    private static final Pattern FLAGS = Pattern.compile("(?m)^flags:\\s+([0-7]{1,15})");
    private static final Pattern OWN_NUMBERS = Pattern.compile("(?m)^NSpid:((?:\\s+\\d{1,9})+)$");

    private final long deadline;
    private final Map<String, SocketNames> socketsByNamespace = new HashMap<>();
    private final Map<String, List<Descriptor>> holders = new HashMap<>();
    private final Map<Integer, Map<Integer, Integer>> threadNumbers = new HashMap<>();
    private boolean searched;

    /** A descriptor of a process. */
    private record Descriptor(int pid, int fd) {}

    /**
     * What a thread waits for.
     *
     * @param holder the thread or process that can end it, 0 when that is not known
     */
    record WaitObject(String name, int holder) {
        static final WaitObject NONE = new WaitObject("", 0);
    }

    /**
     * @param deadline CLOCK_MONOTONIC, after which other processes are not looked at any more
     */
    WaitObjects(long deadline) {
        this.deadline = deadline;
    }

    /** What the call of a thread waits for. */
    WaitObject of(int pid, int tid, CallNow call, ProcessMemory memory) {
        return switch (call.name()) {
            case "" -> WaitObject.NONE;
            case "futex" -> futex(pid, call, memory);
            case "poll", "ppoll" -> all(pid, polled(call, memory));
            case "select", "pselect6" -> all(pid, selected(call, memory));
            case "epoll_wait", "epoll_pwait", "epoll_pwait2" ->
                    all(pid, watched(pid, call.argument(0)));
            case "wait4", "waitid" -> child(pid, call);
            case "flock", "fcntl" -> locked(pid, tid, call);
            case "semop", "semtimedop" -> sysv("sem", call.argument(0), "semaphore set");
            case "msgrcv", "msgsnd" -> sysv("msg", call.argument(0), "message queue");
            case "connect" -> connecting(call, memory);
            default -> {
                int at = call.descriptorAt();
                if (at >= 0) {
                    yield descriptor(pid, call.argument(at));
                }
                int path = call.pathAt();
                yield path < 0 ? WaitObject.NONE : opened(pid, call, memory, path);
            }
        };
    }

    /** A path; of a FIFO that is being opened the end that is missing. */
    private WaitObject opened(int pid, CallNow call, ProcessMemory memory, int at) {
        String path = memory.text(call.arguments()[at], MOST_PATH);
        String seen = path.startsWith("/") ? path : "cwd/" + path;
        String place = "/proc/" + pid + (path.startsWith("/") ? "/root" : "/") + seen;
        if (!call.name().startsWith("open") || !isFifo(place)) {
            return new WaitObject(path, 0);
        }
        int access = call.argument(at + 1) & 3;
        return new WaitObject(
                "FIFO "
                        + path
                        + (access == FileCalls.O_WRONLY
                                ? ", nobody reads it"
                                : ", nobody writes to it"),
                0);
    }

    private static WaitObject connecting(CallNow call, ProcessMemory memory) {
        String text = call.text(memory);
        int comma = text.indexOf(", ");
        return comma < 0
                ? WaitObject.NONE
                : new WaitObject(text.substring(comma + 2, text.length() - 1) + " (connecting)", 0);
    }

    /** A lock and who has it, or the end of a thread. */
    private WaitObject futex(int pid, CallNow call, ProcessMemory memory) {
        String address = " 0x" + Long.toHexString(call.arguments()[0]);
        ByteBuffer read = memory.read(call.arguments()[0], 4 * FutexWords.COUNT);
        if (read.limit() < 4 * FutexWords.COUNT) {
            return new WaitObject("futex" + address, 0);
        }
        int[] words = new int[FutexWords.COUNT];
        read.asIntBuffer().get(words);
        FutexWords futex = new FutexWords(call.futexCommand(), call.argument(2), words);
        int owner = futex.owner(own -> thread(pid, own));
        if (owner != 0) {
            return new WaitObject("lock" + address, owner);
        }
        int ending = futex.ending(own -> thread(pid, own));
        return ending == 0
                ? new WaitObject("futex" + address, 0)
                : new WaitObject("end of thread " + process(ending), ending);
    }

    /** The thread of a process that calls itself so, in the namespace of the process; else 0. */
    private int thread(int pid, int ownNumber) {
        if (ownNumber <= 0) {
            return 0;
        }
        return threadNumbers.computeIfAbsent(pid, WaitObjects::numbers).getOrDefault(ownNumber, 0);
    }

    private static Map<Integer, Integer> numbers(int pid) {
        Map<Integer, Integer> numbers = new HashMap<>();
        for (int tid : names("/proc/" + pid + "/task")) {
            Matcher found = OWN_NUMBERS.matcher(text("/proc/" + pid + "/task/" + tid + "/status"));
            String[] all = found.find() ? found.group(1).strip().split("\\s+") : new String[0];
            int own = all.length == 0 ? tid : Integer.parseInt(all[all.length - 1]);
            numbers.put(own, tid);
        }
        return numbers;
    }

    private static Set<Integer> polled(CallNow call, ProcessMemory memory) {
        Set<Integer> fds = new LinkedHashSet<>();
        int count = Math.clamp(call.arguments()[1], 0, MOST_READ);
        ByteBuffer set = memory.read(call.arguments()[0], count * POLLFD_BYTES);
        for (int at = 0; at + POLLFD_BYTES <= set.limit(); at += POLLFD_BYTES) {
            if (set.getInt(at) >= 0) { // a negative one is passed over
                fds.add(set.getInt(at));
            }
        }
        return fds;
    }

    private static Set<Integer> selected(CallNow call, ProcessMemory memory) {
        Set<Integer> fds = new LinkedHashSet<>();
        int count = Math.clamp(call.argument(0), 0, MOST_READ);
        for (int set = 1; set <= 3; set++) {
            ByteBuffer bits = memory.read(call.arguments()[set], (count + 63) / 64 * 8);
            for (int fd = 0; fd < count && fd / 8 < bits.limit(); fd++) {
                if ((bits.get(fd / 8) >> fd % 8 & 1) != 0) {
                    fds.add(fd);
                }
            }
        }
        return fds;
    }

    private static Set<Integer> watched(int pid, int epoll) {
        Set<Integer> fds = new LinkedHashSet<>();
        Matcher found = TARGET.matcher(text("/proc/" + pid + "/fdinfo/" + epoll));
        while (found.find() && fds.size() < MOST_READ) {
            fds.add(Integer.parseInt(found.group(1)));
        }
        return fds;
    }

    /** Several descriptors: those with somebody at the other end first. */
    private WaitObject all(int pid, Set<Integer> fds) {
        List<WaitObject> named = new ArrayList<>();
        for (int fd : fds) {
            WaitObject one = descriptor(pid, fd);
            if (!one.name.isEmpty()) {
                named.add(one);
            }
        }
        named.sort((one, other) -> Integer.compare(rank(one), rank(other)));
        List<String> names = new ArrayList<>();
        named.stream().map(WaitObject::name).distinct().limit(MOST_SHOWN).forEach(names::add);
        long distinct = named.stream().map(WaitObject::name).distinct().count();
        if (distinct > names.size()) {
            names.add("… and " + (distinct - names.size()) + " more");
        }
        int holder = named.size() == 1 ? named.getFirst().holder : 0;
        return new WaitObject(String.join(", ", names), holder);
    }

    private static int rank(WaitObject one) {
        boolean own = one.name.endsWith("fd") || one.name.equals("pipe of its own");
        return own ? 2 : one.name.contains("(listening)") ? 1 : 0;
    }

    /** What a descriptor stands for, with the process at the other end. */
    WaitObject descriptor(int pid, int fd) {
        String path = "/proc/" + pid + "/fd/" + fd;
        String target = link(path);
        Matcher kind = BRACKETED.matcher(target);
        if (kind.matches() && kind.group(1).equals("socket")) {
            return socket(pid, Long.parseLong(kind.group(2)));
        }
        if (kind.matches() && kind.group(1).equals("pipe")) {
            return pipe(pid, fd, target, "pipe");
        }
        if (target.startsWith("anon_inode:")) {
            return new WaitObject(target.substring(11).replaceAll("[\\[\\]]", ""), 0);
        }
        return target.startsWith("/") && isFifo(path)
                ? pipe(pid, fd, target, "FIFO " + target)
                : new WaitObject(target, 0);
    }

    private static boolean isFifo(String path) {
        try {
            FileStatus status = FileCalls.stat(path);
            return (status.mode() & 0170000) == 0010000;
        } catch (SyscallException e) {
            return false;
        }
    }

    private WaitObject socket(int pid, long inode) {
        String namespace = link("/proc/" + pid + "/ns/net");
        SocketEnd end =
                socketsByNamespace.computeIfAbsent(namespace, _ -> new SocketNames(pid)).of(inode);
        if (end.peerInode() == 0) {
            return new WaitObject(end.name(), 0);
        }
        for (Descriptor one : holders("socket:[" + end.peerInode() + "]")) {
            if (one.pid != pid) {
                return new WaitObject(end.name() + " of " + process(one.pid), one.pid);
            }
        }
        return new WaitObject(end.name(), 0);
    }

    /** A pipe by the process that has its other end, one other than this where there is one. */
    private WaitObject pipe(int pid, int fd, String target, String what) {
        boolean reads = !writes(pid, fd);
        Descriptor other = null;
        for (Descriptor one : holders(target)) {
            boolean better = other == null || other.pid == pid && one.pid != pid;
            if (better && (isBoth(one) || writes(one.pid, one.fd) == reads)) {
                other = one;
            }
        }
        if (other == null) {
            String none = reads ? "nobody writes to it" : "nobody reads it";
            return new WaitObject(searched && !isLate() ? what + ", " + none : what, 0);
        }
        return other.pid == pid
                ? new WaitObject(what + " of its own", 0)
                : new WaitObject(
                        what + (reads ? " from " : " to ") + process(other.pid), other.pid);
    }

    private static int access(int pid, int fd) {
        Matcher flags = FLAGS.matcher(text("/proc/" + pid + "/fdinfo/" + fd));
        return flags.find() ? (int) (Long.parseLong(flags.group(1), 8) & 3) : 0;
    }

    private static boolean writes(int pid, int fd) {
        return access(pid, fd) == FileCalls.O_WRONLY;
    }

    private static boolean isBoth(Descriptor one) {
        return access(one.pid, one.fd) == FileCalls.O_RDWR;
    }

    private boolean isLate() {
        return Clocks.nanos(Clocks.CLOCK_MONOTONIC) > deadline;
    }

    /** Who has a pipe or socket; all processes are looked at once. */
    private List<Descriptor> holders(String target) {
        if (!searched) {
            searched = true;
            int count = 0;
            for (int pid : names("/proc")) {
                if (isLate() || count > MOST_HOLDERS) {
                    break;
                }
                for (int fd : names("/proc/" + pid + "/fd")) {
                    String to = link("/proc/" + pid + "/fd/" + fd);
                    boolean named = to.startsWith("/") && !to.startsWith("/dev/");
                    if (to.startsWith("socket:") || to.startsWith("pipe:") || named) {
                        holders.computeIfAbsent(to, _ -> new ArrayList<>())
                                .add(new Descriptor(pid, fd));
                        count++;
                    }
                }
            }
        }
        return holders.getOrDefault(target, List.of());
    }

    private static WaitObject child(int pid, CallNow call) {
        int wanted = call.argument(0);
        if (call.name().equals("waitid")) {
            wanted = wanted == 1 ? call.argument(1) : -1; // P_PID
        }
        if (wanted > 0) {
            return new WaitObject("child " + process(wanted), wanted);
        }
        List<Integer> children = new ArrayList<>();
        for (int tid : names("/proc/" + pid + "/task")) {
            for (String word : text("/proc/" + pid + "/task/" + tid + "/children").split(" ")) {
                if (word.matches("\\d{1,9}")) {
                    children.add(Integer.parseInt(word));
                }
            }
        }
        if (children.isEmpty()) {
            return new WaitObject("any child", 0);
        }
        String first = process(children.getFirst());
        return children.size() == 1
                ? new WaitObject("child " + first, children.getFirst())
                : new WaitObject("any of " + children.size() + " children, as " + first, 0);
    }

    /** /proc/locks lists waiters, "->", under the number of the lock they wait for. */
    private WaitObject locked(int pid, int tid, CallNow call) {
        WaitObject file = descriptor(pid, call.argument(0));
        Map<String, Integer> owners = new HashMap<>();
        Set<String> waited = new LinkedHashSet<>();
        Matcher lock = LOCK.matcher(text("/proc/locks"));
        while (lock.find()) {
            int who = Integer.parseInt(lock.group(3));
            if (lock.group(2) == null) {
                owners.put(lock.group(1), who);
            } else if (who == pid || who == tid) {
                waited.add(lock.group(1));
            }
        }
        for (String number : waited) {
            int owner = owners.getOrDefault(number, 0);
            if (owner > 0) {
                return new WaitObject("lock of file " + file.name, owner);
            }
        }
        return call.name().equals("flock") ? new WaitObject("lock of file " + file.name, 0) : file;
    }

    /** /proc/sysvipc: key, number, permissions, … */
    private static WaitObject sysv(String kind, int number, String what) {
        for (String line : text("/proc/sysvipc/" + kind).split("\n")) {
            String[] fields = line.strip().split("\\s+");
            if (fields.length > 2 && fields[1].equals(Integer.toString(number))) {
                boolean known = fields[0].matches("-?\\d{1,10}") && !fields[0].equals("0");
                String key = known ? " (key 0x%x)".formatted((int) Long.parseLong(fields[0])) : "";
                return new WaitObject(what + " " + number + key, 0);
            }
        }
        return new WaitObject(what + " " + number, 0);
    }

    /** "sort 4711". */
    static String process(int pid) {
        String comm = text("/proc/" + pid + "/comm").stripTrailing();
        return comm.isEmpty() ? "process " + pid : comm + " " + pid;
    }

    private static int[] names(String folder) {
        String[] found = new File(folder).list();
        return java.util.Arrays.stream(found == null ? new String[0] : found)
                .filter(name -> name.matches("\\d{1,9}"))
                .mapToInt(Integer::parseInt)
                .sorted()
                .toArray();
    }

    static String link(String path) {
        try {
            byte[] target =
                    FileCalls.readlinkat(FileCalls.AT_FDCWD, path.getBytes(StandardCharsets.UTF_8));
            return new String(target, StandardCharsets.UTF_8);
        } catch (SyscallException e) {
            return "";
        }
    }

    static String text(String path) {
        try {
            return new String(FileCalls.readAll(path, MOST_TEXT), StandardCharsets.UTF_8);
        } catch (SyscallException e) {
            return "";
        }
    }
}
