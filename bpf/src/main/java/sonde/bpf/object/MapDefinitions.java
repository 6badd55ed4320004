package sonde.bpf.object;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.BtfType;
import sonde.bpf.MapType;
import sonde.bpf.object.ObjectException.ObjectPosition;
import sonde.bpf.object.ObjectImage.ImageSection;
import sonde.bpf.object.ObjectImage.ImageSymbol;
import sonde.bpf.object.ObjectImage.Reloc;
import sonde.bpf.object.ObjectMap.InitialSlot;

/**
 * Reads the variables of {@code .maps}, whose types say what the maps are: {@code int
 * (*max_entries)[1024]} is a number, {@code struct event *value} a type (bpf_helpers.h, {@code
 * __uint}, {@code __type}, {@code __array}, {@code __ulong}).
 */
final class MapDefinitions {
    private static final String SECTION = ".maps";
    private static final int MOST_SLOTS = 1 << 20;

    private final ObjectImage image;
    private final List<BtfType> types;
    private final Map<String, Integer> valuesAt = new HashMap<>();

    private MapDefinitions(ObjectImage image, List<BtfType> types) {
        this.image = image;
        this.types = types;
    }

    /**
     * The maps of an object.
     *
     * @param types after {@link TypeFixes}
     */
    static List<ObjectMap> read(ObjectImage image, List<BtfType> types) throws ObjectException {
        return new MapDefinitions(image, types).maps();
    }

    private List<ObjectMap> maps() throws ObjectException {
        int part = image.part(SECTION);
        if (part < 0) {
            return List.of();
        }
        ObjectPosition place = image.place().section(SECTION);
        List<ObjectMap> maps = new ArrayList<>();
        for (BtfType type : types) {
            if (type instanceof BtfType.Datasec section && section.name().equals(SECTION)) {
                for (BtfType.SectionVar one : section.vars()) {
                    if (ObjectTypes.at(types, one.type(), place) instanceof BtfType.Var v) {
                        maps.add(map(v, one.offset(), place.symbol(v.name())));
                    }
                }
            }
        }
        if (maps.isEmpty() && image.parts().get(part).sizeBytes() > 0) {
            throw new ObjectException(place, "no types of the maps in .BTF; compile with -g");
        }
        return slots(image.parts().get(part), maps);
    }

    private ObjectMap map(BtfType.Var variable, int offset, ObjectPosition place)
            throws ObjectException {
        if (!(ObjectTypes.skip(types, variable.type(), place) instanceof BtfType.Struct s)) {
            throw new ObjectException(place, "a map's variable is a structure, this is none");
        }
        return define(variable.name(), s, offset, place, false);
    }

    /** What was said so far of a map. */
    private static final class MapDraft {
        int type;
        int keyBytes;
        int valueBytes;
        int keyType;
        int valueType;
        int maxEntries;
        int flags;
        long extra;
        int numaNode = -1;
        boolean pinned;
        @Nullable ObjectMap inner;
    }

    private ObjectMap define(
            String name, BtfType.Struct struct, int offset, ObjectPosition place, boolean isInner)
            throws ObjectException {
        MapDraft draft = new MapDraft();
        for (BtfType.Member member : struct.members()) {
            switch (member.name()) {
                case "type" -> draft.type = number(member, place);
                case "max_entries" -> draft.maxEntries = number(member, place);
                case "map_flags" -> draft.flags = number(member, place);
                case "numa_node" -> draft.numaNode = number(member, place);
                case "key_size" ->
                        draft.keyBytes = size(draft.keyBytes, number(member, place), "key", place);
                case "value_size" ->
                        draft.valueBytes =
                                size(draft.valueBytes, number(member, place), "value", place);
                case "key" -> {
                    draft.keyType = pointee(member, place);
                    int bytes = ObjectTypes.size(types, draft.keyType, place);
                    draft.keyBytes = size(draft.keyBytes, bytes, "key", place);
                }
                case "value" -> {
                    draft.valueType = pointee(member, place);
                    int bytes = ObjectTypes.size(types, draft.valueType, place);
                    draft.valueBytes = size(draft.valueBytes, bytes, "value", place);
                }
                case "values" -> values(name, draft, member, place, isInner);
                case "pinning" -> draft.pinned = pinning(member, place);
                case "map_extra" -> draft.extra = wide(member, place);
                default ->
                        throw new ObjectException(
                                place, "'" + member.name() + "' is not an attribute of a map");
            }
        }
        if (draft.type == 0) {
            throw new ObjectException(place, "the map's type is missing");
        }
        return new ObjectMap(
                name,
                draft.type,
                draft.keyBytes,
                draft.valueBytes,
                draft.maxEntries,
                draft.flags,
                draft.extra,
                draft.numaNode,
                draft.keyType,
                draft.valueType,
                draft.pinned,
                draft.inner,
                List.of(),
                offset);
    }

