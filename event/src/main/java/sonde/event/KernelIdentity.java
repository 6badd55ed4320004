package sonde.event;

import java.util.Map;

/**
 * Which kernel a recording was made on, and where; empty where the recording does not say.
 *
 * @param hostname the machine's name, {@code uname -n}
 * @param release of the kernel, {@code uname -r}
 * @param architecture as {@code uname -m} prints it
 * @param buildId of the kernel's image
 * @param moduleIds build-ids of the kernel and its modules by path or name, in the file's order
 */
public record KernelIdentity(
        String hostname,
        String release,
        String architecture,
        byte[] buildId,
        Map<String, byte[]> moduleIds) {
    /** A recording that says nothing of its machine. */
    public static final KernelIdentity UNKNOWN = of("", "", "");

    /** A kernel without build-ids. */
    public static KernelIdentity of(String hostname, String release, String architecture) {
        return new KernelIdentity(hostname, release, architecture, new byte[0], Map.of());
    }

    /** From the words of {@code uname}: sysname, nodename, release, …, machine. */
    public static KernelIdentity ofUname(String uname) {
        String[] words = uname.strip().split("\\s+");
        return of(
                words.length > 2 ? words[1] : "",
                words.length > 2 ? words[2] : "",
                words[words.length - 1]);
    }
}
