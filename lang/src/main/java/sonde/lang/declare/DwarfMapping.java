package sonde.lang.declare;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import sonde.format.MalformedInputException;
import sonde.format.dwarf.Die;
import sonde.format.dwarf.Dwarf;
import sonde.lang.type.Field;
import sonde.lang.type.Struct;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;
import sonde.lang.type.Type.Space;
import sonde.symbol.ctype.TypeLayout;

/** Types of one file's DWARF as the languages have them; what is malformed becomes void. */
final class DwarfMapping {
    private static final int MOST_DEPTH = 32;
    private static final long MOST_BYTES = 1 << 30;
    private static final Type VOID = new Type.Void();
    static final Set<Integer> STRUCTURES = Set.of(Die.STRUCTURE_TYPE, Die.CLASS_TYPE);

    /** DW_ATE_*: DWARF 5, table 7.11. */
    private static final int BOOLEAN = 2;

    private static final int COMPLEX = 3;
    private static final int FLOAT = 4;
    private static final int SIGNED = 5;
    private static final int SIGNED_CHAR = 6;
    private static final int UNSIGNED_CHAR = 8;
    private static final int UTF = 0x10;

    private final Dwarf dwarf;
    private final TypeLayout layout;
    private final Map<Die, Type> made = new HashMap<>();
    private final Map<String, Optional<Die>> definitions = new HashMap<>();

    DwarfMapping(Dwarf dwarf) {
        this.dwarf = dwarf;
        this.layout = new TypeLayout(dwarf.entries());
    }

    TypeLayout layout() {
        return layout;
    }

    Dwarf dwarf() {
        return dwarf;
    }

    Type type(Die die) {
        try {
            return type(die, 0);
        } catch (MalformedInputException e) {
            return VOID;
        }
    }

    private Type type(Die die, int depth) throws MalformedInputException {
        if (depth > MOST_DEPTH) {
            return VOID;
        }
        Type known = made.get(die);
        if (known == null) {
            known = make(die, depth);
            made.put(die, known);
        }
        return known;
    }

    private Type inner(Die die, int depth) throws MalformedInputException {
        Optional<Die> inner = dwarf.typeOf(die);
        return inner.isEmpty() ? VOID : type(inner.get(), depth + 1);
    }

    private Type make(Die die, int depth) throws MalformedInputException {
        return switch (die.tag()) {
            case Die.BASE_TYPE -> basic(die);
            case Die.POINTER_TYPE, Die.REFERENCE_TYPE, Die.RVALUE_REFERENCE_TYPE ->
                    new Type.Pointer(inner(die, depth), Space.USER);
            case Die.TYPEDEF,
                    Die.CONST_TYPE,
                    Die.VOLATILE_TYPE,
                    Die.RESTRICT_TYPE,
                    Die.ATOMIC_TYPE ->
                    inner(die, depth);
            case Die.STRUCTURE_TYPE, Die.CLASS_TYPE, Die.UNION_TYPE -> struct(die, depth);
            case Die.ENUMERATION_TYPE -> enumeration(die);
            case Die.ARRAY_TYPE -> array(die, depth);
            default -> VOID;
        };
    }

    private Type basic(Die die) throws MalformedInputException {
        int size = size(die);
        boolean plain = dwarf.name(die).equals("char");
        return switch ((int) die.encoding()) {
            case BOOLEAN -> size == 1 ? new Type.Bool() : new Int(size, false);
            case FLOAT, COMPLEX -> new Type.Float(size);
            case SIGNED -> new Int(size, true);
            case SIGNED_CHAR -> new Int(size, true, plain);
            case UNSIGNED_CHAR -> new Int(size, false, plain);
            case UTF -> new Int(size, false);
            default -> new Int(size, false);
        };
    }

    private static int size(Die die) {
        return Math.clamp(die.sizeBytes(), 1, 32);
    }

    private Type struct(Die die, int depth) throws MalformedInputException {
        String name = dwarf.name(die);
        boolean union = die.tag() == Die.UNION_TYPE;
        Optional<Die> whole = dwarf.signed(die);
        if (die.isDeclaration() || whole.isPresent()) {
            if (whole.isEmpty() && !name.isEmpty()) {
                whole = definition(union ? Set.of(Die.UNION_TYPE) : STRUCTURES, name);
            }
            return whole.isPresent() && !whole.get().isDeclaration()
                    ? type(whole.get(), depth + 1)
                    : new Struct(name, union, 0, 1, List::of);
        }
        long bytes = die.sizeBytes();
        int size = bytes < 0 || bytes > MOST_BYTES ? 0 : (int) bytes;
        return new Struct(name, union, size, align(die, size, depth), () -> fields(die));
    }

    private Optional<Die> definition(Set<Integer> tags, String name) {
        return definitions.computeIfAbsent(tags + name, _ -> dwarf.type(tags, name));
    }

    /** The largest alignment that size and offsets allow: DWARF does not say it for C. */
    private int align(Die die, int sizeBytes, int depth) throws MalformedInputException {
        int most = 1;
        long mixed = sizeBytes;
        for (Die member : dwarf.children(die)) {
            if (member.tag() == Die.MEMBER && !member.isDeclaration()) {
                Optional<Die> type = dwarf.typeOf(member);
                most = Math.max(most, type.isEmpty() ? 1 : natural(type.get(), depth + 1));
                mixed |= Math.max(0, member.location());
            }
        }
        int allowed = mixed == 0 ? 8 : (int) Math.min(8, Long.lowestOneBit(mixed));
        return most <= allowed || sizeBytes % most == 0 ? most : allowed;
    }

