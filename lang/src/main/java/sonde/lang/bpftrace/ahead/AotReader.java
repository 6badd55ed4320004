package sonde.lang.bpftrace.ahead;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import sonde.binary.MalformedInputException;
import sonde.bpf.MapType;
import sonde.lang.bpftrace.ahead.AotFile.AotProgramEntry;
import sonde.lang.bpftrace.ahead.AotFile.NumberSlot;
import sonde.lang.bpftrace.ahead.AotFile.RequestedOption;
import sonde.lang.bpftrace.ahead.AotFile.SourceRecords;
import sonde.lang.bpftrace.expand.ScriptOption;
import sonde.lang.bpftrace.lower.EventAction;
import sonde.lang.bpftrace.lower.MapPlan;
import sonde.lang.bpftrace.lower.ScriptUnit;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.source.SourceText;
import sonde.lang.type.ValueType;

/** Reads compiled scripts; every count and place is checked before it is used. */
public final class AotReader {
    private static final int LOAD_WIDE = 0x18;
    private static final int MOST_WORDS = 1_000_000;
    private static final int MOST_BYTES = 1 << 26;
    private static final int MOST_PROGRAMS = 1 << 16;
    private static final Set<MapType> KINDS =
            Set.of(
                    MapType.HASH,
                    MapType.ARRAY,
                    MapType.PER_CPU_HASH,
                    MapType.PER_CPU_ARRAY,
                    MapType.LRU_HASH,
                    MapType.LRU_PER_CPU_HASH);

    private AotReader() {}

    /** Whether bytes begin as a compiled script does. */
    public static boolean isCompiled(byte[] bytes) {
        return bytes.length >= FileWriter.MAGIC.length
                && Arrays.equals(
                        bytes,
                        0,
                        FileWriter.MAGIC.length,
                        FileWriter.MAGIC,
                        0,
                        FileWriter.MAGIC.length);
    }

    /**
     * Reads a file.
     *
     * @param name for messages
     * @throws MalformedInputException when it is damaged, of another version or architecture
     */
    public static AotFile read(String name, byte[] bytes) throws MalformedInputException {
        AotInput in = new AotInput(name, bytes);
        if (!isCompiled(bytes)) {
            throw in.malformed("magic", "no compiled script");
        }
        in.u64("magic");
        int version = in.u32("version");
        if (version != FileWriter.VERSION) {
            throw in.malformed("version", version + "; this sonde reads " + FileWriter.VERSION);
        }
        String machine = in.text("machine");
        if (!machine.equals(System.getProperty("os.arch"))) {
            throw in.malformed("machine", "compiled for " + printable(machine));
        }
        String kernel = printable(in.text("kernel"));
        List<SourceText> sources =
                in.list("sources", i -> new SourceText(printable(i.text("name")), i.text("text")));
        if (sources.isEmpty()) {
            throw in.malformed("sources", "none");
        }
        in.sources(sources);
        byte[] texts = in.block("texts");
        int zeros = in.number("zeros", 0, MOST_BYTES);
        if (zeros % 8 != 0) {
            throw in.malformed("zeros", zeros + " is not a multiple of 8");
        }
        int frames = in.number("frames", 0, MOST_BYTES);
        List<MapPlan> maps = in.list("maps", AotReader::map);
        List<EventAction> actions = in.list("actions", ActionForm::read);
        byte[] types = in.block("types");
        int programs = in.number("programs", 1, MOST_PROGRAMS);
        List<AotProgramEntry> pieces = in.list("programs", AotReader::piece);
        List<RequestedOption> options = in.list("options", AotReader::option);
        if (!in.isAtEnd()) {
            throw in.malformed("end", "bytes behind it");
        }
        AotFile file =
                new AotFile(
                        kernel, sources, maps, actions, texts, zeros, frames, types, programs,
                        pieces, options);
        check(in, file);
        return file;
    }

