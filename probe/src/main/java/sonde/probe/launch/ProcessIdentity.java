package sonde.probe.launch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import sonde.sys.FileCalls;

/**
 * Who a process is, from /proc/PID/status.
 *
 * @param uid effective user
 * @param gid effective group
 * @param innerPid its pid in its own pid namespace
 * @param caught set of signals with a handler
 */
public record ProcessIdentity(int uid, int gid, int innerPid, long caught) {
    /** Asks /proc/PID/status. */
    public static ProcessIdentity of(int pid) throws IOException {
        String status =
                new String(
                        FileCalls.readAll("/proc/" + pid + "/status", 64 << 10),
                        StandardCharsets.ISO_8859_1);
        try {
            List<String> inner = fields(status, "NSpid");
            return new ProcessIdentity(
                    Integer.parseInt(fields(status, "Uid").get(1)),
                    Integer.parseInt(fields(status, "Gid").get(1)),
                    inner.isEmpty() ? pid : Integer.parseInt(inner.getLast()),
                    Long.parseUnsignedLong(fields(status, "SigCgt").getFirst(), 16));
        } catch (IndexOutOfBoundsException | NumberFormatException e) {
            throw new IOException("/proc/" + pid + "/status: not as expected", e);
        }
    }

    private static List<String> fields(String status, String key) {
        int at = status.indexOf("\n" + key + ":");
        if (at < 0) {
            return List.of();
        }
        int end = status.indexOf('\n', at + 1);
        String line = status.substring(at + key.length() + 2, end < 0 ? status.length() : end);
        return List.of(line.strip().split("\\s+"));
    }
}