    private int natural(Die die, int depth) throws MalformedInputException {
        if (depth > MOST_DEPTH) {
            return 1;
        }
        return switch (die.tag()) {
            case Die.BASE_TYPE, Die.ENUMERATION_TYPE ->
                    Math.min(8, Integer.highestOneBit(size(die)));
            case Die.POINTER_TYPE, Die.REFERENCE_TYPE, Die.RVALUE_REFERENCE_TYPE -> 8;
            case Die.STRUCTURE_TYPE, Die.CLASS_TYPE, Die.UNION_TYPE ->
                    Math.max(1, type(die, depth + 1).align());
            default -> {
                Optional<Die> inner = dwarf.typeOf(die);
                yield inner.isEmpty() ? 1 : natural(inner.get(), depth + 1);
            }
        };
    }

    private List<Field> fields(Die die) {
        List<Field> fields = new ArrayList<>();
        try {
            for (Die member : dwarf.children(die)) {
                boolean base = member.tag() == Die.INHERITANCE;
                if ((base || member.tag() == Die.MEMBER) && !member.isDeclaration()) {
                    fields.add(field(member, base));
                }
            }
        } catch (MalformedInputException e) {
            // Those before the malformed one stay.
            return fields;
        }
        return fields;
    }

    /** What a class inherits from is as a structure without a name. */
    private Field field(Die member, boolean base) throws MalformedInputException {
        Type type = inner(member, 0);
        long offset = 8 * Math.clamp(member.location(), 0, MOST_BYTES);
        long bits = Math.clamp(member.bits(), 0, 64);
        if (member.dataBitOffset() != Die.NONE) {
            offset = Math.clamp(member.dataBitOffset(), 0, 8 * MOST_BYTES);
        } else if (bits > 0 && member.bitOffset() != Die.NONE) {
            long storage = member.sizeBytes() == Die.NONE ? type.sizeBytes() : member.sizeBytes();
            long skipped = 8 * storage - member.bitOffset() - bits;
            offset = Math.max(0, offset + Math.clamp(skipped, -64, 512));
        }
        String name = base ? "" : dwarf.name(member);
        return new Field(name, type, offset, (int) bits, Field.Place.HERE);
    }

    private Type enumeration(Die stated) throws MalformedInputException {
        Die die = dwarf.signed(stated).orElse(stated);
        int size = Integer.highestOneBit(Math.min(8, size(die)));
        Map<Long, String> names = new HashMap<>();
        boolean signed = false;
        for (Die one : dwarf.children(die)) {
            if (one.tag() == Die.ENUMERATOR && one.constant() != Die.NONE) {
                names.putIfAbsent(one.constant(), dwarf.name(one));
                signed |= one.constant() < 0;
            }
        }
        return new Type.Enum(dwarf.name(die), size, signed, Map.copyOf(names));
    }

    private Type array(Die die, int depth) throws MalformedInputException {
        Type type = inner(die, depth);
        List<Die> dimensions =
                dwarf.children(die).stream()
                        .filter(child -> child.tag() == Die.SUBRANGE_TYPE)
                        .limit(MOST_DEPTH)
                        .toList();
        for (Die dimension : dimensions.reversed()) {
            long count = dimension.elements();
            boolean fits = count >= 0 && count <= MOST_BYTES;
            fits = fits && count * Math.max(1, type.sizeBytes()) <= MOST_BYTES;
            type = new Type.Array(type, fits ? (int) count : 0);
        }
        return type;
    }

    /** As listings have it: {@code "struct Foo*"}, {@code "const char*"}. */
    String spelling(Optional<Die> type) {
        try {
            return spelling(type, 0);
        } catch (MalformedInputException e) {
            return "<unknown type>";
        }
    }

    private String spelling(Optional<Die> type, int depth) throws MalformedInputException {
        if (type.isEmpty()) {
            return "void";
        }
        Die die = type.get();
        String name = dwarf.name(die);
        String tagged = name.isEmpty() ? "<anonymous>" : name;
        if (depth > MOST_DEPTH) {
            return "<unknown type>";
        }
        return switch (die.tag()) {
            case Die.BASE_TYPE, Die.TYPEDEF -> name;
            case Die.POINTER_TYPE -> spelling(dwarf.typeOf(die), depth + 1) + "*";
            case Die.REFERENCE_TYPE -> spelling(dwarf.typeOf(die), depth + 1) + "&";
            case Die.STRUCTURE_TYPE, Die.CLASS_TYPE -> "struct " + tagged;
            case Die.UNION_TYPE -> "union " + tagged;
            case Die.ENUMERATION_TYPE -> "enum " + tagged;
            case Die.CONST_TYPE -> {
                Optional<Die> inner = dwarf.typeOf(die);
                boolean pointer = inner.isPresent() && inner.get().tag() == Die.POINTER_TYPE;
                String text = spelling(inner, depth + 1);
                yield pointer ? text + " const" : "const " + text;
            }
            case Die.VOLATILE_TYPE, Die.RESTRICT_TYPE, Die.ATOMIC_TYPE ->
                    spelling(dwarf.typeOf(die), depth + 1);
            default -> "<unknown type>";
        };
    }
}
