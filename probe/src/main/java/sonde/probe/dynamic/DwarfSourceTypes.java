package sonde.probe.dynamic;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.location.Attribute;
import sonde.format.dwarf.location.Entries;
import sonde.format.dwarf.location.Entry;
import sonde.format.dwarf.location.EntryUnit;
import sonde.format.dwarf.location.Tag;
import sonde.symbol.ctype.TypeLayout;

/** Types of a file's DWARF; what is malformed is a type of which nothing is known. */
final class DwarfSourceTypes implements TypeNames {
    private static final int MOST_DEPTH = 32;
    private static final Set<Integer> STRUCTURES = Set.of(Tag.STRUCTURE_TYPE, Tag.CLASS_TYPE);

    private final Entries entries;
    private final TypeLayout layout;
    private final Map<Entry, SourceType> made = new HashMap<>();
    private final Map<String, Optional<SourceType>> named = new HashMap<>();

    DwarfSourceTypes(Entries entries) {
        this.entries = entries;
        this.layout = new TypeLayout(entries);
    }

    TypeLayout layout() {
        return layout;
    }

    /** Null stands for void. */
    SourceType type(@Nullable Entry entry) {
        return type(entry, 0);
    }

    private SourceType type(@Nullable Entry entry, int depth) {
        if (entry == null) {
            return new SourceType.Opaque("void");
        }
        SourceType known = made.get(entry);
        if (known == null) {
            try {
                known = depth > MOST_DEPTH ? unknown() : make(entry, depth);
            } catch (MalformedInputException e) {
                known = unknown();
            }
            made.put(entry, known);
        }
        return known;
    }

    private static SourceType unknown() {
        return new SourceType.Opaque("?");
    }

    private SourceType make(Entry entry, int depth) throws MalformedInputException {
        String name = entry.name();
        return switch (entry.tag()) {
            case Tag.BASE_TYPE -> basic(entry, name);
            case Tag.POINTER_TYPE -> pointer(entry, "*", depth);
            case Tag.REFERENCE_TYPE -> pointer(entry, "&", depth);
            case Tag.RVALUE_REFERENCE_TYPE -> pointer(entry, "&&", depth);
            // Go calls a type that a generic function was made for by the parameter's number.
            case Tag.TYPEDEF ->
                    name.startsWith(".param")
                            ? type(entry.type(), depth + 1)
                            : type(entry.type(), depth + 1).spelled(name);
            case Tag.CONST_TYPE -> qualified(entry, "const", depth);
            case Tag.VOLATILE_TYPE -> qualified(entry, "volatile", depth);
            case Tag.RESTRICT_TYPE, Tag.ATOMIC_TYPE -> type(entry.type(), depth + 1);
            case Tag.STRUCTURE_TYPE -> structure(entry, "struct", name);
            case Tag.CLASS_TYPE -> structure(entry, "class", name);
            case Tag.UNION_TYPE -> structure(entry, "union", name);
            case Tag.ENUMERATION_TYPE -> enumeration(entry, name);
            case Tag.ARRAY_TYPE -> array(entry, depth);
            case Tag.SUBROUTINE_TYPE -> new SourceType.Opaque("function");
            case Tag.UNSPECIFIED_TYPE -> new SourceType.Opaque(name);
            default -> unknown();
        };
    }

    private static long size(Entry entry) {
        return Math.clamp(entry.constant(Attribute.BYTE_SIZE, 0), 0, 1 << 30);
    }

    /** DW_ATE_* (DWARF 5, table 7.11). */
    private static SourceType basic(Entry entry, String name) {
        long size = size(entry);
        return switch ((int) entry.constant(Attribute.ENCODING, 0)) {
            case 2 -> new SourceType.Number(name, size, SourceType.Kind.BOOLEAN, false);
            case 3, 4 -> new SourceType.Number(name, size, SourceType.Kind.FLOATING, true);
            case 5 -> new SourceType.Number(name, size, SourceType.Kind.SIGNED, true);
            case 6 -> new SourceType.Number(name, size, SourceType.Kind.CHARACTER, true);
            case 8, 0x10, 0x11, 0x12 ->
                    new SourceType.Number(name, size, SourceType.Kind.CHARACTER, false);
            default -> new SourceType.Number(name, size, SourceType.Kind.UNSIGNED, false);
        };
    }

