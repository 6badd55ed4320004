package sonde.probe.dynamic;

import java.util.regex.Pattern;

/**
 * Kinds of named probes that a kernel takes, by the files of its tracefs and the help in {@code
 * README} there.
 *
 * @param kprobes at addresses of the kernel (CONFIG_KPROBE_EVENTS)
 * @param uprobes at addresses of programs (CONFIG_UPROBE_EVENTS)
 * @param fprobes at entries and returns by the function tracer (Linux 6.5, CONFIG_FPROBE_EVENTS)
 * @param tracepoints at tracepoints, with their arguments (Linux 6.5, CONFIG_FPROBE_EVENTS)
 * @param argumentsAtReturn whether a return knows what the function was called with (Linux 6.10)
 */
public record ProbeKinds(
        boolean kprobes,
        boolean uprobes,
        boolean fprobes,
        boolean tracepoints,
        boolean argumentsAtReturn) {
    /** All of them: where nobody can ask the kernel. */
    public static final ProbeKinds ALL = new ProbeKinds(true, true, true, true, true);

    private static final Pattern FPROBE = Pattern.compile("(?m)^\\s+(?:Format: )?f\\[[^\\n]*func");
    private static final Pattern TRACEPOINT =
            Pattern.compile("(?m)^\\s+(?:Format: )?t\\[[^\\n]*<tracepoint>");
    private static final Pattern ARGUMENTS =
            Pattern.compile("(?m)return probes support:[^\\n]*\\$arg");

    /** The kinds that the help text of tracefs names. */
    static ProbeKinds of(String readme, boolean kprobes, boolean uprobes) {
        return new ProbeKinds(
                kprobes,
                uprobes,
                FPROBE.matcher(readme).find(),
                TRACEPOINT.matcher(readme).find(),
                ARGUMENTS.matcher(readme).find());
    }
}
