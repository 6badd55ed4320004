package sonde.tools.record;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import sonde.probe.launch.InheritedState;
import sonde.sys.Execve;
import sonde.sys.ProcessCalls;
import sonde.sys.SyscallException;

/**
 * Gives the reading of a recording to a process of its own: the recorder's heap is small, and what
 * was recorded are foreign bytes that root should not parse.
 */
public final class ReportHandover {
    /** Up to here the recorder's own heap is enough and a second start would cost more. */
    private static final long SMALL_BYTES = 24 << 20;

    private final Path bundle;
    private final int exitCode;

    /**
     * A recording that was just made.
     *
     * @param exitCode of the recording, which that of the report will be
     */
    public ReportHandover(Path bundle, int exitCode) {
        this.bundle = bundle;
        this.exitCode = exitCode;
    }

    /** Whether the summary should be made elsewhere. */
    public boolean isWanted() {
        boolean trains = System.getenv("SONDE_TRAINING") != null;
        return !trains && (caller() >= 0 || sizeBytes() > SMALL_BYTES);
    }

    private long sizeBytes() {
        long sum = bundle.toFile().isFile() ? bundle.toFile().length() : 0;
        File[] files = bundle.toFile().listFiles();
        for (File file : files == null ? new File[0] : files) {
            sum += file.length();
        }
        return sum;
    }

    /** The user who called sudo, -1 when nobody did. */
    private static int caller() {
        String uid = System.getenv("SUDO_UID");
        boolean root = ProcessCalls.geteuid() == 0;
        return root && uid != null && uid.matches("[1-9][0-9]{0,8}") ? Integer.parseInt(uid) : -1;
    }

    /**
     * Becomes {@code sonde report}, as the user who called sudo; returns only when that cannot be.
     *
     * @throws IOException never for want of the program: then it returns
     */
    public void become(InheritedState origin, boolean json) throws IOException {
        String home = System.getProperty("sonde.home", "");
        File program = new File(home, "bin/sonde");
        if (home.isEmpty() || !program.canExecute()) {
            return;
        }
        List<byte[]> words = new ArrayList<>();
        words.add(bytes("sonde"));
        words.add(bytes("report"));
        words.add(bytes("--after-record=" + exitCode));
        if (json) {
            words.add(bytes("--json"));
        }
        words.add(bytes("--"));
        words.add(bytes(bundle.toString()));
        List<byte[]> environment = new ArrayList<>(origin.environment());
        for (String name : List.of("SONDE_CALLED", "SONDE_TRAIN")) {
            String value = System.getenv(name);
            if (value != null) {
                environment.add(bytes(name + "=" + value));
            }
        }
        int uid = caller();
        try {
            if (uid >= 0) {
                String gid = System.getenv("SUDO_GID");
                Execve.becomeUser(
                        uid,
                        gid != null && gid.matches("[0-9]{1,9}") ? Integer.parseInt(gid) : uid);
            }
            Execve.run(program.getPath(), words, environment);
        } catch (SyscallException e) {
            // A place that the caller may not enter: the summary is made here after all.
            return;
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