    private SourceType pointer(Entry entry, String sign, int depth) throws MalformedInputException {
        Entry target = entry.type();
        String inner = spelling(target, depth);
        long size = size(entry) == 0 ? entry.unit().addressBytes() : size(entry);
        String space = inner.endsWith("*") || inner.endsWith("&") ? "" : " ";
        return new SourceType.Pointer(
                inner + space + sign,
                size,
                SourceType.once(() -> type(target)),
                !sign.equals("*"),
                false);
    }

    /** A spelling without going into members. */
    private String spelling(@Nullable Entry entry, int depth) throws MalformedInputException {
        if (entry == null) {
            return "void";
        }
        String name = entry.name();
        String shown = name.isEmpty() ? "{…}" : name;
        return switch (entry.tag()) {
            case Tag.STRUCTURE_TYPE -> "struct " + shown;
            case Tag.CLASS_TYPE -> "class " + shown;
            case Tag.UNION_TYPE -> "union " + shown;
            case Tag.ENUMERATION_TYPE -> "enum " + shown;
            case Tag.BASE_TYPE, Tag.TYPEDEF -> shown;
            default -> type(entry, depth + 1).spelling();
        };
    }

    private SourceType qualified(Entry entry, String word, int depth)
            throws MalformedInputException {
        SourceType inner = type(entry.type(), depth + 1);
        // What qualifies an array qualifies its elements (C11 6.7.3), and gcc states both.
        if (inner instanceof SourceType.Array && inner.spelling().startsWith(word + " ")) {
            return inner;
        }
        return inner instanceof SourceType.Pointer
                ? inner.spelled(inner.spelling() + " " + word)
                : inner.spelled(word + " " + inner.spelling());
    }

    private SourceType structure(Entry stated, String word, String name) {
        String shown = name.isEmpty() ? word + " {…}" : word + " " + name;
        boolean declared = stated.flag(Attribute.DECLARATION);
        if (declared && !name.isEmpty()) {
            Space space = word.equals("union") ? Space.UNION : Space.STRUCT;
            // A declaration stands for a definition in another unit, looked for when it is needed.
            return new SourceType.Structure(
                    shown,
                    0,
                    SourceType.once(() ->
                            find(space, name).map(DwarfSourceTypes::membersOf).orElse(List.of())));
        }
        return new SourceType.Structure(
                shown, size(stated), SourceType.once(() -> members(stated)));
    }

    private static List<SourceType.Member> membersOf(SourceType type) {
        return type instanceof SourceType.Structure structure
                ? structure.members().get()
                : List.of();
    }

    private List<SourceType.Member> members(Entry structure) {
        List<SourceType.Member> members = new ArrayList<>();
        try {
            for (Entry child : structure.children()) {
                boolean inherited = child.tag() == Tag.INHERITANCE;
                boolean isStatic =
                        child.flag(Attribute.DECLARATION) || child.flag(Attribute.EXTERNAL);
                if ((inherited || child.tag() == Tag.MEMBER) && !isStatic) {
                    members.add(member(child, inherited ? "" : child.name()));
                }
            }
        } catch (MalformedInputException e) {
            // Those before the damage stay.
            return members;
        }
        return members;
    }

    private SourceType.Member member(Entry entry, String name) throws MalformedInputException {
        Entry typeEntry = entry.type();
        long offset =
                8L * Math.clamp(entry.constant(Attribute.DATA_MEMBER_LOCATION, 0), 0, 1 << 30);
        int bits = Math.clamp(entry.constant(Attribute.BIT_SIZE, 0), 0, 64);
        if (entry.has(Attribute.DATA_BIT_OFFSET)) {
            offset = Math.clamp(entry.constant(Attribute.DATA_BIT_OFFSET, 0), 0, 1L << 33);
        } else if (bits > 0 && entry.has(Attribute.BIT_OFFSET)) {
            // DWARF 2 and 3: from the highest bit of the storage
            long stored = size(entry) == 0 ? type(typeEntry).sizeBytes() : size(entry);
            offset += 8 * stored - entry.constant(Attribute.BIT_OFFSET, 0) - bits;
        } else if (entry.block(Attribute.DATA_MEMBER_LOCATION) != null) {
            offset = 8 * constantLocation(entry);
        }
        return new SourceType.Member(
                name, SourceType.once(() -> type(typeEntry)), Math.max(0, offset), bits);
    }

