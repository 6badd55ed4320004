package sonde.probe.perf;

import sonde.symbol.CodeMapping;

/** Something that happened to a process, as {@link ProcessLife} tells it; CLOCK_MONOTONIC. */
public sealed interface LifeRecord {
    /** When. */
    long timeNanos();

    /** The process, as numbered where the records were asked for. */
    int pid();

    /** It mapped something that may be executed. */
    record Mapped(long timeNanos, int pid, CodeMapping mapping) implements LifeRecord {}

    /** It came as a copy of another one; equal numbers: a thread came. */
    record Forked(long timeNanos, int pid, int parent) implements LifeRecord {}

    /** It began a new program. */
    record Execed(long timeNanos, int pid) implements LifeRecord {}

    /** Its first thread ended. */
    record ExitedRecord(long timeNanos, int pid) implements LifeRecord {}

    /** The kernel made a function: a BPF program, a trampoline; the process is 0. */
    record KernelSymbol(long timeNanos, int pid, long start, long lengthBytes, String name)
            implements LifeRecord {}
}
