package sonde.tools.elf;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.Die;
import sonde.format.dwarf.Dwarf;

/** Types of DWARF, laid out. */
final class DwarfRecords {
    private static final int STEP_LIMIT = 64;
    private static final int DEPTH_LIMIT = 32;
    private static final String MARKER = "\u0001";

    private final Dwarf dwarf;
    private final boolean wide;
    private final boolean little;

    /**
     * @param wide whether pointers have eight bytes
     * @param little byte order, which decides where old bitfields lie
     */
    DwarfRecords(Dwarf dwarf, boolean wide, boolean little) {
        this.dwarf = dwarf;
        this.wide = wide;
        this.little = little;
    }

    /**
     * A type by its name, with or without "struct", "union", "enum" before it, and with the name
     * spaces around it, or the last of them, or none.
     */
    Optional<CRecord> find(String name) throws MalformedInputException {
        String[] words = name.strip().split("\\s+", 2);
        boolean kind = words.length > 1 && words[0].matches("struct|class|union|enum");
        String last = kind ? words[1] : name.strip();
        Set<Integer> tags =
                switch (kind ? words[0] : "") {
                    case "struct", "class" -> Set.of(Die.STRUCTURE_TYPE, Die.CLASS_TYPE);
                    case "union" -> Set.of(Die.UNION_TYPE);
                    case "enum" -> Set.of(Die.ENUMERATION_TYPE);
                    default ->
                            Set.of(
                                    Die.STRUCTURE_TYPE,
                                    Die.CLASS_TYPE,
                                    Die.UNION_TYPE,
                                    Die.ENUMERATION_TYPE,
                                    Die.TYPEDEF,
                                    Die.BASE_TYPE);
                };
        Optional<Die> found = dwarf.type(tags, last).or(() -> dwarf.localType(tags, last));
        return found.isEmpty() ? Optional.empty() : Optional.of(record(found.get(), 0));
    }

    private CRecord record(Die die, int depth) throws MalformedInputException {
        String name = dwarf.name(die);
        return switch (die.tag()) {
            case Die.STRUCTURE_TYPE, Die.CLASS_TYPE, Die.UNION_TYPE -> {
                List<CRecord.Member> members = members(die, depth);
                yield new CRecord(spaced(keyword(die), name), size(die, 0), members, List.of());
            }
            case Die.ENUMERATION_TYPE -> {
                List<String> values = new ArrayList<>();
                for (Die child : dwarf.children(die)) {
                    if (child.tag() == Die.ENUMERATOR) {
                        values.add(dwarf.name(child) + " = " + child.constant());
                    }
                }
                yield new CRecord(spaced("enum", name), size(die, 0), List.of(), values);
            }
            case Die.TYPEDEF -> {
                Optional<Die> target = typeOf(die);
                boolean body = depth < DEPTH_LIMIT && target.isPresent() && isUnnamed(target.get());
                if (body) {
                    CRecord inner = record(target.get(), depth + 1);
                    yield new CRecord(
                            inner.head() + " /* typedef " + name + " */",
                            inner.sizeBytes(),
                            inner.members(),
                            inner.values());
                }
                String text = "typedef " + declare(target, name, 0);
                yield new CRecord(text, size(die, 0), List.of(), List.of());
            }
            default -> new CRecord(name, size(die, 0), List.of(), List.of());
        };
    }

    /** What an entry is of; of a declaration the type that a unit of its own has for it. */
    private Optional<Die> typeOf(Die die) throws MalformedInputException {
        Optional<Die> type = dwarf.typeOf(die);
        Optional<Die> whole = type.isEmpty() ? type : dwarf.signed(type.get());
        return whole.isEmpty() ? type : whole;
    }

