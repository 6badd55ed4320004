package sonde.lang.bpftrace.lower;

import sonde.lang.output.RuntimeFault;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.TupleType;
import sonde.lang.type.ValueType;

/** What the tracer does when a program's event arrives; events carry its number and arguments. */
public sealed interface EventAction {
    /**
     * Whether its events must not be lost: they go through {@link ScriptUnit#CONTROL}, and are
     * handled when the events that came before them are.
     */
    default boolean isControl() {
        return switch (this) {
            case PrintMap _,
                    EmptyMap _,
                    ExitAction _,
                    ReportAction _,
                    HelperError _,
                    FaultAction _,
                    UnwatchAction _ ->
                    true;
            case PrintAction _,
                    PrintValue _,
                    TimeAction _,
                    CatAction _,
                    SystemAction _,
                    JoinAction _,
                    PatternAction _,
                    PacketAction _,
                    PutAction _ ->
                    false;
        };
    }

    /** {@code printf(format, …)}. */
    record PrintAction(String format, TupleType arguments) implements EventAction {}

    /** {@code print(value)}. */
    record PrintValue(ValueType type) implements EventAction {}

    /**
     * {@code print(@map, top, div)}.
     *
     * @param top 0 for all
     * @param divisor 1 for none
     */
    record PrintMap(String map, int top, long divisor) implements EventAction {}

    /** {@code clear(@map)}, {@code zero(@map)}. */
    record EmptyMap(String map, boolean keepKeys) implements EventAction {}

    /**
     * {@code skboutput(path, …)}: comes through {@link ScriptUnit#PACKETS}; behind its number 8
     * bytes time of the boot clock, 8 bytes length of what follows, the packet.
     *
     * @param offset bytes of it that are left out
     */
    record PacketAction(String path, int offset) implements EventAction {
        /** Bytes in front of the packet. */
        public static final int HEAD_BYTES = 24;
    }

    /**
     * {@code @map[key] = value} of {@link MapPlan#isKeptByTracer}: the key, zeros to a multiple of
     * 8, a value; of an aggregate what it is of this one observation.
     */
    record PutAction(String map) implements EventAction {}

    /** {@code exit(code)}; 4 bytes: the code. */
    record ExitAction() implements EventAction {}

    /** {@code time(format)}. */
    record TimeAction(String format) implements EventAction {}

    /** {@code cat(format, …)}. */
    record CatAction(String format, TupleType arguments) implements EventAction {}

    /** {@code system(format, …)}. */
    record SystemAction(String format, TupleType arguments) implements EventAction {}

    /**
     * {@code join(arguments, separator)}: texts of {@code textBytes} each, at most {@code most},
     * the first empty one ends them.
     */
    record JoinAction(String separator, int most, int textBytes) implements EventAction {}

    /** {@code errorf(format, …)}, {@code warnf(format, …)}. */
    record ReportAction(boolean error, String format, TupleType arguments, SourceSpan span)
            implements EventAction {}

    /** A helper failed; 4 bytes: its errno, negative. */
    record HelperError(String helper, SourceSpan span) implements EventAction {}

    /** The script did what it should not. */
    record FaultAction(RuntimeFault fault, SourceSpan span) implements EventAction {}

    /** {@code unwatch(address)}; 8 bytes: the address. */
    record UnwatchAction() implements EventAction {}

    /** A text in an event of this kind: its pattern ({@code strftime}, {@code cgroup_path}). */
    record PatternAction(String text) implements EventAction {}
}