    private static long constantLocation(Entry entry) throws MalformedInputException {
        return sonde.format.dwarf.location.Scope.member(
                                entry, new sonde.format.dwarf.location.Value.Constant(0))
                        instanceof sonde.format.dwarf.location.Value.Constant constant
                ? Math.clamp(constant.value(), 0, 1 << 30)
                : 0;
    }

    private SourceType enumeration(Entry entry, String name) throws MalformedInputException {
        boolean signed = false;
        for (Entry child : entry.children()) {
            signed |= child.constant(Attribute.CONST_VALUE, 0) < 0;
        }
        String shown = name.isEmpty() ? "enum {…}" : "enum " + name;
        return new SourceType.Enumeration(shown, size(entry), signed);
    }

    private SourceType array(Entry entry, int depth) throws MalformedInputException {
        Entry element = entry.type();
        List<Long> counts = new ArrayList<>();
        for (Entry child : entry.children()) {
            if (child.tag() == Tag.SUBRANGE_TYPE && counts.size() < MOST_DEPTH) {
                counts.add(count(child));
            }
        }
        SourceType type = type(element, depth + 1);
        StringBuilder dimensions = new StringBuilder();
        String base = type.spelling();
        for (Long count : counts.reversed()) {
            SourceType inner = type;
            dimensions.insert(0, "[" + (count == 0 ? "" : count) + "]");
            type = new SourceType.Array(base + dimensions, () -> inner, count);
        }
        return type;
    }

    private static long count(Entry dimension) {
        if (dimension.has(Attribute.COUNT)) {
            return Math.clamp(dimension.constant(Attribute.COUNT, 0), 0, 1 << 30);
        }
        long upper = dimension.constant(Attribute.UPPER_BOUND, -1);
        // C gives -1 as an unsigned number for [].
        return upper < 0 || upper >= 0xffff_ffffL ? 0 : Math.min(upper + 1, 1 << 30);
    }

    @Override
    public Optional<SourceType> find(Space space, String name) {
        return named.computeIfAbsent(space + " " + name, _ -> search(space, name));
    }

    private Optional<SourceType> search(Space space, String name) {
        for (EntryUnit unit : entries.unitsFor(name)) {
            try {
                Entry found = search(unit.root(), space, name, 0);
                if (found != null) {
                    return Optional.of(type(found));
                }
            } catch (MalformedInputException e) {
                // The other units may have it.
                continue;
            }
        }
        return Optional.empty();
    }

    private static @Nullable Entry search(Entry in, Space space, String name, int depth)
            throws MalformedInputException {
        for (Entry child : in.children()) {
            if (fits(space, child.tag())
                    && !child.flag(Attribute.DECLARATION)
                    && child.name().equals(name)) {
                return child;
            }
            if (child.tag() == Tag.NAMESPACE && depth < 8) {
                Entry inner = search(child, space, name, depth + 1);
                if (inner != null) {
                    return inner;
                }
            }
        }
        return null;
    }

    private static boolean fits(Space space, int tag) {
        return switch (space) {
            case STRUCT -> STRUCTURES.contains(tag);
            case UNION -> tag == Tag.UNION_TYPE;
            case ENUM -> tag == Tag.ENUMERATION_TYPE;
            // C++ names its classes without a word before them.
            case PLAIN ->
                    tag == Tag.BASE_TYPE
                            || tag == Tag.TYPEDEF
                            || tag == Tag.UNSPECIFIED_TYPE
                            || STRUCTURES.contains(tag)
                            || tag == Tag.UNION_TYPE
                            || tag == Tag.ENUMERATION_TYPE;
        };
    }
}
