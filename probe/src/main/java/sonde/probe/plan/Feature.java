package sonde.probe.plan;

/** What recordings and scripts can build on. */
public enum Feature {
    /** Instances can be made in tracefs and events read from their rings. */
    TRACEFS("ftrace instances"),
    /** perf events on a CPU for all tasks. */
    PERF_SYSTEM_WIDE("perf events of all tasks"),
    /** perf events on own tasks. */
    PERF_TASK("perf events of own tasks"),
    /** perf samples of kernel code and the kernel part of call chains. */
    PERF_KERNEL("samples of kernel code"),
    /** Hardware counters. */
    HARDWARE_COUNTERS("hardware counters"),
    /** PERF_FORMAT_LOST, Linux 6.0 (commit 119a784c8127). */
    PERF_LOST("exact count of lost samples"),
    /** bpf(2) with programs on tracepoints. */
    BPF("BPF programs"),
    /** Breakpoints in functions of the kernel. */
    KPROBES("kprobes, kretprobes"),
    /** Programs called at functions of the kernel. */
    FENTRY("fentry, fexit"),
    /** Addresses in /proc/kallsyms. */
    KERNEL_SYMBOLS("kernel symbols");

    private final String title;

    Feature(String title) {
        this.title = title;
    }

    /** What it is, for people. */
    public String title() {
        return title;
    }
}