    private List<CRecord.Member> members(Die die, int depth) throws MalformedInputException {
        List<CRecord.Member> members = new ArrayList<>();
        for (Die child : dwarf.children(die)) {
            boolean data = child.tag() == Die.MEMBER && !child.isDeclaration();
            boolean isStatic = data && child.location() == Die.NONE && isStatic(child, die);
            if (child.tag() == Die.INHERITANCE || data && !isStatic) {
                members.add(member(child, depth));
            } else if (child.tag() == Die.VARIANT_PART && depth < DEPTH_LIMIT) {
                members.add(variants(child, depth + 1));
            }
        }
        return members;
    }

    /**
     * The variants of a Rust enumeration (DWARF 5 §5.7.10), a union of structures that each begin
     * with the discriminant where it has a place of its own.
     */
    private CRecord.Member variants(Die part, int depth) throws MalformedInputException {
        CRecord.Member discriminant = null;
        List<CRecord.Member> all = new ArrayList<>();
        long size = 0;
        for (Die child : dwarf.children(part)) {
            if (child.tag() == Die.MEMBER) {
                discriminant = discriminant(child);
            }
        }
        for (Die child : dwarf.children(part)) {
            if (child.tag() != Die.VARIANT) {
                continue;
            }
            boolean isOnly = discriminant == null;
            long value = child.discriminant();
            String when = value == Die.NONE ? "any other discriminant" : "discriminant " + value;
            for (Die held : dwarf.children(child)) {
                if (held.tag() == Die.MEMBER) {
                    CRecord.Member one = variant(held, discriminant, isOnly ? "" : when, depth);
                    size = Math.max(size, one.end() / 8);
                    all.add(one);
                }
            }
        }
        CRecord union = new CRecord("union /* variants */", size, all, List.of());
        return new CRecord.Member("", "", 0, size, 0, union);
    }

    private CRecord.Member discriminant(Die child) throws MalformedInputException {
        CRecord.Member plain = member(child, DEPTH_LIMIT);
        return new CRecord.Member(
                plain.before(), "<discriminant>", plain.bitOffset(), plain.sizeBytes(), 0, null);
    }

    private CRecord.Member variant(
            Die held, CRecord.@Nullable Member discriminant, String when, int depth)
            throws MalformedInputException {
        CRecord.Member plain = member(held, depth);
        Optional<Die> type = typeOf(held);
        if (type.isEmpty() || !isRecord(type.get()) || depth >= DEPTH_LIMIT) {
            return plain;
        }
        CRecord whole = record(type.get(), depth + 1);
        List<CRecord.Member> members = new ArrayList<>(whole.members());
        if (discriminant != null && plain.bitOffset() == 0) {
            members.addFirst(discriminant);
        }
        String head = whole.head() + (when.isEmpty() ? "" : " /* " + when + " */");
        CRecord inner = new CRecord(head, whole.sizeBytes(), members, List.of());
        // Its name is that of the structure.
        return new CRecord.Member("", "", plain.bitOffset(), plain.sizeBytes(), 0, inner);
    }

    /** A member of a union has no offset; one of a structure without it is static. */
    private static boolean isStatic(Die child, Die parent) {
        return parent.tag() != Die.UNION_TYPE
                && child.dataBitOffset() == Die.NONE
                && child.bits() == Die.NONE;
    }

    private boolean isUnnamed(Die die) throws MalformedInputException {
        return isRecord(die) && dwarf.name(die).isEmpty();
    }

    private static boolean isRecord(Die die) {
        return die.tag() == Die.STRUCTURE_TYPE
                || die.tag() == Die.CLASS_TYPE
                || die.tag() == Die.UNION_TYPE
                || die.tag() == Die.ENUMERATION_TYPE;
    }

    private static String keyword(Die die) {
        return switch (die.tag()) {
            case Die.UNION_TYPE -> "union";
            case Die.CLASS_TYPE -> "class";
            case Die.ENUMERATION_TYPE -> "enum";
            default -> "struct";
        };
    }

    private static String spaced(String first, String second) {
        return second.isEmpty() ? first : first.isEmpty() ? second : first + " " + second;
    }

