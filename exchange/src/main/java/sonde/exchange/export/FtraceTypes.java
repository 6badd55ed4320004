package sonde.exchange.export;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import org.jspecify.annotations.Nullable;
import sonde.event.EventType;
import sonde.event.Field;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.recording.ftrace.EventFormats;
import sonde.recording.ftrace.EventFormats.FormatFile;

/** The event types of recordings as ftrace has them, numbered. */
final class FtraceTypes {
    // Numbers of types that the kernel does not have; its own begin at 1 and grow.
    private static final int FIRST_ID = 1 << 14;
    private static final int MOST_ID = 0xffff;

    /** What the file is of: its order of bytes, its long, its tables. */
    final EventFormats kernel;

    private final ByteOrder order;
    private final Map<Integer, FtraceType> byId = new LinkedHashMap<>();
    private final Map<Source, @Nullable FtraceType[]> bySource = new IdentityHashMap<>();
    private final Set<String> names = new HashSet<>();
    private final boolean alone;
    private int next = FIRST_ID;

    /**
     * Types of all rows that there are.
     *
     * @param order of the payloads to make; null for that of the kernel whose formats there are, in
     *     a file that has no other place for process, weight and call chain
     * @param wanted types of which recordings
     */
    FtraceTypes(
            List<Recording> recordings,
            RowSurvey survey,
            @Nullable ByteOrder order,
            BiPredicate<Recording, EventType> wanted,
            ExportLosses losses) {
        EventFormats first = null;
        Map<Recording, EventFormats> formats = new IdentityHashMap<>();
        for (Recording recording : recordings) {
            EventFormats of = recording.capability(EventFormats.class).orElse(null);
            if (of != null) {
                formats.put(recording, of);
                first = first == null ? of : first;
            }
        }
        this.kernel = first == null ? EventFormats.NONE : first;
        this.alone = order == null;
        this.order = order == null ? kernel.order() : order;
        Set<Integer> taken = new HashSet<>();
        formats.values().forEach(of -> of.formats().forEach(one -> taken.add(one.event().id())));
        for (Recording recording : recordings) {
            EventFormats of = formats.getOrDefault(recording, EventFormats.NONE);
            Map<String, FormatFile> known = of.byName();
            for (Source source : recording.sources()) {
                @Nullable FtraceType[] types = new FtraceType[source.types().size()];
                for (EventType type : source.types()) {
                    RowSurvey.Usage usage = survey.usage(source, type);
                    boolean notice = type.system().equals(EventType.NOTICE);
                    if (usage.rows > 0 && !notice && wanted.test(recording, type)) {
                        FormatFile format = known.get(type.qualifiedName());
                        boolean named = recording.frames() != null;
                        Made made = new Made(type, usage, named, alone);
                        types[type.id()] =
                                format != null && EventFormats.fits(format, type)
                                        ? kernel(of, format, made, taken)
                                        : made(made, taken, losses);
                    }
                }
                bySource.put(source, types);
            }
        }
    }

    /** A type that may have to be laid out. */
    private record Made(EventType type, RowSurvey.Usage usage, boolean named, boolean alone) {
        FtraceLayout layout() {
            FtraceLayout.Extras extras =
                    alone
                            ? FtraceLayout.Extras.of(type, usage, named)
                            : new FtraceLayout.Extras(false, false, named && usage.stacks, named);
            List<Field> own =
                    type.fields().stream()
                            .filter(field -> !field.name().startsWith("common_"))
                            .toList();
            return new FtraceLayout(own, extras);
        }

        /** Whether the print format still holds for a new layout. */
        boolean keepsPrint() {
            return type.fields().stream().allMatch(Made::keeps);
        }

        private static boolean keeps(Field field) {
            return switch (field.kind()) {
                case INTEGER -> !field.isDerived();
                case DATA_LOC -> true;
                case ARRAY, CHARS -> field.sizeBytes() > 0;
                case REL_LOC, SPAN, TAIL_STRING, FLOAT -> false;
            };
        }
    }

    private FtraceType kernel(EventFormats of, FormatFile format, Made made, Set<Integer> taken) {
        EventType type = made.type;
        int id = format.event().id();
        FtraceType same = byId.get(id);
        boolean more = alone && (made.usage.stacks || made.usage.weights);
        boolean turned = of.order() != order;
        if (more && made.keepsPrint()) {
            id = same == null ? id : free(taken);
            FtraceType laid =
                    FtraceType.made(
                            id,
                            type.system(),
                            type.name(),
                            made.layout(),
                            type.printFormat(),
                            true);
            return keep(laid);
        }
        if (same != null && !turned && Arrays.equals(same.format, format.text())) {
            return same;
        }
        byte[] text = format.text();
        if (same != null) {
            id = free(taken);
            text = renumbered(text, id);
        }
        return keep(FtraceType.kernel(id, type.system(), type.name(), text, type.fields(), turned));
    }

    private static byte[] renumbered(byte[] format, int id) {
        return new String(format, StandardCharsets.UTF_8)
                .replaceFirst("\nID:[^\n]*", "\nID: " + id)
                .getBytes(StandardCharsets.UTF_8);
    }

    private @Nullable FtraceType made(Made made, Set<Integer> taken, ExportLosses losses) {
        EventType type = made.type;
        int id = free(taken);
        if (id > MOST_ID) {
            return null;
        }
        String system = FieldValues.identifier(type.system());
        String plain = FieldValues.identifier(type.name());
        String name = plain;
        for (int i = 2; !names.add(system + ":" + name); i++) {
            name = plain + "_" + i;
        }
        String now = system + ":" + name;
        if (!now.equals(type.qualifiedName())) {
            losses.add("name of " + type.qualifiedName() + ", which is now " + now);
        }
        return keep(FtraceType.made(id, system, name, made.layout(), "", false));
    }

    private FtraceType keep(FtraceType type) {
        byId.put(type.id, type);
        return type;
    }

    private int free(Set<Integer> taken) {
        while (taken.contains(next)) {
            next++;
        }
        return next++;
    }

    /** The type of a row; null when it cannot be written. */
    @Nullable FtraceType of(ExportRow row) {
        @Nullable FtraceType[] types = bySource.get(row.batch.source());
        return types == null ? null : types[row.type.id()];
    }

    /** What a type has become; null when it cannot be written. */
    @Nullable FtraceType of(Source source, EventType type) {
        @Nullable FtraceType[] types = bySource.get(source);
        return types == null ? null : types[type.id()];
    }

    /** Formats of the used types by system, and those of the kernel that are not used. */
    Map<String, List<byte[]>> formats(boolean unused) {
        Map<String, List<byte[]>> all = new HashMap<>();
        for (FtraceType type : byId.values()) {
            all.computeIfAbsent(type.system, added -> new ArrayList<>()).add(type.format);
        }
        for (FormatFile format : unused ? kernel.formats() : List.<FormatFile>of()) {
            if (!byId.containsKey(format.event().id())) {
                all.computeIfAbsent(format.system(), added -> new ArrayList<>()).add(format.text());
            }
        }
        return all;
    }
}
