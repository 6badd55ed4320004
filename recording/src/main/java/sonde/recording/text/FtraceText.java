package sonde.recording.text;

import sonde.event.Clock;

/** A text of ftrace as a whole: {@code trace}, {@code trace_pipe}, {@code trace-cmd report}. */
final class FtraceText extends TextModel {
    private static final String SYSTEM = "ftrace";

    final LearntType function = schema.shape(SYSTEM, "function");
    final LearntType entry = schema.shape(SYSTEM, "funcgraph_entry");
    final LearntType exit = schema.shape(SYSTEM, "funcgraph_exit");
    final LearntType kernelStack = schema.shape(SYSTEM, "kernel_stack");
    final LearntType userStack = schema.shape(SYSTEM, "user_stack");
    final LearntType print = schema.shape(SYSTEM, "print");
    final LearntType wakeup = schema.shape(SYSTEM, "wakeup");
    final LearntType contextSwitch = schema.shape(SYSTEM, "context_switch");
    final LearntType hwlat = schema.shape(SYSTEM, "hwlat");
    final LearntType osnoise = schema.shape(SYSTEM, "osnoise");
    final LearntType timerlat = schema.shape(SYSTEM, "timerlat");

    /** The head of a latency tracer's text: how long, whom it hit, between which functions. */
    final LearntType latency = schema.shape(SYSTEM, "latency");

    /** Lines with a head whose rest is not an event. */
    final LearntType raw = schema.shape(EventSystems.UNKNOWN, "raw");

    /** Whether a time had no point. */
    boolean counts;

    /** Whether lines are those of function_graph. */
    boolean graph;

    @Override
    TextItems items(LineWindow lines) {
        return new FtraceItems(this, lines);
    }

    @Override
    Clock clock() {
        return counts ? Clock.UNKNOWN : Clock.LOCAL;
    }
}
