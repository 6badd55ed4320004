package sonde.lang.bpftrace.lower;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.check.MapSymbol;
import sonde.lang.bpftrace.lower.EventAction.PacketAction;

/** What the programs of a script share: maps, texts, the actions that their events ask for. */
public final class ScriptUnit {
    /** Map of one value: the texts of the script. */
    public static final String TEXTS = ".texts";

    /** The ring that events go to. */
    public static final String RING = ".ring";

    /**
     * The ring for what must not be lost: {@link EventAction#isControl}. Its records begin with 8
     * bytes number of the action and 8 bytes position in {@link #RING} that they follow.
     */
    public static final String CONTROL = ".control";

    /** Name of the function that programs call for user stacks ({@code UserStackFunction}). */
    public static final String USER_STACK = ".ustack";

    /** Array of a perf ring for each CPU, where the script writes packets. */
    public static final String PACKETS = ".packets";

    /** Bytes of {@link #CONTROL}. */
    public static final int CONTROL_BYTES = 1 << 18;

    /** Bytes of {@link #CONTROL} that only the script's end may use. */
    static final int EXIT_BYTES = 1 << 15;

    /** Map of one value: 8 bytes, 1 once the script asked for its end. */
    public static final String ENDED = ".ended";

    /**
     * Map of one value: as many zeros as the largest first value has that a program sets, then a
     * row of {@link ScriptLosses} for each program.
     */
    public static final String SHARED = ".shared";

    private final LoweringOptions options;
    private final boolean exits;
    private final List<EventAction> actions = new ArrayList<>();
    private final Map<EventAction, Integer> numbers = new HashMap<>();
    private final ByteArrayOutputStream texts = new ByteArrayOutputStream();
    private final Map<String, Integer> offsets = new HashMap<>();
    private final Map<String, MapPlan> maps = new LinkedHashMap<>();
    private byte @Nullable [] ready;
    private int zeros;
    private int frames;
    private int programs;

    /** Nothing lowered. */
    public ScriptUnit(LoweringOptions options, Map<String, MapSymbol> symbols, boolean exits) {
        this.options = options;
        this.exits = exits;
        symbols.forEach((name, symbol) -> maps.put(name, MapPlan.of(symbol, options.mapEntries())));
        zeros = maps.values().stream().mapToInt(AggregateLowering::zeros).max().orElse(0) + 7 & ~7;
    }

    /**
     * What programs share that were lowered before.
     *
     * @param texts what {@link #TEXTS} holds
     * @param frames bytes of the map of frames
     * @param programs that losses are counted for
     */
    public static ScriptUnit of(
            List<MapPlan> plans,
            List<EventAction> known,
            byte[] texts,
            int zeros,
            int frames,
            int programs) {
        LoweringOptions none =
                new LoweringOptions(0, 0, 1, false, 0, 0, 0, 0, 0, 0, Set.of(), "", null);
        ScriptUnit unit = new ScriptUnit(none, Map.of(), false);
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
        return Set.of(TEXTS, RING, CONTROL, PACKETS, ENDED, SHARED, ScratchMemory.MAP);
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
    public LoweringOptions options() {
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
    public List<EventAction> actions() {
        return actions;
    }

    /** Whether the script writes packets. */
    public boolean hasPackets() {
        return actions.stream().anyMatch(PacketAction.class::isInstance);
    }

    int action(EventAction action) {
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

    /** What {@link #TEXTS} holds. */
    public byte[] texts() {
        byte[] given = ready;
        return given == null ? texts.toByteArray() : given.clone();
    }

    /** Bytes of the zeros at the begin of {@link #SHARED}. */
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

    /** What {@link #SHARED} holds before anything runs. */
    public byte[] shared() {
        int rows = Math.max(1, programs);
        ByteBuffer bytes =
                ByteBuffer.allocate(zeros + rows * ScriptLosses.ROW_BYTES)
                        .order(ByteOrder.LITTLE_ENDIAN);
        for (int program = 0; program < rows; program++) {
            bytes.putLong(row(program) + ScriptLosses.ONE, 1);
        }
        return bytes.array();
    }

    /** Where the row of a program begins in {@link #SHARED}. */
    int row(int program) {
        return zeros + program * ScriptLosses.ROW_BYTES;
    }
}
