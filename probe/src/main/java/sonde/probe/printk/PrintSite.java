package sonde.probe.printk;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A call of pr_debug() or dev_dbg() that can be switched: a line of dynamic_debug/control (ddebug_
 * proc_show() in lib/dynamic_debug.c).
 *
 * @param flags letters that are set, without '='; empty for none
 * @param format escaped, as the kernel prints it
 * @param group its class (Linux 6.1), as drm has them; empty for none
 */
public record PrintSite(
        String file,
        int line,
        String module,
        String function,
        String flags,
        String format,
        String group) {
    private static final Pattern LINE =
            Pattern.compile(
                    "(.+):(\\d{1,9}) \\[([^\\]]*)\\](\\S+) =(\\S*) \"(.*)\"(?: class:(\\w+))?(?: class .*)?");

    /** Reads a line; empty for the heading, and for what is no line of this form. */
    public static Optional<PrintSite> parse(String line) {
        Matcher found = LINE.matcher(line);
        if (line.startsWith("#") || !found.matches()) {
            return Optional.empty();
        }
        String flags = found.group(5).equals("_") ? "" : found.group(5);
        return Optional.of(
                new PrintSite(
                        found.group(1),
                        Integer.parseInt(found.group(2)),
                        found.group(3),
                        found.group(4),
                        flags,
                        found.group(6),
                        found.group(7) == null ? "" : found.group(7)));
    }

    /** Whether the message is printed. */
    public boolean isOn() {
        return flags.indexOf('p') >= 0;
    }

    /** What names it to the kernel, which passes over messages of classes that are not named. */
    String query() {
        String named = group.isEmpty() ? "" : " class " + group;
        return "module " + module + " file " + file + " line " + line + " func " + function + named;
    }

    /** The flags that setting or removing some would change; empty for none. */
    public String changed(boolean set, String asked) {
        StringBuilder changed = new StringBuilder();
        asked.chars()
                .filter(flag -> (flags.indexOf(flag) >= 0) != set)
                .forEach(flag -> changed.append((char) flag));
        return changed.toString();
    }
}
