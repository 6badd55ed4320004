package sonde.tools.script;

import java.util.Set;

/**
 * The word that names what a tool looks at, as people write it: a probe of the language; {@code
 * LIBRARY:FUNCTION} or {@code /path:FUNCTION} of a program; {@code FUNCTION} of the kernel.
 */
final class ProbeWord {
    private static final Set<String> KINDS =
            Set.of(
                    "asyncwatchpoint",
                    "aw",
                    "bench",
                    "f",
                    "fentry",
                    "fexit",
                    "fr",
                    "h",
                    "hardware",
                    "i",
                    "interval",
                    "iter",
                    "it",
                    "k",
                    "kfunc",
                    "kprobe",
                    "kr",
                    "kretfunc",
                    "kretprobe",
                    "p",
                    "profile",
                    "r",
                    "rawtracepoint",
                    "rt",
                    "s",
                    "software",
                    "t",
                    "tracepoint",
                    "u",
                    "U",
                    "uprobe",
                    "ur",
                    "uretprobe",
                    "usdt",
                    "w",
                    "watchpoint");

    private static final Set<String> OF_PROGRAMS = Set.of("uprobe", "u", "uretprobe", "ur");
    private static final Set<String> OF_THE_KERNEL =
            Set.of(
                    "kprobe",
                    "k",
                    "kretprobe",
                    "kr",
                    "fentry",
                    "f",
                    "fexit",
                    "fr",
                    "kfunc",
                    "kretfunc");

    private ProbeWord() {}

    /**
     * The probe that a word means.
     *
     * @param atReturn whether the returns of a function are meant where the word does not say
     */
    static String probe(String word, boolean atReturn) {
        int colon = word.indexOf(':');
        if (colon >= 0 && KINDS.contains(word.substring(0, colon))) {
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

    /**
     * A function, as it follows {@code uprobe:} or {@code kprobe:}.
     *
     * @param user whether it is one of a program
     */
    record Function(String text, boolean user) {}

    /** The function that a word names. */
    static Function function(String word) throws ToolUseException {
        int colon = word.indexOf(':');
        String kind = colon < 0 ? "" : word.substring(0, colon);
        if (OF_PROGRAMS.contains(kind)) {
            return new Function(word.substring(colon + 1), true);
        }
        if (OF_THE_KERNEL.contains(kind)) {
            return new Function(word.substring(colon + 1), false);
        }
        if (KINDS.contains(kind)) {
            throw new ToolUseException(
                    "'"
                            + word
                            + "' is no function; write FUNCTION of the kernel, libc:FUNCTION or"
                            + " /path:FUNCTION");
        }
        return new Function(word, colon >= 0 || word.indexOf('/') >= 0);
    }
}