    private CRecord.Member member(Die child, int depth) throws MalformedInputException {
        Optional<Die> type = typeOf(child);
        CRecord inner = null;
        Optional<Die> element = element(type);
        boolean place = element.isPresent() && isUnnamed(element.get()) && depth < DEPTH_LIMIT;
        if (place && element.get().tag() != Die.ENUMERATION_TYPE) {
            inner = record(element.get(), depth + 1);
        }
        long size = type.isPresent() ? size(type.get(), 0) : 0;
        boolean base = child.tag() == Die.INHERITANCE;
        String name = base ? "<ancestor>" : dwarf.name(child);
        String[] parts =
                inner != null
                        ? new String[] {"", name + counts(type)}
                        : Declared.split(declare(type, MARKER, 0), MARKER, name);
        int bits = child.bits() == Die.NONE ? 0 : Math.clamp(child.bits(), 0, 1 << 20);
        return new CRecord.Member(parts[0], parts[1], bitOffset(child, size), size, bits, inner);
    }

    /** What an array is of, or the type itself. */
    private Optional<Die> element(Optional<Die> type) throws MalformedInputException {
        Optional<Die> at = type;
        for (int steps = 0; steps < STEP_LIMIT && isArray(at); steps++) {
            at = typeOf(at.get());
        }
        return at;
    }

    private static boolean isArray(Optional<Die> type) {
        return type.isPresent() && type.get().tag() == Die.ARRAY_TYPE;
    }

    /** The dimensions of an array: {@code [2][3]}, {@code []}; empty for another type. */
    private String counts(Optional<Die> type) throws MalformedInputException {
        StringBuilder counts = new StringBuilder();
        Optional<Die> at = type;
        for (int steps = 0; steps < STEP_LIMIT && isArray(at); steps++) {
            for (Die child : dwarf.children(at.get())) {
                if (child.tag() == Die.SUBRANGE_TYPE) {
                    long count = child.elements();
                    counts.append("[").append(count <= 0 ? "" : "" + count).append(']');
                }
            }
            at = typeOf(at.get());
        }
        return counts.toString();
    }

    /** DWARF 5 §5.7.6, and the older form that counts from the highest bit of the unit. */
    private long bitOffset(Die member, long sizeBytes) {
        if (member.tag() == Die.INHERITANCE && member.isVirtual()) {
            return CRecord.Member.NOWHERE;
        }
        if (member.dataBitOffset() != Die.NONE) {
            return member.dataBitOffset();
        }
        long at = member.location() == Die.NONE ? 0 : 8 * member.location();
        if (member.bitOffset() == Die.NONE) {
            return at;
        }
        long unit = 8 * (member.sizeBytes() == Die.NONE ? sizeBytes : member.sizeBytes());
        return little
                ? at + unit - member.bitOffset() - Math.max(0, member.bits())
                : at + member.bitOffset();
    }

    private long size(Die die, int steps) throws MalformedInputException {
        if (steps > STEP_LIMIT) {
            return 0;
        }
        if (die.tag() == Die.ARRAY_TYPE) {
            long count = 1;
            for (Die child : dwarf.children(die)) {
                if (child.tag() == Die.SUBRANGE_TYPE) {
                    count =
                            Math.multiplyHigh(count, Math.max(0, child.elements())) == 0
                                    ? count * Math.max(0, child.elements())
                                    : 0;
                }
            }
            Optional<Die> element = typeOf(die);
            return element.isEmpty() ? 0 : count * size(element.get(), steps + 1);
        }
        if (die.sizeBytes() != Die.NONE) {
            return die.sizeBytes();
        }
        return switch (die.tag()) {
            case Die.POINTER_TYPE, Die.REFERENCE_TYPE, Die.RVALUE_REFERENCE_TYPE -> wide ? 8 : 4;
            case Die.UNSPECIFIED_TYPE ->
                    "decltype(nullptr)".equals(dwarf.name(die)) ? wide ? 8 : 4 : 0;
            case Die.PTR_TO_MEMBER_TYPE -> {
                // Itanium C++ ABI §2.3: an offset; of a function its address and an adjustment.
                Optional<Die> target = typeOf(die);
                boolean function = target.isPresent() && target.get().tag() == Die.SUBROUTINE_TYPE;
                yield (wide ? 8 : 4) * (function ? 2 : 1);
            }
            default -> {
                Optional<Die> target = typeOf(die);
                yield target.isEmpty() || target.get().equals(die)
                        ? 0
                        : size(target.get(), steps + 1);
            }
        };
    }

