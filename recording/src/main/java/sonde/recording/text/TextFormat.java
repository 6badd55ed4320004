package sonde.recording.text;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;

/** The texts that are read; which one a file is, its first 64 KiB say, never its name. */
public enum TextFormat {
    /** {@code trace}, {@code trace_pipe} of tracefs, {@code trace-cmd report}. */
    FTRACE("ftrace text"),
    /** The HTML page of Android's systrace, or {@code atrace -z}; a text of ftrace is inside. */
    SYSTRACE("systrace"),
    /** {@code perf script}. */
    PERF_SCRIPT("perf script"),
    /** Stacks with counts, {@code a;b;c N}. */
    FOLDED("folded stacks"),
    /** Stacks in blocks, each with its count below: DTrace's {@code @[stack()]}. */
    STACK_BLOCKS("stacks"),
    /** {@code strace}. */
    STRACE("strace"),
    /** {@code dmesg}, a console's log, /dev/kmsg, {@code journalctl -k}. */
    DMESG("kernel log"),
    /** {@code hist} of an event in tracefs. */
    HISTOGRAM("event histogram"),
    /** {@code kprobe_profile}, {@code uprobe_profile} of tracefs. */
    PROBE_PROFILE("probe profile");

    private final String fileName;

    TextFormat(String fileName) {
        this.fileName = fileName;
    }

    /** What the source is called. */
    String fileName() {
        return fileName;
    }

    /** The format of a text; null when it is none of these. */
    public static @Nullable TextFormat of(Input input) {
        return TextRecogniser.of(input.segment());
    }

    /**
     * Why a text of a tool that is known holds no events, as the rest of a sentence that begins
     * with its name; empty for any other.
     */
    public static String refusal(Input input) {
        return TextRecogniser.refusal(input.segment());
    }

    TextModel model() {
        return switch (this) {
            case FTRACE, SYSTRACE -> new FtraceText();
            case PERF_SCRIPT -> new PerfText();
            case FOLDED -> new StackText(true);
            case STACK_BLOCKS -> new StackText(false);
            case STRACE -> new StraceText();
            case DMESG -> new DmesgText();
            case HISTOGRAM -> new CountText(true);
            case PROBE_PROFILE -> new CountText(false);
        };
    }

    /** Where the lines are. */
    MemorySegment content(Input input) throws MalformedInputException {
        return this == SYSTRACE ? Systrace.content(input.segment()) : input.segment();
    }
}
