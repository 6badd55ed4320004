package sonde.probe.tracefs;

import java.util.List;
import java.util.Locale;
import sonde.sys.Errno;
import sonde.sys.SyscallException;

/** A tracer, or a setting of one, that this kernel does not have or not take now. */
public final class TracerRefusedException extends SyscallException {
    private static final long serialVersionUID = 1;

    private static final int MOST_SHOWN = 5;

    private TracerRefusedException(String call, String object, int errno, String why) {
        super(call, object, errno, why);
    }

    /** The kernel has it only once, and it is in use. */
    static TracerRefusedException busy(List<String> users) {
        return new TracerRefusedException(
                "open",
                "the top of tracefs",
                Errno.EBUSY,
                String.join("; ", users) + "; 'sonde ftrace reset' shows and ends this");
    }

    /** The kernel does not have it. */
    public static TracerRefusedException missing(String tracer, Tracefs tracefs)
            throws SyscallException {
        String config =
                switch (tracer) {
                    case "function", "function_graph" -> tracer + "_TRACER";
                    case "irqsoff", "preemptoff", "preemptirqsoff" ->
                            tracer.replace("irqsoff", "").isEmpty()
                                    ? "IRQSOFF_TRACER"
                                    : tracer.equals("preemptoff")
                                            ? "PREEMPT_TRACER"
                                            : "IRQSOFF_TRACER and CONFIG_PREEMPT_TRACER";
                    case "wakeup", "wakeup_rt", "wakeup_dl" -> "SCHED_TRACER";
                    case "branch" -> "BRANCH_TRACER";
                    case "mmiotrace" -> "MMIOTRACE";
                    default -> tracer + "_TRACER";
                };
        String instead =
                switch (tracer) {
                    case "function_graph", "function" ->
                            "; 'sonde trace' measures functions with fentry and kprobe probes where"
                                    + " the kernel has them, 'sonde record' samples them";
                    case "wakeup", "wakeup_rt", "wakeup_dl", "timerlat" ->
                            "; 'sonde tool runqlat' measures the time from wake-up to running by"
                                    + " BPF";
                    case "irqsoff", "preemptoff", "preemptirqsoff" ->
                            "; 'sonde tool hardirqs' and 'sonde tool softirqs' measure handlers by"
                                    + " BPF";
                    case "osnoise", "hwlat" ->
                            "; 'sonde tool hardirqs', 'softirqs' and 'runqlat' measure what"
                                    + " interrupts and threads take, but not the hardware";
                    default -> "";
                };
        return new TracerRefusedException(
                "open",
                "tracer " + tracer,
                Errno.EINVAL,
                "this kernel does not have it (it needs CONFIG_"
                        + config.toUpperCase(Locale.ROOT).replace("AND CONFIG", "and CONFIG")
                        + "); it has "
                        + String.join(", ", tracefs.text("available_tracers").strip().split("\\s+"))
                        + instead);
    }

    /** The kernel has it, and does not take it now. */
    static TracerRefusedException tracer(String name, SyscallException refusal) {
        String why =
                switch (refusal.errno()) {
                    case Errno.EPERM, Errno.EACCES ->
                            "this kernel does not permit it (lockdown, or"
                                    + " /proc/sys/kernel/ftrace_enabled is not for this machine to"
                                    + " set); 'sonde trace' attaches to functions by BPF where the"
                                    + " kernel has fentry or kprobes, and 'sonde record' samples"
                                    + " them";
                    case Errno.EBUSY -> "it is in use: another tracer reads its rings, or has it";
                    default -> "";
                };
        return new TracerRefusedException("write", "tracer " + name, refusal.errno(), why);
    }

    /** A setting that the kernel does not take. */
    public static TracerRefusedException setting(
            String file, String meaning, SyscallException refusal, Tracefs tracefs) {
        String name = file.substring(file.lastIndexOf('/') + 1);
        String why =
                switch (refusal.errno()) {
                    case Errno.ENOENT, Errno.EACCES ->
                            "this kernel has no "
                                    + file
                                    + switch (name) {
                                        case "funcgraph-retval" ->
                                                ", which needs Linux 6.5 and"
                                                        + " CONFIG_FUNCTION_GRAPH_RETVAL; a"
                                                        + " kretprobe or fexit probe of 'sonde"
                                                        + " trace' shows return values";
                                        case "funcgraph-args" ->
                                                ", which needs Linux 6.15 and"
                                                        + " CONFIG_FUNCTION_TRACE_ARGS; a kprobe or"
                                                        + " fentry probe of 'sonde trace' shows"
                                                        + " arguments";
                                        case "funcgraph-retaddr" -> ", which needs Linux 6.13";
                                        default -> "";
                                    };
                    case Errno.EINVAL ->
                            file.startsWith("set_") ? noFunction(meaning, tracefs) : "";
                    case Errno.EPERM ->
                            "this kernel does not permit its function tracers to be set up";
                    default -> "";
                };
        return new TracerRefusedException("write", meaning, refusal.errno(), why);
    }

    /** A trigger that the kernel does not take; its log of errors has the reason. */
    static TracerRefusedException trigger(
            String event, String trigger, SyscallException refusal, String log, Tracefs tracefs) {
        // "[  12.3] hist:kmem:kmalloc: error: Couldn't find field"
        String said =
                log.lines()
                        .filter(line -> line.contains(": error: "))
                        .reduce((_, last) -> last)
                        .map(line -> line.substring(line.indexOf(": error: ") + 9).strip())
                        .orElse("");
        boolean known = tracefs.list(Tracefs.eventFolder(event)).contains("trigger");
        boolean noHist =
                known
                        && trigger.startsWith("hist:")
                        && !tracefs.list(Tracefs.eventFolder(event)).contains("hist");
        String why =
                !known
                        ? "this kernel has no such event; 'sonde list GLOB' lists them"
                        : noHist
                                ? "this kernel has no hist triggers (CONFIG_HIST_TRIGGERS); 'sonde"
                                        + " trace' counts by BPF: sonde trace 'tracepoint:"
                                        + event
                                        + " { @[comm] = count(); }'"
                                : said;
        return new TracerRefusedException("write", trigger, refusal.errno(), why);
    }

    private static String noFunction(String meaning, Tracefs tracefs) {
        String glob = meaning.substring(meaning.indexOf(' ') + 1).replaceFirst(":.*", "");
        String longest = "";
        for (String part : glob.split("[^\\w.]+")) {
            longest = part.length() > longest.length() ? part : longest;
        }
        String core = longest;
        try {
            List<String> like =
                    core.isEmpty()
                            ? List.of()
                            : tracefs.functions().stream()
                                    .filter(name -> name.contains(core))
                                    .limit(MOST_SHOWN)
                                    .toList();
            return "no function that can be traced matches; "
                    + (like.isEmpty()
                            ? "'sonde list --functions GLOB' lists them"
                            : "there are " + String.join(", ", like));
        } catch (SyscallException e) {
            return "no function that can be traced matches";
        }
    }
}