    /** Spells a type around a name, from the inside out. */
    private String declare(Optional<Die> type, String inner, int steps)
            throws MalformedInputException {
        if (type.isEmpty() || steps > STEP_LIMIT) {
            return spaced("void", inner);
        }
        Die die = type.get();
        return switch (die.tag()) {
            case Die.POINTER_TYPE -> pointer(die, "*", inner, steps);
            case Die.REFERENCE_TYPE -> pointer(die, "&", inner, steps);
            case Die.RVALUE_REFERENCE_TYPE -> pointer(die, "&&", inner, steps);
            case Die.PTR_TO_MEMBER_TYPE -> {
                Optional<Die> container = dwarf.containerOf(die);
                String name = container.isEmpty() ? "" : dwarf.name(container.get());
                yield pointer(die, name + "::*", inner, steps);
            }
            case Die.CONST_TYPE -> modifier("const", die, inner, steps);
            case Die.VOLATILE_TYPE -> modifier("volatile", die, inner, steps);
            case Die.RESTRICT_TYPE -> modifier("restrict", die, inner, steps);
            case Die.ATOMIC_TYPE -> modifier("_Atomic", die, inner, steps);
            case Die.ARRAY_TYPE -> declare(element(type), inner + counts(type), steps + 1);
            case Die.SUBROUTINE_TYPE -> {
                List<String> parameters = new ArrayList<>();
                for (Die child : dwarf.children(die)) {
                    if (child.tag() == Die.FORMAL_PARAMETER && !child.isArtificial()) {
                        parameters.add(declare(typeOf(child), "", steps + 1));
                    } else if (child.tag() == Die.UNSPECIFIED_PARAMETERS) {
                        parameters.add("...");
                    }
                }
                String list = parameters.isEmpty() ? "void" : String.join(", ", parameters);
                yield declare(typeOf(die), inner + "(" + list + ")", steps + 1);
            }
            case Die.STRUCTURE_TYPE, Die.CLASS_TYPE, Die.UNION_TYPE, Die.ENUMERATION_TYPE -> {
                String name = dwarf.name(die);
                yield spaced(keyword(die) + " " + (name.isEmpty() ? "{...}" : name), inner);
            }
            default -> spaced(dwarf.name(die), inner);
        };
    }

    private String pointer(Die die, String sign, String inner, int steps)
            throws MalformedInputException {
        Optional<Die> target = typeOf(die);
        boolean binds =
                target.isPresent()
                        && (target.get().tag() == Die.ARRAY_TYPE
                                || target.get().tag() == Die.SUBROUTINE_TYPE);
        String text = sign + inner;
        return declare(target, binds ? "(" + text + ")" : text, steps + 1);
    }

    /** Of a pointer it stands behind the star, else before the type. */
    private String modifier(String word, Die die, String inner, int steps)
            throws MalformedInputException {
        Optional<Die> target = typeOf(die);
        boolean pointer = target.isPresent() && target.get().tag() == Die.POINTER_TYPE;
        boolean said = isArray(target) && element(target).map(Die::tag).orElse(0) == die.tag();
        if (said) {
            return declare(target, inner, steps + 1); // of an array as of its elements
        }
        return pointer
                ? declare(target, spaced(word, inner), steps + 1)
                : word + " " + declare(target, inner, steps + 1);
    }
}
