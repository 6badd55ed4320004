package sonde.lang.probes;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import sonde.lang.probes.AttachPoint.AttachTarget.CounterPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.EventPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.IteratorPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.KernelFunctionPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.MarkerPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.MemoryPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.NamedPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.NoPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.SignalPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.SourceLinePlace;
import sonde.lang.probes.AttachPoint.AttachTarget.TimePlace;
import sonde.lang.source.SourceSpan;

/**
 * An attach point as a script states it, its parts taken apart, before anything is looked up.
 *
 * @param text as it stands in the script
 * @param userName the word before {@code =}, empty for none
 */
public record AttachPoint(
        SourceSpan span, Kind kind, String text, String userName, AttachTarget place) {
    /** Kinds of probes; the comments are the names scripts have for them. */
    public enum Kind {
        /** {@code begin}: before all others are attached. */
        BEGIN("begin"),
        /** {@code end}: after all others are detached. */
        END("end"),
        /** {@code self}: when something happens to the tracer itself. */
        SELF("self"),
        /** {@code test}: once, its result tells success. */
        TEST("test"),
        /** {@code bench}: many times, its time is measured. */
        BENCH("bench"),
        /** {@code interval}, {@code i}: a clock on one CPU. */
        INTERVAL("interval", "i"),
        /** {@code profile}, {@code p}: a clock on every CPU. */
        PROFILE("profile", "p"),
        /** {@code software}, {@code s}: counters of the kernel. */
        SOFTWARE("software", "s"),
        /** {@code hardware}, {@code h}: counters of the CPU. */
        HARDWARE("hardware", "h"),
        /** {@code tracepoint}, {@code t}. */
        TRACEPOINT("tracepoint", "t"),
        /** {@code rawtracepoint}, {@code rt}. */
        RAWTRACEPOINT("rawtracepoint", "rt"),
        /** {@code kprobe}, {@code k}: any instruction of the kernel. */
        KPROBE("kprobe", "k"),
        /** {@code kretprobe}, {@code kr}: returns of functions of the kernel. */
        KRETPROBE("kretprobe", "kr"),
        /** {@code fentry}, {@code f}, {@code kfunc}: begins of functions, with types. */
        FENTRY("fentry", "f", "kfunc"),
        /** {@code fexit}, {@code fr}, {@code kretfunc}: ends of functions, with types. */
        FEXIT("fexit", "fr", "kretfunc"),
        /** {@code uprobe}, {@code u}: any instruction of a file. */
        UPROBE("uprobe", "u"),
        /** {@code uretprobe}, {@code ur}: returns of functions of a file. */
        URETPROBE("uretprobe", "ur"),
        /** {@code usdt}, {@code U}: markers in programs. */
        USDT("usdt", "U"),
        /** {@code watchpoint}, {@code w}: memory. */
        WATCHPOINT("watchpoint", "w"),
        /** {@code iter}, {@code it}: objects of the kernel, one after the other. */
        ITER("iter", "it");

        private static final List<Kind> ALL = List.of(values());

        private final List<String> names;

        Kind(String... names) {
            this.names = List.of(names);
        }

        /** {@code "tracepoint"}. */
        public String longName() {
            return names.getFirst();
        }

        /** {@code "t"}; the long one where there is no short one. */
        public String shortName() {
            return names.size() > 1 ? names.get(1) : names.getFirst();
        }

        /** All, the long one first. */
        public List<String> names() {
            return names;
        }

        /** The kind of a name, exactly so if one is ({@code U}, {@code u}), else in any case. */
        public static @Nullable Kind of(String name) {
            for (Kind kind : ALL) {
                if (kind.names.contains(name)) {
                    return kind;
                }
            }
            String lower = name.toLowerCase(Locale.ROOT);
            for (Kind kind : ALL) {
                if (kind.names.contains(lower)) {
                    return kind;
                }
            }
            return null;
        }

        /** Whether it runs where a function ends. */
        public boolean isReturn() {
            return this == KRETPROBE || this == URETPROBE || this == FEXIT;
        }

        /**
         * Whether a run of its program can be interrupted by another of the same program on its
         * CPU: the kernel neither keeps the task running (bpf_prog_run_array_uprobe,
         * bpf_iter_run_prog: only migrate_disable) nor refuses the second run.
         */
        public boolean isInterruptible() {
            return this == UPROBE || this == URETPROBE || this == USDT || this == ITER;
        }

        /** Whether the tracer itself runs it, by hand. */
        public boolean isSpecial() {
            return compareTo(BENCH) <= 0;
        }
    }

    /** What the kind is of; {@code *} in texts stands for any characters. */
    public sealed interface AttachTarget {
        /** The target of {@link Kind#BEGIN} and {@link Kind#END}. */
        record NoPlace() implements AttachTarget {}

        /** {@code test:NAME}, {@code bench:NAME}. */
        record NamedPlace(String name) implements AttachTarget {}

        /** {@code self:signal:SIGUSR1}. */
        record SignalPlace(String signal) implements AttachTarget {}

        /**
         * {@code interval:s:1}.
         *
         * @param unit {@code s}, {@code ms}, {@code us} or {@code hz}; {@code us} where the script
         *     has a number alone
         */
        record TimePlace(String unit, long count) implements AttachTarget {
            /** From one run to the next; 0 where it is a rate. */
            public long nanos() {
                return switch (unit) {
                    case "s" -> count * 1_000_000_000L;
                    case "ms" -> count * 1_000_000L;
                    case "us" -> count * 1_000L;
                    default -> 0;
                };
            }
        }

        /**
         * {@code software:faults:100}.
         *
         * @param count 0 for what is usual
         */
        record CounterPlace(String event, long count) implements AttachTarget {}

        /** {@code tracepoint:sched:sched_switch}. */
        record EventPlace(String subsystem, String event) implements AttachTarget {}

        /**
         * {@code rawtracepoint:vmlinux:sched_switch}.
         *
         * @param module {@code *} where the script has none
         */
        record RawEvent(String module, String event) implements AttachTarget {}

        /**
         * {@code kprobe:kvm:x86_emulate_insn+4}, {@code fentry:vfs_read}.
         *
         * @param module empty where the script has none
         * @param function empty where there is an address
         */
        record KernelFunctionPlace(String module, String function, long offset, long address)
                implements AttachTarget {}

        /**
         * {@code fentry:bpf:12:name}.
         *
         * @param program 0 for all
         */
        record BpfFunction(int program, String function) implements AttachTarget {}

        /**
         * {@code uprobe:/bin/bash:readline+4}.
         *
         * @param cpp whether the function is meant as C++ writes it
         * @param function empty where there is an address
         */
        record UserFunction(String path, boolean cpp, String function, long offset, long address)
                implements AttachTarget {}

        /**
         * {@code uprobe:/bin/bash@readline.c:362:5}.
         *
         * @param column 0 for any
         */
        record SourceLinePlace(String path, String file, int line, int column)
                implements AttachTarget {}

        /**
         * {@code usdt:/usr/bin/node:node:gc__start}.
         *
         * @param path empty for all files of the process
         * @param provider empty for any
         */
        record MarkerPlace(String path, String provider, String name) implements AttachTarget {}

        /**
         * {@code watchpoint:0x1000:8:rw}.
         *
         * @param mode its letters sorted
         */
        record MemoryPlace(long address, int length, String mode) implements AttachTarget {}

        /**
         * {@code iter:task:pin}.
         *
         * @param pin empty for none
         */
        record IteratorPlace(String iterator, String pin) implements AttachTarget {}
    }

    /** Whether something in it stands for more than itself. */
    public boolean isPattern() {
        return switch (place) {
            case EventPlace e ->
                    NamePattern.isPattern(e.subsystem()) || NamePattern.isPattern(e.event());
            case AttachTarget.RawEvent e ->
                    NamePattern.isPattern(e.module()) || NamePattern.isPattern(e.event());
            case KernelFunctionPlace f ->
                    NamePattern.isPattern(f.module()) || NamePattern.isPattern(f.function());
            case AttachTarget.BpfFunction f ->
                    f.program() == 0 || NamePattern.isPattern(f.function());
            case AttachTarget.UserFunction f ->
                    f.cpp()
                            || NamePattern.isPattern(f.path())
                            || NamePattern.isPattern(f.function());
            case MarkerPlace m ->
                    m.path().isEmpty()
                            || m.provider().isEmpty()
                            || NamePattern.isPattern(m.path())
                            || NamePattern.isPattern(m.provider())
                            || NamePattern.isPattern(m.name());
            case NoPlace _,
                    NamedPlace _,
                    SignalPlace _,
                    TimePlace _,
                    CounterPlace _,
                    SourceLinePlace _,
                    MemoryPlace _,
                    IteratorPlace _ ->
                    false;
        };
    }
}
