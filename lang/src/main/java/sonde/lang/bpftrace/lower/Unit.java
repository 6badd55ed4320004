package sonde.lang.bpftrace.lower;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.check.MapSymbol;

/** What the programs of a script share: maps, texts, the actions that their events ask for. */
public final class Unit {
    /** Map of one value: the texts of the script. */
    public static final String TEXTS = ".texts";

    /** Map of one value: as many zeros as the largest value of a map has. */
    public static final String ZEROS = ".zeros";

    /** The ring that events go to. */
    public static final String RING = ".ring";

    /**
     * The ring for what must not be lost: {@link Action#isControl}. Its records begin with 8 bytes
     * number of the action and 8 bytes position in {@link #RING} that they follow.
     */
    public static final String CONTROL = ".control";

    /** Array of a perf ring for each CPU, where the script writes packets. */
    public static final String PACKETS = ".packets";

    /** Bytes of {@link #CONTROL}. */
    public static final int CONTROL_BYTES = 1 << 18;

    /** Bytes of {@link #CONTROL} that only the script's end may use. */
    static final int EXIT_BYTES = 1 << 15;

    /** Map of one value: 8 bytes, 1 once the script asked for its end. */
    public static final String ENDED = ".ended";

    /** Map of one value: what was lost, by program and reason. */
    public static final String LOST = ".lost";

    /** Why something was lost. */
    public enum Reason {
        /** The ring was full: an event. */
        RING_FULL("ring full"),
        /** The ring for control was full: what the script asked the tracer for. */
        CONTROL_FULL("control ring full"),
        /** A map was full: a value. */
        MAP_FULL("map full"),
        /** A map could not be written to, as where the probe had interrupted a writer: a value. */
        MAP_BUSY("map busy");

        private final String words;

        Reason(String words) {
            this.words = words;
        }

        /** As it is told. */
        public String words() {
            return words;
        }

        /** Whether it is an event that did not come, not a value. */
        public boolean isEvent() {
            return this == RING_FULL || this == CONTROL_FULL;
        }
    }

    private final Options options;
    private final boolean exits;
    private final List<Action> actions = new ArrayList<>();
    private final Map<Action, Integer> numbers = new HashMap<>();
    private final ByteArrayOutputStream texts = new ByteArrayOutputStream();
    private final Map<String, Integer> offsets = new HashMap<>();
    private final Map<String, MapPlan> maps = new LinkedHashMap<>();
    private byte @Nullable [] ready;
    private int zeros = 8;
    private int frames;
    private int programs;

    /** Nothing lowered. */
    public Unit(Options options, Map<String, MapSymbol> symbols, boolean exits) {
        this.options = options;
        this.exits = exits;
        symbols.forEach((name, symbol) -> maps.put(name, MapPlan.of(symbol, options.mapEntries())));
    }

    /**
     * What programs share that were lowered before.
     *
     * @param texts what {@link #TEXTS} holds
     * @param frames bytes of the map of frames
     * @param programs that losses are counted for
     */
    public static Unit of(
            List<MapPlan> plans,
            List<Action> known,
            byte[] texts,
            int zeros,
            int frames,
            int programs) {
        Options none = new Options(0, 0, 1, false, 0, 0, 0, 0, 0, 0, Set.of(), "", null);
        Unit unit = new Unit(none, Map.of(), false);
        plans.forEach(plan -> unit.maps.put(plan.name(), plan));
        unit.actions.addAll(known);
        unit.ready = texts.clone();
        unit.zeros = zeros;
        unit.frames = frames;
        unit.programs = programs;
        return unit;
    }

    /** Names of the maps that are not the script's. */
    public static Set<String> ownMaps() {
        return Set.of(TEXTS, ZEROS, RING, CONTROL, PACKETS, ENDED, LOST, Frame.MAP);
    }

    /** How many programs were lowered. */
    public int programs() {
        return programs;
    }

    /** Whether a program may end the trace: then each looks whether one has. */
    boolean exits() {
        return exits;
    }

    /** How to lower. */
    public Options options() {
        return options;
    }

    /** The maps of the script, in the order in which it names them. */
    public Map<String, MapPlan> maps() {
        return maps;
    }

    MapPlan map(String name) {
        MapPlan plan = maps.get(name);
        if (plan == null) {
            throw new IllegalStateException("no map " + name);
        }
        return plan;
    }

    /** Actions by number. */
    public List<Action> actions() {
        return actions;
    }

    /** Whether the script writes packets. */
    public boolean hasPackets() {
        return actions.stream().anyMatch(Action.Packet.class::isInstance);
    }

    int action(Action action) {
        return numbers.computeIfAbsent(
                action,
                a -> {
                    actions.add(a);
                    return actions.size() - 1;
                });
    }

    /** Where a text lies in {@link #TEXTS}, with zeros to a multiple of 8 behind it. */
    int text(String bytes) {
        return offsets.computeIfAbsent(
                bytes,
                b -> {
                    int at = texts.size();
                    texts.writeBytes(b.getBytes(StandardCharsets.ISO_8859_1));
                    do {
                        texts.write(0);
                    } while (texts.size() % 8 != 0);
                    return at;
                });
    }

    /** At least so many zeros are needed. */
    void zeros(int sizeBytes) {
        zeros = Math.max(zeros, sizeBytes + 7 & ~7);
    }

    /** What {@link #TEXTS} holds. */
    public byte[] texts() {
        byte[] given = ready;
        return given == null ? texts.toByteArray() : given.clone();
    }

    /** Bytes of {@link #ZEROS}. */
    public int zeroBytes() {
        return zeros;
    }

    /** Bytes of the map of frames; 0 for none. */
    public int frameBytes() {
        return frames;
    }

    int frameStart() {
        return frames;
    }

    void addFrame(int sizeBytes) {
        frames += sizeBytes;
    }

    int addProgram() {
        return programs++;
    }

    /** Bytes of {@link #LOST}. */
    public int lostBytes() {
        return Math.max(1, programs) * Reason.values().length * 8;
    }

    /** Where a counter lies in {@link #LOST}. */
    public static int lostAt(int program, Reason reason) {
        return (program * Reason.values().length + reason.ordinal()) * 8;
    }
}
