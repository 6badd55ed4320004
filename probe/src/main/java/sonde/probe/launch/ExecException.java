package sonde.probe.launch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import sonde.sys.Errno;

/** The command could not be executed. */
public final class ExecException extends IOException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    ExecException(CommandWords command, int errno) {
        super(message(new String(command.words().getFirst(), StandardCharsets.UTF_8), errno));
        this.errno = errno;
    }

    private static String message(String name, int errno) {
        String printable = name.replaceAll("\\p{Cntrl}", "?");
        if (errno == Errno.ENOENT && name.indexOf('/') < 0) {
            return printable + ": command not found";
        }
        return printable + ": " + Errno.describe(errno);
    }

    /** The errno of execve, or of the search before it. */
    public int errno() {
        return errno;
    }

    /** What a shell exits with: 127 when nothing was found, 126 when it was refused. */
    public int exitCode() {
        return errno == Errno.ENOENT || errno == Errno.ENOTDIR ? 127 : 126;
    }
}
