package sonde.tools.record;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.probe.record.RecordSession;
import sonde.sys.FileCalls;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;
import sonde.sys.UserChanges;

/**
 * The processes of a user: those that are there, and those that become the user's while a session
 * records. Whatever they start is followed by the kernel.
 */
public final class UserProcesses implements AutoCloseable {
    private static final long LOOK_NANOS = 250_000_000;
    private static final int MOST_ANCESTORS = 1000;
    private static final Pattern REAL = Pattern.compile("(?m)^Uid:\\s+(\\d{1,10})\\s");
    private static final Pattern PARENT = Pattern.compile("(?m)^PPid:\\s+(\\d{1,9})$");

    private final int uid;
    private final RecordSession session;
    private final Set<Integer> known;
    private final Thread thread;
    private @Nullable UserChanges changes;
    private volatile boolean ended;

    /**
     * @param known processes that are followed already
     */
    UserProcesses(int uid, RecordSession session, List<Integer> known) {
        this.uid = uid;
        this.session = session;
        this.known = new HashSet<>(known);
        this.thread = Thread.ofPlatform().daemon().name("sonde-user").unstarted(this::watch);
    }

    /**
     * The number of a user.
     *
     * @throws IOException when the system knows no such user
     */
    static int number(String user) throws IOException {
        if (user.matches("\\d{1,9}")) {
            return Integer.parseInt(user);
        }
        return id("-u", user);
    }

    /**
     * The number of a user's group.
     *
     * @throws IOException when the system knows no such user
     */
    public static int group(String user) throws IOException {
        return id("-g", user);
    }

    /** As nss(5) finds it, also where users are not in /etc/passwd. */
    private static int id(String which, String user) throws IOException {
        Process id =
                new ProcessBuilder("id", which, "--", user)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        try (var out = id.inputReader(StandardCharsets.US_ASCII)) {
            String line = out.readLine();
            if (line != null && line.matches("\\d{1,9}")) {
                return Integer.parseInt(line);
            }
        }
        throw new IOException("-u: this machine knows no user '" + user + "'");
    }

    /** The processes of a user now, this one left out, those with a parent among them, too. */
    static List<Integer> of(int uid) {
        List<Integer> found = new ArrayList<>();
        String[] names = new File("/proc").list();
        int own = ProcessCalls.getpid();
        for (String name : names == null ? new String[0] : names) {
            if (name.matches("\\d{1,9}")) {
                int pid = Integer.parseInt(name);
                if (pid != own && field(REAL, pid) == uid) {
                    found.add(pid);
                }
            }
        }
        return found;
    }

    private static long field(Pattern pattern, int pid) {
        try {
            byte[] status = FileCalls.readAll("/proc/" + pid + "/status", 1 << 16);
            Matcher found = pattern.matcher(new String(status, StandardCharsets.UTF_8));
            return found.find() ? Long.parseLong(found.group(1)) : -1;
        } catch (SyscallException e) {
            return -1; // it has ended
        }
    }

    /** Begins to look for more: from now on no change of a user is missed. */
    void start() {
        try {
            changes = UserChanges.listen();
        } catch (SyscallException e) {
            session.addNote(
                    "the kernel does not tell which processes change their user ("
                            + e.getMessage()
                            + "); sonde looks four times a second");
        }
        thread.start();
    }

    private void watch() {
        UserChanges told = changes;
        try {
            while (!ended) {
                of(uid).forEach(this::found); // those that nobody told of
                long end = System.nanoTime() + LOOK_NANOS;
                for (long left = LOOK_NANOS; left > 0 && !ended; left = end - System.nanoTime()) {
                    if (told == null) {
                        Thread.sleep(LOOK_NANOS / 1_000_000);
                    } else {
                        int pid = told.next(uid, left);
                        if (pid > 0) {
                            found(pid);
                        }
                    }
                }
            }
        } catch (SyscallException e) {
            session.addNote("later processes of the user are not recorded: " + e.getMessage());
        } catch (InterruptedException e) {
            ended = true;
        }
    }

    private void found(int pid) {
        if (pid == ProcessCalls.getpid() || !known.add(pid) || isFollowed(pid)) {
            return;
        }
        try {
            session.follow(pid);
        } catch (IOException e) {
            session.addNote("process " + pid + " of the user is not recorded: " + e.getMessage());
        }
    }

    /** Whether an ancestor is followed: its children are, too. */
    private boolean isFollowed(int pid) {
        long at = field(PARENT, pid);
        for (int steps = 0; at > 1 && steps < MOST_ANCESTORS; steps++) {
            if (known.contains((int) at)) {
                return true;
            }
            at = field(PARENT, (int) at);
        }
        return false;
    }

    @Override
    public void close() {
        ended = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (changes != null) {
            changes.close();
        }
    }
}