    private static String printable(String text) {
        String short_ = text.length() > 256 ? text.substring(0, 256) : text;
        return short_.replaceAll("\\p{Cntrl}", "?");
    }

    private static RequestedOption option(AotInput in) throws MalformedInputException {
        ScriptOption option =
                new ScriptOption(
                        printable(in.text("option")),
                        in.constant(ScriptOption.Kind.class, "kind of option"),
                        in.text("default"),
                        printable(in.text("help")));
        boolean isFixed = in.flag("fixed");
        String value = in.text("value");
        if (!isFixed && option.kind() == ScriptOption.Kind.STRING) {
            throw in.malformed("option", "a text is fixed");
        }
        return new RequestedOption(option, isFixed ? value : null);
    }

    private static MapPlan map(AotInput in) throws MalformedInputException {
        String name = in.text("map");
        boolean scalar = in.flag("keys");
        MapType type = in.constant(MapType.class, "kind of map");
        int keyBytes = in.number("key", 1, MOST_BYTES);
        int valueBytes = in.number("value", 1, MOST_BYTES);
        int entries = in.number("entries", 1, MOST_BYTES);
        ValueType key = TypeForm.read(in);
        ValueType value = TypeForm.read(in);
        boolean array = type == MapType.ARRAY || type == MapType.PER_CPU_ARRAY;
        boolean fits =
                KINDS.contains(type)
                        && name.startsWith("@")
                        && (!array || valueBytes >= 8 && entries == 1)
                        && value.sizeBytes() <= valueBytes
                        && (scalar || key.sizeBytes() <= keyBytes);
        if (!fits) {
            throw in.malformed("map", "its parts do not fit");
        }
        return new MapPlan(name, scalar, key, value, type, keyBytes, valueBytes, entries);
    }

    private static AotProgramEntry piece(AotInput in) throws MalformedInputException {
        int number = in.number("program", 0, MOST_PROGRAMS);
        int place = in.number("place", 0, MOST_PROGRAMS);
        boolean optional = in.flag("optional");
        Kind kind = in.constant(Kind.class, "kind of probe");
        var span = in.knownSpan();
        List<String> points = in.texts("attach points");
        String markers = in.text("markers");
        List<Long> words = in.list("words", i -> i.u64("words"));
        SourceRecords records =
                new SourceRecords(
                        in.block("types"),
                        in.block("functions"),
                        in.block("lines"),
                        in.flag("needed"));
        List<String> maps = in.texts("maps");
        List<String> functions = in.texts("functions");
        List<NumberSlot> wishes = in.list("references", WishForm::read);
        long[] code = words.stream().mapToLong(Long::longValue).toArray();
        if (code.length == 0 || code.length > MOST_WORDS || points.isEmpty()) {
            throw in.malformed("program", "without code or attach points");
        }
        for (NumberSlot wish : wishes) {
            int slot = wish.slot();
            if (slot + 1 >= code.length || (code[slot] & 0xff) != LOAD_WIDE) {
                throw in.malformed("slot", slot + " takes no number");
            }
        }
        return new AotProgramEntry(
                number, place, optional, kind, span, points, markers, code, records, maps,
                functions, wishes);
    }

    private static void check(AotInput in, AotFile file) throws MalformedInputException {
        Set<String> names = new HashSet<>();
        for (MapPlan map : file.maps()) {
            if (!names.add(map.name())) {
                throw in.malformed("map", "twice");
            }
        }
        for (EventAction action : file.actions()) {
            String map =
                    switch (action) {
                        case EventAction.PrintMap a -> a.map();
                        case EventAction.EmptyMap a -> a.map();
                        default -> "";
                    };
            if (!map.isEmpty() && !names.contains(map)) {
                throw in.malformed("action", "of no map");
            }
        }
        names.addAll(ScriptUnit.ownMaps());
        for (AotProgramEntry piece : file.pieces()) {
            if (piece.number() >= file.programCount() || !names.containsAll(piece.maps())) {
                throw in.malformed("program", "of no number or map");
            }
        }
    }
}
