package sonde.lang.probes;

import java.util.List;
import java.util.Set;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.probes.AttachPoint.Place;
import sonde.sys.Arch;

/** What an attach point that could be read must keep to, whatever the machine has. */
final class PlaceCheck {
    static final List<String> UNITS = List.of("hz", "ms", "s", "us");
    static final List<String> SIGNALS = List.of("SIGUSR1");

    private static final long MOST_SECONDS = Long.MAX_VALUE / 1_000_000_000L;

    private PlaceCheck() {}

    static void check(Kind kind, Place place, ParseSettings settings) throws AttachPointException {
        switch (place) {
            case Place.Nowhere _ -> {}
            case Place.Named(String name) -> {
                require(!name.isEmpty(), kind.longName() + " probes must have a name");
            }
            case Place.Signal(String signal) ->
                    require(SIGNALS.contains(signal), signal + " is not a supported signal");
            case Place.Time time -> time(kind.longName(), time);
            case Place.Counter counter -> counter(kind, counter);
            case Place.Event(String subsystem, String event) ->
                    require(
                            !subsystem.isEmpty() && !event.isEmpty(),
                            "tracepoint probe must have a target");
            case Place.RawEvent(_, String event) ->
                    require(!event.isEmpty(), "rawtracepoint should be attached to a function");
            case Place.KernelFunction f -> {
                boolean typed = kind == Kind.FENTRY || kind == Kind.FEXIT;
                require(
                        !f.function().isEmpty() || f.address() != 0,
                        typed
                                ? "fentry/fexit should specify a function"
                                : "kprobes should be attached to a function or an address");
            }
            case Place.BpfFunction(_, String function) ->
                    require(!function.isEmpty(), "fentry/fexit should specify a function");
            case Place.UserFunction f -> user(kind.longName(), f, settings);
            case Place.SourceLine line ->
                    require(line.line() > 0, "Invalid line number: " + line.line());
            case Place.Marker marker ->
                    require(
                            !marker.name().isEmpty(),
                            "usdt probe must have a target function or wildcard");
            case Place.Memory memory -> memory(memory);
            case Place.Objects(String iterator, _) ->
                    require(!iterator.isEmpty(), "iter should specify a iterator's name");
        }
    }

    private static void require(boolean fits, String message) throws AttachPointException {
        if (!fits) {
            throw new AttachPointException(message);
        }
    }

    private static void time(String kind, Place.Time time) throws AttachPointException {
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

    private static void counter(Kind kind, Place.Counter counter) throws AttachPointException {
        String name = kind.longName();
        boolean hardware = kind == Kind.HARDWARE;
        String event = counter.event();
        require(!event.isEmpty(), name + " probe must have a " + name + " event name");
        require(
                !Wildcards.isPattern(event),
                "wildcards are not allowed for " + name + " probe type");
        require(CounterTable.find(hardware, event) != null, event + " is not a " + name + " probe");
        require(
                counter.count() >= 0,
                name + (hardware ? " frequency" : " count") + " should be a positive integer");
    }

    private static void user(String kind, Place.UserFunction f, ParseSettings settings)
            throws AttachPointException {
        require(!f.path().isEmpty(), kind + " should have a target");
        require(
                !f.function().isEmpty() || f.address() != 0 || settings.unsafe(),
                kind + " should be attached to a function and/or address");
    }

    private static void memory(Place.Memory memory) throws AttachPointException {
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
