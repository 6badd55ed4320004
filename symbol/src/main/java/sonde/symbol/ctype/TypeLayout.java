package sonde.symbol.ctype;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.DebugEntries;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.DwarfAttribute;
import sonde.binary.dwarf.location.DwarfTag;
import sonde.binary.dwarf.location.NamedEntries;
import sonde.binary.dwarf.location.SourceScope;
import sonde.binary.dwarf.location.SymbolicValue.ConstantValue;

/** Sizes of types and places of their members, by the entries of one file. */
public final class TypeLayout {
    private static final int MOST_DEPTH = 32;
    private static final long MOST_BYTES = 1L << 40;

    private final NamedEntries named;
    private final NonTrivial nonTrivial = new NonTrivial(this);
    private final Map<String, Optional<DebugEntry>> definitions = new HashMap<>();

    /** Lays out types of a file, and of those that it names. */
    public TypeLayout(DebugEntries entries) {
        named = new NamedEntries(entries);
    }

    /** Functions and types of the file by name. */
    public NamedEntries named() {
        return named;
    }

    /** Whether it is a structure, class or union. */
    public static boolean isRecord(DebugEntry type) {
        return switch (type.tag()) {
            case DwarfTag.STRUCTURE_TYPE, DwarfTag.CLASS_TYPE, DwarfTag.UNION_TYPE -> true;
            default -> false;
        };
    }

    /** Whether functions get and return it by its address though it would fit into registers. */
    public boolean isNonTrivial(DebugEntry type) throws MalformedInputException {
        return nonTrivial.is(type);
    }

    /** Whether it is a member that lies in its objects; static ones do not. */
    static boolean isMember(DebugEntry child) {
        return child.tag() == DwarfTag.MEMBER
                && !child.flag(DwarfAttribute.DECLARATION)
                && !child.flag(DwarfAttribute.EXTERNAL);
    }

    /** The definition of a class that this unit only declares; others as they are. */
    public DebugEntry whole(DebugEntry stated) throws MalformedInputException {
        DebugEntry signed = stated.reference(DwarfAttribute.SIGNATURE);
        DebugEntry type = signed == null ? stated : signed;
        String name = isRecord(type) && type.flag(DwarfAttribute.DECLARATION) ? type.name() : "";
        return name.isEmpty()
                ? type
                : definitions
                        .computeIfAbsent(type.tag() + name, _ -> definition(type.tag(), name))
                        .orElse(type);
    }

    private Optional<DebugEntry> definition(int tag, String name) {
        Set<Integer> tags =
                tag == DwarfTag.UNION_TYPE
                        ? Set.of(tag)
                        : Set.of(DwarfTag.STRUCTURE_TYPE, DwarfTag.CLASS_TYPE);
        return named.type(tags, name);
    }

    /** Without typedefs and qualifiers, and defined. */
    public DebugEntry plain(DebugEntry stated) throws MalformedInputException {
        DebugEntry type = whole(stated);
        for (int depth = 0; depth < MOST_DEPTH; depth++) {
            DebugEntry inner =
                    switch (type.tag()) {
                        case DwarfTag.TYPEDEF,
                                DwarfTag.CONST_TYPE,
                                DwarfTag.VOLATILE_TYPE,
                                DwarfTag.RESTRICT_TYPE,
                                DwarfTag.ATOMIC_TYPE ->
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
    public long sizeBytes(DebugEntry stated) throws MalformedInputException {
        return sizeBytes(stated, 0);
    }

    private long sizeBytes(DebugEntry stated, int depth) throws MalformedInputException {
        DebugEntry type = plain(stated);
        boolean unknown =
                depth > MOST_DEPTH || isRecord(type) && type.flag(DwarfAttribute.DECLARATION);
        long said = unknown ? -1 : type.constant(DwarfAttribute.BYTE_SIZE, -1);
        if (unknown || said >= 0) {
            return said > MOST_BYTES ? -1 : said;
        }
        return switch (type.tag()) {
            case DwarfTag.POINTER_TYPE,
                    DwarfTag.REFERENCE_TYPE,
                    DwarfTag.RVALUE_REFERENCE_TYPE,
                    DwarfTag.UNSPECIFIED_TYPE ->
                    type.unit().addressBytes();
            // Itanium C++ ABI, 2.3: an offset; of a function its address and an adjustment.
            case DwarfTag.PTR_TO_MEMBER_TYPE ->
                    type.unit().addressBytes() * (isOfFunction(type) ? 2 : 1);
            case DwarfTag.ARRAY_TYPE -> {
                DebugEntry element = type.type();
                long bytes = element == null ? -1 : sizeBytes(element, depth + 1);
                for (DebugEntry child : type.children()) {
                    bytes *=
                            child.tag() == DwarfTag.SUBRANGE_TYPE && bytes >= 0
                                    ? elements(child)
                                    : 1;
                    bytes = Math.min(bytes, MOST_BYTES);
                }
                yield bytes;
            }
            default -> -1;
        };
    }

    /** Whether a pointer to member points to a function. */
    static boolean isOfFunction(DebugEntry type) throws MalformedInputException {
        DebugEntry to = type.tag() == DwarfTag.PTR_TO_MEMBER_TYPE ? type.type() : null;
        return to != null && to.tag() == DwarfTag.SUBROUTINE_TYPE;
    }

    /** How many elements a dimension of an array has; 0 where that is not said. */
    public static long elements(DebugEntry dimension) {
        if (dimension.has(DwarfAttribute.COUNT)) {
            return Math.clamp(dimension.constant(DwarfAttribute.COUNT, 0), 0, 1 << 30);
        }
        long upper = dimension.constant(DwarfAttribute.UPPER_BOUND, -1);
        // C gives -1 as an unsigned number for [].
        return upper < 0 || upper >= 0xffff_ffffL ? 0 : Math.min(upper + 1, 1 << 30);
    }

    /** The first bit of a member or base from the start of what contains it; -1 for unknown. */
    public long bitOffset(DebugEntry member) throws MalformedInputException {
        if (member.has(DwarfAttribute.DATA_BIT_OFFSET)) {
            return member.constant(DwarfAttribute.DATA_BIT_OFFSET, -1);
        }
        long bytes = byteOffset(member);
        int bits = bits(member);
        if (bits == 0 || bytes < 0 || !member.has(DwarfAttribute.BIT_OFFSET)) {
            return 8 * bytes;
        }
        // DWARF 2 and 3: from the highest bit of the storage
        long first = member.constant(DwarfAttribute.BIT_OFFSET, 0);
        if (member.unit().isBig()) {
            return 8 * bytes + first;
        }
        DebugEntry type = member.type();
        long stored = member.constant(DwarfAttribute.BYTE_SIZE, type == null ? 0 : sizeBytes(type));
        return Math.max(0, 8 * (bytes + stored) - first - bits);
    }

    /** Bits of a bit-field, else 0. */
    public static int bits(DebugEntry member) {
        return Math.clamp(member.constant(DwarfAttribute.BIT_SIZE, 0), 0, 128);
    }

    private static long byteOffset(DebugEntry member) throws MalformedInputException {
        return SourceScope.member(member, new ConstantValue(0)) instanceof ConstantValue constant
                ? Math.clamp(constant.value(), 0, MOST_BYTES)
                : -1;
    }
}