    private static int size(int before, int now, String of, ObjectPosition place)
            throws ObjectException {
        if (before != 0 && before != now) {
            throw new ObjectException(
                    place, "%s has %d bytes and %d bytes".formatted(of, before, now));
        }
        return now;
    }

    /** {@code int (*name)[N]}. */
    private int number(BtfType.Member member, ObjectPosition place) throws ObjectException {
        int pointed = pointee(member, place);
        if (ObjectTypes.skip(types, pointed, place) instanceof BtfType.Array array) {
            return array.count();
        }
        throw new ObjectException(place, "attribute '" + member.name() + "' is not a number");
    }

    /** {@link #number}, or an enumeration with one value of 64 bits. */
    private long wide(BtfType.Member member, ObjectPosition place) throws ObjectException {
        if (ObjectTypes.skip(types, member.type(), place) instanceof BtfType.Enum e
                && !e.values().isEmpty()) {
            return e.values().getFirst().value();
        }
        return Integer.toUnsignedLong(number(member, place));
    }

    private int pointee(BtfType.Member member, ObjectPosition place) throws ObjectException {
        if (ObjectTypes.skip(types, member.type(), place) instanceof BtfType.Ptr pointer) {
            return pointer.type();
        }
        throw new ObjectException(place, "attribute '" + member.name() + "' is not a pointer");
    }

    private boolean pinning(BtfType.Member member, ObjectPosition place) throws ObjectException {
        int how = number(member, place);
        if (how != 0 && how != 1) {
            throw new ObjectException(place, "pinning " + how + " is neither none nor by name");
        }
        return how == 1;
    }

    /** {@code struct inner *values[]} or {@code void *values[]} of functions. */
    private void values(
            String name,
            MapDraft draft,
            BtfType.Member member,
            ObjectPosition place,
            boolean isInner)
            throws ObjectException {
        boolean maps =
                draft.type == MapType.ARRAY_OF_MAPS.code()
                        || draft.type == MapType.HASH_OF_MAPS.code();
        if (isInner || !maps && draft.type != MapType.PROG_ARRAY.code()) {
            throw new ObjectException(
                    place, "'values' are for maps of maps and program arrays, behind 'type'");
        }
        if (!(ObjectTypes.skip(types, member.type(), place) instanceof BtfType.Array array)
                || !(ObjectTypes.skip(types, array.type(), place) instanceof BtfType.Ptr to)) {
            throw new ObjectException(place, "'values' is not an array of pointers");
        }
        draft.valueBytes = size(draft.valueBytes, 4, "value", place);
        valuesAt.put(name, member.bitOffset() / 8);
        BtfType pointed = ObjectTypes.skip(types, to.type(), place);
        if (maps) {
            if (!(pointed instanceof BtfType.Struct s)) {
                throw new ObjectException(place, "'values' of a map of maps point to no map");
            }
            draft.inner = define(name + ".inner", s, -1, place, true);
        } else if (!(pointed instanceof BtfType.FuncProto)) {
            throw new ObjectException(place, "'values' of a program array point to no function");
        }
    }

    /** Relocations in {@code .maps}: what stands in {@code values}. */
    private List<ObjectMap> slots(ImageSection part, List<ObjectMap> maps) throws ObjectException {
        Map<String, List<InitialSlot>> slots = new HashMap<>();
        for (Reloc reloc : part.relocations()) {
            ObjectMap owner = owner(maps, reloc.offset());
            ImageSymbol symbol = image.symbols().get(reloc.symbol());
            ObjectPosition place = image.place().section(SECTION).symbol(symbol.name());
            Integer begin = owner == null ? null : valuesAt.get(owner.name());
            if (owner == null || begin == null) {
                throw new ObjectException(
                        place, "a pointer at byte " + reloc.offset() + " outside of 'values'");
            }
            int index = (reloc.offset() - owner.offset() - begin) / 8;
            if (index < 0 || index >= MOST_SLOTS || symbol.part() < 0) {
                throw new ObjectException(place, "slot " + index + " of " + owner.name());
            }
            boolean program = owner.type() == MapType.PROG_ARRAY.code();
            if (program ? !symbol.isFunction() : symbol.part() != image.part(SECTION)) {
                throw new ObjectException(
                        place, "is no " + (program ? "program" : "map") + " for " + owner.name());
            }
            slots.computeIfAbsent(owner.name(), _ -> new ArrayList<>())
                    .add(new InitialSlot(index, symbol.name()));
        }
        return maps.stream()
                .map(map -> map.with(slots.getOrDefault(map.name(), List.of())))
                .toList();
    }

    private static @Nullable ObjectMap owner(List<ObjectMap> maps, int offset) {
        ObjectMap found = null;
        for (ObjectMap map : maps) {
            if (map.offset() <= offset && (found == null || map.offset() > found.offset())) {
                found = map;
            }
        }
        return found;
    }
}
