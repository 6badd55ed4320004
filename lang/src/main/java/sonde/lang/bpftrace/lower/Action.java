package sonde.lang.bpftrace.lower;

import sonde.lang.output.RuntimeFault;
import sonde.lang.source.Span;
import sonde.lang.type.Tuple;
import sonde.lang.type.Type;

/** What the tracer does when a program's event arrives; events carry its number and arguments. */
public sealed interface Action {
    /**
     * Whether its events must not be lost: they go through {@link Unit#CONTROL}, and are handled
     * when the events that came before them are.
     */
    default boolean isControl() {
        return switch (this) {
            case PrintMap _, EmptyMap _, Exit _, Report _, HelperError _, Fault _, Unwatch _ ->
                    true;
            case Print _,
                    PrintValue _,
                    Time _,
                    Cat _,
                    System _,
                    Join _,
                    Pattern _,
                    Packet _,
                    Put _ ->
                    false;
        };
    }

    /** {@code printf(format, …)}. */
    record Print(String format, Tuple arguments) implements Action {}

    /** {@code print(value)}. */
    record PrintValue(Type type) implements Action {}

    /**
     * {@code print(@map, top, div)}.
     *
     * @param top 0 for all
     * @param divisor 1 for none
     */
    record PrintMap(String map, int top, long divisor) implements Action {}

    /** {@code clear(@map)}, {@code zero(@map)}. */
    record EmptyMap(String map, boolean keepKeys) implements Action {}

    /**
     * {@code skboutput(path, …)}: comes through {@link Unit#PACKETS}; behind its number 8 bytes
     * time of the boot clock, 8 bytes length of what follows, the packet.
     *
     * @param offset bytes of it that are left out
     */
    record Packet(String path, int offset) implements Action {
        /** Bytes in front of the packet. */
        public static final int HEAD_BYTES = 24;
    }

    /**
     * {@code @map[key] = value} of {@link MapPlan#isKeptByTracer}: the key, zeros to a multiple of
     * 8, a value; of an aggregate what it is of this one observation.
     */
    record Put(String map) implements Action {}

    /** {@code exit(code)}; 4 bytes: the code. */
    record Exit() implements Action {}

    /** {@code time(format)}. */
    record Time(String format) implements Action {}

    /** {@code cat(format, …)}. */
    record Cat(String format, Tuple arguments) implements Action {}

    /** {@code system(format, …)}. */
    record System(String format, Tuple arguments) implements Action {}

    /**
     * {@code join(arguments, separator)}: texts of {@code textBytes} each, at most {@code most},
     * the first empty one ends them.
     */
    record Join(String separator, int most, int textBytes) implements Action {}

    /** {@code errorf(format, …)}, {@code warnf(format, …)}. */
    record Report(boolean error, String format, Tuple arguments, Span span) implements Action {}

    /** A helper failed; 4 bytes: its errno, negative. */
    record HelperError(String helper, Span span) implements Action {}

    /** The script did what it should not. */
    record Fault(RuntimeFault fault, Span span) implements Action {}

    /** {@code unwatch(address)}; 8 bytes: the address. */
    record Unwatch() implements Action {}

    /** A text in an event of this kind: its pattern ({@code strftime}, {@code cgroup_path}). */
    record Pattern(String text) implements Action {}
}
