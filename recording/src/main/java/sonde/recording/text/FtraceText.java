package sonde.recording.text;

import sonde.event.Clock;

/** A text of ftrace as a whole: {@code trace}, {@code trace_pipe}, {@code trace-cmd report}. */
final class FtraceText extends TextModel {
    private static final String SYSTEM = "ftrace";

    final Shape function = schema.shape(SYSTEM, "function");
    final Shape entry = schema.shape(SYSTEM, "funcgraph_entry");
    final Shape exit = schema.shape(SYSTEM, "funcgraph_exit");
    final Shape kernelStack = schema.shape(SYSTEM, "kernel_stack");
    final Shape userStack = schema.shape(SYSTEM, "user_stack");
    final Shape print = schema.shape(SYSTEM, "print");
    final Shape wakeup = schema.shape(SYSTEM, "wakeup");
    final Shape contextSwitch = schema.shape(SYSTEM, "context_switch");
    final Shape hwlat = schema.shape(SYSTEM, "hwlat");
    final Shape osnoise = schema.shape(SYSTEM, "osnoise");
    final Shape timerlat = schema.shape(SYSTEM, "timerlat");

    /** Lines with a head whose rest is no event. */
    final Shape raw = schema.shape(EventSystems.UNKNOWN, "raw");

    /** Whether a time had no point. */
    boolean counts;

    /** Whether lines are those of function_graph. */
    boolean graph;

    @Override
    TextItems items(Lines lines) {
        return new FtraceItems(this, lines);
    }

    @Override
    Clock clock() {
        return counts ? Clock.UNKNOWN : Clock.LOCAL;
    }
}
