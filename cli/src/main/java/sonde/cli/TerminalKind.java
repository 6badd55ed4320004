package sonde.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import sonde.sys.TerminalSize;
import sonde.view.TerminalStyle;

/** What a standard stream is connected to. */
final class TerminalKind {
    static final int STDOUT = 1;
    static final int STDERR = 2;

    private TerminalKind() {}

    /** Columns of the terminal behind that descriptor; 0 when it is none. */
    static int width(int fd) {
        return mayBeOne(fd) ? TerminalSize.columns(fd) : 0;
    }

    /** Not a pipe and no file: to ask the kernel takes 30 ms of preparing system calls. */
    private static boolean mayBeOne(int fd) {
        return !isFile(fd) && !target(fd).contains(":[");
    }

    /**
     * Whether what is written there is seen by nobody now: a file or /dev/null. A pipe may lead to
     * a pager, which has the terminal.
     */
    static boolean isFile(int fd) {
        String name = target(fd);
        return name.startsWith("/") && !name.startsWith("/dev/") || name.equals("/dev/null");
    }

    /** {@code /dev/pts/1}, {@code pipe:[4711]}, a path. */
    private static String target(int fd) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString();
        } catch (IOException e) {
            return ""; // it may be anything
        }
    }

    /** Whether a terminal obeys escape sequences: it is told by TERM, and not dumb (term(7)). */
    static boolean obeys(Map<String, String> environment) {
        return !List.of("", "dumb").contains(environment.getOrDefault("TERM", ""));
    }

    /** How to write to that descriptor: colour only on a terminal and where nobody minds. */
    static TerminalStyle style(int fd) {
        int width = width(fd);
        String none = System.getenv().getOrDefault("NO_COLOR", ""); // no-color.org: not empty
        boolean colour = width > 0 && none.isEmpty() && obeys(System.getenv());
        return new TerminalStyle(
                width > 0 ? width : wished(System.getenv()), colour, isUnicode(System.getenv()));
    }

    /** What COLUMNS asks for where there is no terminal (POSIX, environment variables); else 0. */
    private static int wished(Map<String, String> environment) {
        String columns = environment.getOrDefault("COLUMNS", "");
        return columns.matches("[1-9][0-9]{1,3}") ? Integer.parseInt(columns) : 0;
    }

    /**
     * Whether the user's locale shows more than ASCII. The launcher gives the JVM another LC_ALL
     * and keeps the user's ({@link sonde.probe.launch.InheritedState}). Without any locale it is
     * UTF-8, as every terminal of today.
     */
    static boolean isUnicode(Map<String, String> environment) {
        String kept = environment.get("SONDE_KEEP_LC_ALL");
        String all = kept == null ? environment.getOrDefault("LC_ALL", "") : kept;
        all = all.startsWith("=") ? all.substring(1) : all;
        String locale = all;
        for (String name : new String[] {"LC_CTYPE", "LANG"}) {
            locale = locale.isEmpty() ? environment.getOrDefault(name, "") : locale;
        }
        String charset = locale.toLowerCase(Locale.ROOT).replace("-", "");
        return locale.isEmpty() || charset.contains("utf8");
    }
}
