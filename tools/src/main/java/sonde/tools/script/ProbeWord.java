package sonde.tools.script;

import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.tools.option.OptionException;

/**
 * The word that names what a tool looks at, as people write it: a probe of the language; {@code
 * LIBRARY:FUNCTION} or {@code /path:FUNCTION} of a program; {@code FUNCTION} of the kernel; as BCC
 * has them, too.
 */
final class ProbeWord {
    private static final Set<String> OF_PROGRAMS = Set.of("uprobe", "u", "uretprobe", "ur");
    private static final Set<String> OF_RETURNS =
            Set.of("uretprobe", "ur", "kretprobe", "kr", "fexit", "fr", "kretfunc");
    private static final Set<String> OF_THE_KERNEL =
            Set.of(
                    """
                    kprobe k kretprobe kr fentry f fexit fr kfunc kretfunc\
                    """
                            .split(" "));

    private static final Pattern BCC = Pattern.compile("([pr]):(?:([^:]*):)?(.+)");

    /** Also written with the letter p: a probe that fires so often. */
    private static final Pattern PERIODIC = Pattern.compile("p:(hz|s|ms|us|ns):[0-9]+");

    private ProbeWord() {}

    /**
     * As the language spells what BCC does: {@code p:c:malloc}, {@code r:c:malloc}, {@code
     * p::vfs_read}, {@code p:vfs_read}.
     */
    private static String spelled(String word) {
        Matcher bcc = BCC.matcher(word);
        if (PERIODIC.matcher(word).matches() || !bcc.matches()) {
            return word;
        }
        String library = bcc.group(2);
        boolean kernel = library == null || library.isEmpty();
        return (kernel ? "k" : "u")
                + (bcc.group(1).equals("r") ? "ret" : "")
                + "probe:"
                + (kernel ? "" : library + ":")
                + bcc.group(3);
    }

    /**
     * The probe that a word means.
     *
     * @param atReturn whether the returns of a function are meant where the word does not say
     */
    static String probe(String given, boolean atReturn) {
        String word = spelled(given);
        int colon = word.indexOf(':');
        if (colon >= 0 && Kind.of(word.substring(0, colon)) != null) {
            return word;
        }
        String ret = atReturn ? "ret" : "";
        return (colon < 0 && word.indexOf('/') < 0 ? "k" : "u") + ret + "probe:" + word;
    }

    /** Whether what a probe is about is done by the process that runs, never in an interrupt. */
    static boolean isOfProcess(String probe) {
        int colon = probe.indexOf(':');
        return OF_PROGRAMS.contains(probe.substring(0, colon))
                || probe.startsWith("usdt:")
                || probe.matches("(t|tracepoint):(raw_)?syscalls:.*");
    }

    /** Whether a probe is about what functions give back. */
    static boolean isReturn(String probe) {
        return OF_RETURNS.contains(probe.substring(0, probe.indexOf(':')));
    }

    /**
     * A function, as it follows {@code uprobe:} or {@code kprobe:}.
     *
     * @param user whether it is one of a program
     */
    record Function(String text, boolean user) {}

    /** The function that a word names. */
    static Function function(String given) {
        String word = spelled(given);
        int colon = word.indexOf(':');
        String kind = colon < 0 ? "" : word.substring(0, colon);
        if (OF_PROGRAMS.contains(kind)) {
            return new Function(word.substring(colon + 1), true);
        }
        if (OF_THE_KERNEL.contains(kind)) {
            return new Function(word.substring(colon + 1), false);
        }
        if (Kind.of(kind) != null) {
            throw new OptionException(
                    "'"
                            + word
                            + "' is not a function; write FUNCTION of the kernel, libc:FUNCTION or"
                            + " /path:FUNCTION");
        }
        return new Function(word, colon >= 0 || word.indexOf('/') >= 0);
    }
}
