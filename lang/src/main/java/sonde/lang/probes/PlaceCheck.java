package sonde.lang.probes;

import java.util.List;
import java.util.Set;
import sonde.lang.probes.AttachPoint.AttachTarget;
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
import sonde.lang.probes.AttachPoint.Kind;
import sonde.sys.Arch;

/** What an attach point that could be read must keep to, whatever the machine has. */
final class PlaceCheck {
    static final List<String> UNITS = List.of("hz", "ms", "s", "us");
    static final List<String> SIGNALS = List.of("SIGUSR1");

    private static final long MOST_SECONDS = Long.MAX_VALUE / 1_000_000_000L;

    private PlaceCheck() {}

    static void check(Kind kind, AttachTarget place, ParseSettings settings)
            throws AttachPointException {
        switch (place) {
            case NoPlace _ -> {}
            case NamedPlace(String name) -> {
                require(!name.isEmpty(), kind.longName() + " probes must have a name");
            }
            case SignalPlace(String signal) ->
                    require(SIGNALS.contains(signal), signal + " is not a supported signal");
            case TimePlace time -> time(kind.longName(), time);
            case CounterPlace counter -> counter(kind, counter);
            case EventPlace(String subsystem, String event) ->
                    require(
                            !subsystem.isEmpty() && !event.isEmpty(),
                            "tracepoint probe must have a target");
            case AttachTarget.RawEvent(_, String event) ->
                    require(!event.isEmpty(), "rawtracepoint should be attached to a function");
            case KernelFunctionPlace f -> {
                boolean typed = kind == Kind.FENTRY || kind == Kind.FEXIT;
                require(
                        !f.function().isEmpty() || f.address() != 0,
                        typed
                                ? "fentry/fexit should specify a function"
                                : "kprobes should be attached to a function or an address");
            }
            case AttachTarget.BpfFunction(_, String function) ->
                    require(!function.isEmpty(), "fentry/fexit should specify a function");
            case AttachTarget.UserFunction f -> user(kind.longName(), f, settings);
            case SourceLinePlace line ->
                    require(line.line() > 0, "Invalid line number: " + line.line());
            case MarkerPlace marker ->
                    require(
                            !marker.name().isEmpty(),
                            "usdt probe must have a target function or wildcard");
            case MemoryPlace memory -> memory(memory);
            case IteratorPlace(String iterator, _) ->
                    require(!iterator.isEmpty(), "iter should specify a iterator's name");
        }
    }

    private static void require(boolean fits, String message) throws AttachPointException {
        if (!fits) {
            throw new AttachPointException(message);
        }
    }

    private static void time(String kind, TimePlace time) throws AttachPointException {
        require(!time.unit().isEmpty(), kind + " probe must have unit of time");
        require(
                UNITS.contains(time.unit()),
                time.unit()
                        + " is not an accepted unit of time; there are "
                        + String.join(", ", UNITS));
        long most = time.unit().equals("s") ? MOST_SECONDS : Long.MAX_VALUE / 1_000_000L;
        require(
                time.count() > 0 && time.count() <= most,
                kind + " frequency should be a positive integer");
    }

    private static void counter(Kind kind, CounterPlace counter) throws AttachPointException {
        String name = kind.longName();
        boolean hardware = kind == Kind.HARDWARE;
        String event = counter.event();
        require(!event.isEmpty(), name + " probe must have a " + name + " event name");
        require(
                !NamePattern.isPattern(event),
                "wildcards are not allowed for " + name + " probe type");
        require(CounterTable.find(hardware, event) != null, event + " is not a " + name + " probe");
        require(
                counter.count() >= 0,
                name + (hardware ? " frequency" : " count") + " should be a positive integer");
    }

    private static void user(String kind, AttachTarget.UserFunction f, ParseSettings settings)
            throws AttachPointException {
        require(!f.path().isEmpty(), kind + " should have a target");
        require(
                !f.function().isEmpty() || f.address() != 0 || settings.unsafe(),
                kind + " should be attached to a function and/or address");
    }

    private static void memory(MemoryPlace memory) throws AttachPointException {
        require(memory.address() != 0, "watchpoint must be attached to a non-zero address");
        require(
                Set.of(1, 2, 4, 8).contains(memory.length()),
                "watchpoint length must be one of (1,2,4,8)");
        String mode = memory.mode();
        require(
                !mode.isEmpty() && mode.chars().allMatch(c -> c == 'r' || c == 'w' || c == 'x'),
                "watchpoint mode must be combination of (r,w,x)");
        require(
                mode.chars().distinct().count() == mode.length(),
                "watchpoint modes may not be duplicated");
        List<String> supported =
                Arch.current() == Arch.X86_64
                        ? List.of("rw", "w", "x")
                        : List.of("r", "rw", "w", "x");
        if (!supported.contains(mode)) {
            throw new AttachPointException(
                    "invalid watchpoint mode: " + mode,
                    "supported modes: " + String.join(",", supported));
        }
    }
}
