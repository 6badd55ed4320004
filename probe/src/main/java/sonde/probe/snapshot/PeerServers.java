package sonde.probe.snapshot;

import java.io.File;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.recording.bundle.RecordingMeta.TargetReading;
import sonde.sys.Clocks;
import sonde.sys.ProcessCalls;

/**
 * Which processes besides the recorded ones are at the other end of their sockets, and in which
 * calls these are, as /proc shows both at each look.
 */
public final class PeerServers {
    private static final int CLOCK_THREAD_CPUTIME = 3;

    /** CPU time of a look; what is left then is not looked at. */
    private static final long LIMIT_NANOS = 50_000_000;

    /** Searches for holders of sockets: each reads the descriptors of all processes. */
    private static final int MOST_SEARCHES = 8;

    private static final int MOST_SOCKETS = 256;
    private static final int MOST_SERVERS = 16;
    private static final int MOST_THREADS = 32;
    private static final Pattern SOCKET = Pattern.compile("socket:\\[(\\d{1,18})]");

    /** In which a server has nothing to do. */
    private static final Set<String> IDLE =
            Set.of(
                    "accept",
                    "accept4",
                    "epoll_wait",
                    "epoll_pwait",
                    "epoll_pwait2",
                    "poll",
                    "ppoll",
                    "select",
                    "pselect6",
                    "futex",
                    "recvfrom",
                    "recvmsg",
                    "rt_sigtimedwait");

    private final Map<Long, String> holders = new HashMap<>();
    private final Map<String, SeenServer> servers = new LinkedHashMap<>();
    private int searches;

    private static final class SeenServer {
        final int pid;
        final String name;
        final Map<String, Integer> calls = new TreeMap<>();
        int looks;

        SeenServer(int pid, String name) {
            this.pid = pid;
            this.name = name;
        }
    }

    /** Nobody is known yet. */
    public PeerServers() {}

    /** Looks at the peers of these processes, and at what those that serve them do. */
    public void look(List<Integer> tree) {
        long end = Clocks.nanos(CLOCK_THREAD_CPUTIME) + LIMIT_NANOS;
        Map<Long, String> peers = peers(tree, end);
        if (!holders.keySet().containsAll(peers.keySet()) && searches < MOST_SEARCHES) {
            searches++;
            search(tree, peers, end);
        }
        Map<String, Integer> now = new TreeMap<>();
        peers.forEach((inode, peer) -> {
            String holder = holders.getOrDefault(inode, "");
            if (!holder.isEmpty() && servers.size() < MOST_SERVERS) {
                now.put(peer, Integer.parseInt(holder));
            }
        });
        now.forEach((peer, pid) -> {
            SeenServer known = servers.get(peer);
            String name = WaitObjects.text("/proc/" + pid + "/comm").strip();
            if (known == null || known.pid != pid) {
                known = new SeenServer(pid, name);
                servers.put(peer, known);
            }
            String call = name.isEmpty() ? null : busiest(pid);
            if (call != null) {
                known.looks++;
                known.calls.merge(call, 1, Integer::sum);
            }
        });
    }

    /** Sockets at the other end of those of the processes, with their names as peers. */
    private static Map<Long, String> peers(List<Integer> tree, long end) {
        Map<Long, String> peers = new LinkedHashMap<>();
        Map<String, SocketNames> namespaces = new HashMap<>();
        int seen = 0;
        for (int pid : tree) {
            for (String fd : names("/proc/" + pid + "/fd")) {
                Matcher socket = SOCKET.matcher(WaitObjects.link("/proc/" + pid + "/fd/" + fd));
                if (isLate(end) || !socket.matches() || seen++ > MOST_SOCKETS) {
                    continue;
                }
                SocketNames names =
                        namespaces.computeIfAbsent(
                                WaitObjects.link("/proc/" + pid + "/ns/net"),
                                _ -> new SocketNames(pid));
                long inode = Long.parseLong(socket.group(1));
                long server = names.server(inode);
                if (server > 0 && !names.peer(inode).isEmpty()) {
                    peers.put(server, names.peer(inode));
                }
            }
        }
        return peers;
    }

    private void search(List<Integer> tree, Map<Long, String> peers, long end) {
        peers.keySet().forEach(inode -> holders.putIfAbsent(inode, ""));
        int own = ProcessCalls.getpid();
        for (String name : names("/proc")) {
            int pid = name.matches("\\d{1,9}") ? Integer.parseInt(name) : own;
            if (pid == own || tree.contains(pid)) {
                continue;
            }
            for (String fd : names("/proc/" + name + "/fd")) {
                if (isLate(end)) {
                    holders.values().removeIf(String::isEmpty); // the next search finds them
                    return;
                }
                Matcher socket = SOCKET.matcher(WaitObjects.link("/proc/" + name + "/fd/" + fd));
                if (socket.matches()) {
                    holders.replace(Long.parseLong(socket.group(1)), "", name);
                }
            }
        }
    }

    private static boolean isLate(long end) {
        return Clocks.nanos(CLOCK_THREAD_CPUTIME) > end;
    }

    /** The call of a thread that has something to do, "running", else that of the first. */
    private static @Nullable String busiest(int pid) {
        String first = null;
        String[] tasks = names("/proc/" + pid + "/task");
        for (int i = 0; i < Math.min(tasks.length, MOST_THREADS); i++) {
            String text = WaitObjects.text("/proc/" + pid + "/task/" + tasks[i] + "/syscall");
            CallNow call = CallNow.parse(text);
            if (call == null && !text.startsWith("running")) {
                continue; // it may not be looked into
            }
            String name = call == null ? RUNNING : call.name();
            if (!name.isEmpty() && !IDLE.contains(name)) {
                return name;
            }
            first = first == null && !name.isEmpty() ? name : first;
        }
        return first;
    }

    private static final String RUNNING = "running";

    private static String[] names(String folder) {
        String[] names = new File(folder).list();
        return names == null ? new String[0] : names;
    }

    /** As {@link TargetReading#SERVES} and {@link TargetReading#SERVING} describe. */
    public List<TargetReading> readings() {
        List<TargetReading> readings = new ArrayList<>();
        servers.forEach((peer, server) -> {
            String who = server.name + " " + server.pid;
            int pid = server.pid;
            readings.add(new TargetReading(TargetReading.SERVES, who + " " + peer, pid, pid, pid));
            server.calls.entrySet().stream()
                    .max(Map.Entry.comparingByValue())
                    .ifPresent(most ->
                            readings.add(
                                    new TargetReading(
                                            TargetReading.SERVING,
                                            peer + " " + most.getKey(),
                                            0,
                                            most.getValue(),
                                            server.looks)));
        });
        return readings;
    }
}
