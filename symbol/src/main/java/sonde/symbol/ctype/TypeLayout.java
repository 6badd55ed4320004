package sonde.symbol.ctype;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.Attribute;
import sonde.binary.dwarf.location.Entries;
import sonde.binary.dwarf.location.Entry;
import sonde.binary.dwarf.location.NamedEntries;
import sonde.binary.dwarf.location.Scope;
import sonde.binary.dwarf.location.Tag;
import sonde.binary.dwarf.location.Value;

/** Sizes of types and places of their members, by the entries of one file. */
public final class TypeLayout {
    private static final int MOST_DEPTH = 32;
    private static final long MOST_BYTES = 1L << 40;

    private final NamedEntries named;
    private final NonTrivial nonTrivial = new NonTrivial(this);
    private final Map<String, Optional<Entry>> definitions = new HashMap<>();

    /** Of a file, with those that it names. */
    public TypeLayout(Entries entries) {
        named = new NamedEntries(entries);
    }

    /** Functions and types of the file by name. */
    public NamedEntries named() {
        return named;
    }

    /** Whether it is a structure, class or union. */
    public static boolean isRecord(Entry type) {
        return switch (type.tag()) {
            case Tag.STRUCTURE_TYPE, Tag.CLASS_TYPE, Tag.UNION_TYPE -> true;
            default -> false;
        };
    }

    /** Whether functions get and return it by its address though it would fit into registers. */
    public boolean isNonTrivial(Entry type) throws MalformedInputException {
        return nonTrivial.is(type);
    }

    /** Whether it is a member that lies in its objects; static ones do not. */
    static boolean isMember(Entry child) {
        return child.tag() == Tag.MEMBER
                && !child.flag(Attribute.DECLARATION)
                && !child.flag(Attribute.EXTERNAL);
    }

    /** The definition of a class that this unit only declares; others as they are. */
    public Entry whole(Entry stated) throws MalformedInputException {
        Entry signed = stated.reference(Attribute.SIGNATURE);
        Entry type = signed == null ? stated : signed;
        String name = isRecord(type) && type.flag(Attribute.DECLARATION) ? type.name() : "";
        return name.isEmpty()
                ? type
                : definitions
                        .computeIfAbsent(type.tag() + name, _ -> definition(type.tag(), name))
                        .orElse(type);
    }

    private Optional<Entry> definition(int tag, String name) {
        Set<Integer> tags =
                tag == Tag.UNION_TYPE ? Set.of(tag) : Set.of(Tag.STRUCTURE_TYPE, Tag.CLASS_TYPE);
        return named.type(tags, name);
    }

    /** Without typedefs and qualifiers, and defined. */
    public Entry plain(Entry stated) throws MalformedInputException {
        Entry type = whole(stated);
        for (int depth = 0; depth < MOST_DEPTH; depth++) {
            Entry inner =
                    switch (type.tag()) {
                        case Tag.TYPEDEF,
                                Tag.CONST_TYPE,
                                Tag.VOLATILE_TYPE,
                                Tag.RESTRICT_TYPE,
                                Tag.ATOMIC_TYPE ->
                                type.type();
                        default -> null;
                    };
            if (inner == null) {
                return type;
            }
            type = whole(inner);
        }
        return type;
    }

    /** Bytes; -1 where they are not known. */
    public long sizeBytes(Entry stated) throws MalformedInputException {
        return sizeBytes(stated, 0);
    }

    private long sizeBytes(Entry stated, int depth) throws MalformedInputException {
        Entry type = plain(stated);
        boolean unknown = depth > MOST_DEPTH || isRecord(type) && type.flag(Attribute.DECLARATION);
        long said = unknown ? -1 : type.constant(Attribute.BYTE_SIZE, -1);
        if (unknown || said >= 0) {
            return said > MOST_BYTES ? -1 : said;
        }
        return switch (type.tag()) {
            case Tag.POINTER_TYPE,
                    Tag.REFERENCE_TYPE,
                    Tag.RVALUE_REFERENCE_TYPE,
                    Tag.UNSPECIFIED_TYPE ->
                    type.unit().addressBytes();
            // Itanium C++ ABI, 2.3: an offset; of a function its address and an adjustment.
            case Tag.PTR_TO_MEMBER_TYPE ->
                    type.unit().addressBytes() * (isOfFunction(type) ? 2 : 1);
            case Tag.ARRAY_TYPE -> {
                Entry element = type.type();
                long bytes = element == null ? -1 : sizeBytes(element, depth + 1);
                for (Entry child : type.children()) {
                    bytes *= child.tag() == Tag.SUBRANGE_TYPE && bytes >= 0 ? elements(child) : 1;
                    bytes = Math.min(bytes, MOST_BYTES);
                }
                yield bytes;
            }
            default -> -1;
        };
    }

    /** Whether a pointer to member points to a function. */
    static boolean isOfFunction(Entry type) throws MalformedInputException {
        Entry to = type.tag() == Tag.PTR_TO_MEMBER_TYPE ? type.type() : null;
        return to != null && to.tag() == Tag.SUBROUTINE_TYPE;
    }

    /** How many elements a dimension of an array has; 0 where that is not said. */
    public static long elements(Entry dimension) {
        if (dimension.has(Attribute.COUNT)) {
            return Math.clamp(dimension.constant(Attribute.COUNT, 0), 0, 1 << 30);
        }
        long upper = dimension.constant(Attribute.UPPER_BOUND, -1);
        // C gives -1 as an unsigned number for [].
        return upper < 0 || upper >= 0xffff_ffffL ? 0 : Math.min(upper + 1, 1 << 30);
    }

    /** The first bit of a member or base from the start of what contains it; -1 for unknown. */
    public long bitOffset(Entry member) throws MalformedInputException {
        if (member.has(Attribute.DATA_BIT_OFFSET)) {
            return member.constant(Attribute.DATA_BIT_OFFSET, -1);
        }
        long bytes = byteOffset(member);
        int bits = bits(member);
        if (bits == 0 || bytes < 0 || !member.has(Attribute.BIT_OFFSET)) {
            return 8 * bytes;
        }
        // DWARF 2 and 3: from the highest bit of the storage
        long first = member.constant(Attribute.BIT_OFFSET, 0);
        if (member.unit().isBig()) {
            return 8 * bytes + first;
        }
        Entry type = member.type();
        long stored = member.constant(Attribute.BYTE_SIZE, type == null ? 0 : sizeBytes(type));
        return Math.max(0, 8 * (bytes + stored) - first - bits);
    }

    /** Bits of a bit-field, else 0. */
    public static int bits(Entry member) {
        return Math.clamp(member.constant(Attribute.BIT_SIZE, 0), 0, 128);
    }

    private static long byteOffset(Entry member) throws MalformedInputException {
        return Scope.member(member, new Value.Constant(0)) instanceof Value.Constant constant
                ? Math.clamp(constant.value(), 0, MOST_BYTES)
                : -1;
    }
}
