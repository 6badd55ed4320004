package sonde.symbol.ctype;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.DebugEntries;
import sonde.binary.dwarf.location.DebugEntry;
import sonde.binary.dwarf.location.DwarfAttribute;
import sonde.binary.dwarf.location.DwarfTag;
import sonde.symbol.ctype.SourceType.Keyword;
import sonde.symbol.ctype.SourceType.Kind;
import sonde.symbol.ctype.SourceType.Member;
import sonde.symbol.ctype.SourceType.MemberRole;
import sonde.symbol.ctype.SourceType.NumberType;
import sonde.symbol.ctype.SourceType.PointerSign;
import sonde.symbol.ctype.SourceType.Qualifier;
import sonde.symbol.ctype.SourceType.SourceTypedef;

/** Types of a file's DWARF; a malformed type is {@link SourceType.Opaque#UNKNOWN}. */
public final class DwarfSourceTypes implements NamedTypes {
    private static final int MOST_DEPTH = 32;
    private static final Set<Integer> STRUCTURES =
            Set.of(DwarfTag.STRUCTURE_TYPE, DwarfTag.CLASS_TYPE);

    private final TypeLayout layout;
    private final Map<DebugEntry, SourceType> made = new HashMap<>();
    private final Map<String, Optional<SourceType>> named = new HashMap<>();

    /** Reads the types of a file, and of those that it names. */
    public DwarfSourceTypes(DebugEntries entries) {
        this.layout = new TypeLayout(entries);
    }

    /** The same types as the calling convention asks for them. */
    public TypeLayout layout() {
        return layout;
    }

    /** The type of an entry; null stands for void. */
    public SourceType type(@Nullable DebugEntry entry) {
        return type(entry, 0);
    }

    private SourceType type(@Nullable DebugEntry entry, int depth) {
        if (entry == null) {
            return SourceType.Opaque.VOID;
        }
        SourceType known = made.get(entry);
        if (known == null) {
            try {
                known = depth > MOST_DEPTH ? SourceType.Opaque.UNKNOWN : make(entry, depth);
            } catch (MalformedInputException e) {
                known = SourceType.Opaque.UNKNOWN;
            }
            made.put(entry, known);
        }
        return known;
    }

    private Supplier<SourceType> later(@Nullable DebugEntry entry) {
        return SourceType.once(() -> type(entry));
    }

    private SourceType make(DebugEntry entry, int depth) throws MalformedInputException {
        String name = entry.name();
        return switch (entry.tag()) {
            case DwarfTag.BASE_TYPE -> number(entry, name);
            case DwarfTag.POINTER_TYPE -> pointer(entry, PointerSign.POINTER);
            case DwarfTag.REFERENCE_TYPE -> pointer(entry, PointerSign.REFERENCE);
            case DwarfTag.RVALUE_REFERENCE_TYPE -> pointer(entry, PointerSign.RVALUE_REFERENCE);
            case DwarfTag.PTR_TO_MEMBER_TYPE -> memberPointer(entry);
            // Go calls a type that a generic function was made for by the parameter's number.
            case DwarfTag.TYPEDEF ->
                    name.startsWith(".param")
                            ? type(entry.type(), depth + 1)
                            : new SourceTypedef(name, type(entry.type(), depth + 1));
            case DwarfTag.CONST_TYPE -> qualified(Qualifier.CONST, entry, depth);
            case DwarfTag.VOLATILE_TYPE -> qualified(Qualifier.VOLATILE, entry, depth);
            case DwarfTag.RESTRICT_TYPE -> qualified(Qualifier.RESTRICT, entry, depth);
            case DwarfTag.ATOMIC_TYPE -> qualified(Qualifier.ATOMIC, entry, depth);
            case DwarfTag.STRUCTURE_TYPE -> structure(entry, Keyword.STRUCT);
            case DwarfTag.CLASS_TYPE -> structure(entry, Keyword.CLASS);
            case DwarfTag.UNION_TYPE -> structure(entry, Keyword.UNION);
            case DwarfTag.ENUMERATION_TYPE -> enumeration(entry, name);
            case DwarfTag.ARRAY_TYPE -> array(entry, depth);
            case DwarfTag.SUBROUTINE_TYPE -> prototype(entry);
            default -> other(entry, name, depth);
        };
    }

    private long size(DebugEntry entry) throws MalformedInputException {
        return Math.max(0, layout.sizeBytes(entry));
    }

    /** DW_ATE_* (DWARF 5, table 7.11). */
    private SourceType number(DebugEntry entry, String name) throws MalformedInputException {
        long size = size(entry);
        return switch ((int) entry.constant(DwarfAttribute.ENCODING, 0)) {
            case 2 -> new NumberType(name, size, Kind.BOOLEAN, false);
            case 3, 4 -> new NumberType(name, size, Kind.FLOATING, true);
            case 5 -> new NumberType(name, size, Kind.SIGNED, true);
            case 6 -> new NumberType(name, size, Kind.CHARACTER, true);
            case 8, 0x10, 0x11, 0x12 -> new NumberType(name, size, Kind.CHARACTER, false);
            default -> new NumberType(name, size, Kind.UNSIGNED, false);
        };
    }

    private SourceType pointer(DebugEntry entry, PointerSign sign) throws MalformedInputException {
        return new SourceType.Pointer(later(entry.type()), size(entry), sign, false);
    }

    private SourceType memberPointer(DebugEntry entry) throws MalformedInputException {
        DebugEntry container = entry.reference(DwarfAttribute.CONTAINING_TYPE);
        String of = container == null ? "" : layout.whole(container).name();
        return new SourceType.MemberPointer(of, later(entry.type()), size(entry));
    }

    private SourceType qualified(Qualifier qualifier, DebugEntry entry, int depth)
            throws MalformedInputException {
        return new SourceType.Qualified(qualifier, type(entry.type(), depth + 1));
    }

    /** A subrange of Pascal or Ada, {@code decltype(nullptr)}, and tags that are not known. */
    private SourceType other(DebugEntry entry, String name, int depth)
            throws MalformedInputException {
        DebugEntry of = entry.type();
        String shown = name.isEmpty() ? "?" : name;
        boolean isNull = name.equals("decltype(nullptr)");
        return of == null
                ? new SourceType.Opaque(
                        shown, isNull ? size(entry) : entry.constant(DwarfAttribute.BYTE_SIZE, 0))
                : new SourceTypedef(shown, type(of, depth + 1));
    }

    private SourceType prototype(DebugEntry entry) throws MalformedInputException {
        return new SourceType.Prototype(
                later(entry.type()),
                SourceType.once(() -> parameters(entry)),
                !childrenOf(entry, DwarfTag.UNSPECIFIED_PARAMETERS).isEmpty());
    }

    private List<SourceType> parameters(DebugEntry entry) {
        List<SourceType> all = new ArrayList<>();
        for (DebugEntry child : childrenOf(entry, DwarfTag.FORMAL_PARAMETER)) {
            if (!child.flag(DwarfAttribute.ARTIFICIAL)) {
                try {
                    all.add(type(child.type()));
                } catch (MalformedInputException e) {
                    all.add(SourceType.Opaque.UNKNOWN);
                }
            }
        }
        return all;
    }

    /** Those before damage, if there is any. */
    private static List<DebugEntry> childrenOf(DebugEntry entry, int tag) {
        List<DebugEntry> all = new ArrayList<>();
        try {
            entry.eachChild(child -> child.tag() != tag || all.add(child));
        } catch (MalformedInputException e) {
            return all;
        }
        return all;
    }

    /** The entry of a declaration stands for a definition, which may be in another unit. */
    private SourceType structure(DebugEntry stated, Keyword keyword)
            throws MalformedInputException {
        String name = stated.name();
        if (!stated.flag(DwarfAttribute.DECLARATION)) {
            long size = size(stated);
            return new SourceType.Structure(
                    keyword, name, size, SourceType.once(() -> members(stated)));
        }
        Supplier<Optional<SourceType.Structure>> definition =
                SourceType.once(() -> definition(stated));
        return new SourceType.Structure(
                keyword,
                name,
                () -> definition.get().map(SourceType::sizeBytes).orElse(0L),
                () -> definition.get().map(found -> found.members().get()).orElse(List.of()));
    }

    private Optional<SourceType.Structure> definition(DebugEntry stated) {
        try {
            DebugEntry whole = layout.whole(stated);
            return !whole.flag(DwarfAttribute.DECLARATION)
                            && type(whole) instanceof SourceType.Structure found
                    ? Optional.of(found)
                    : Optional.empty();
        } catch (MalformedInputException e) {
            return Optional.empty();
        }
    }

    private List<Member> members(DebugEntry structure) {
        List<Member> members = new ArrayList<>();
        try {
            for (DebugEntry child : structure.children()) {
                if (child.tag() == DwarfTag.INHERITANCE) {
                    members.add(member(child, "", new MemberRole.Inherited()));
                } else if (TypeLayout.isMember(child)) {
                    members.add(member(child, child.name(), MemberRole.DECLARED));
                } else if (child.tag() == DwarfTag.VARIANT_PART) {
                    members.add(variants(child));
                }
            }
        } catch (MalformedInputException e) {
            // Those before the damage stay.
            return members;
        }
        return members;
    }

    private Member member(DebugEntry entry, String name, MemberRole role)
            throws MalformedInputException {
        boolean isVirtual =
                role instanceof MemberRole.Inherited
                        && entry.constant(DwarfAttribute.VIRTUALITY, 0) != 0;
        long offset = isVirtual ? Member.NOWHERE : Math.max(0, layout.bitOffset(entry));
        return new Member(name, later(entry.type()), offset, TypeLayout.bits(entry), role);
    }

    /**
     * The variants of a Rust enumeration (DWARF 5 §5.7.10), a union of structures that each begin
     * with the discriminant where it has a place of its own.
     */
    private Member variants(DebugEntry part) throws MalformedInputException {
        List<DebugEntry> own = childrenOf(part, DwarfTag.MEMBER);
        Member discriminant =
                own.isEmpty() ? null : member(own.getLast(), "<discriminant>", MemberRole.DECLARED);
        List<Member> all = new ArrayList<>();
        long size = 0;
        for (DebugEntry child : childrenOf(part, DwarfTag.VARIANT)) {
            String value =
                    child.has(DwarfAttribute.DISCR_VALUE)
                            ? "discriminant " + child.constant(DwarfAttribute.DISCR_VALUE, 0)
                            : "any other discriminant";
            for (DebugEntry held : childrenOf(child, DwarfTag.MEMBER)) {
                Member one =
                        member(
                                held,
                                held.name(),
                                new MemberRole.Variant(discriminant == null ? "" : value));
                SourceType type = one.type().get();
                size = Math.max(size, one.bitOffset() / 8 + type.sizeBytes());
                all.add(discriminant == null ? one : with(discriminant, one));
            }
        }
        SourceType union = new SourceType.Structure(Keyword.VARIANTS, "", size, () -> all);
        return new Member("", () -> union, 0, 0);
    }

    /** A variant whose structure shows the discriminant too. */
    private static Member with(Member discriminant, Member variant) {
        if (variant.bitOffset() != 0
                || !(variant.type().get().plain() instanceof SourceType.Structure s)) {
            return variant;
        }
        SourceType type =
                new SourceType.Structure(
                        s.keyword(),
                        s.name(),
                        s.size(),
                        SourceType.once(() -> {
                            List<Member> members = new ArrayList<>(s.members().get());
                            members.addFirst(discriminant);
                            return members;
                        }));
        return new Member(variant.name(), () -> type, 0, 0, variant.role());
    }

    private SourceType enumeration(DebugEntry entry, String name) throws MalformedInputException {
        List<DebugEntry> all = childrenOf(entry, DwarfTag.ENUMERATOR);
        boolean signed = all.stream().anyMatch(one -> value(one) < 0);
        return new SourceType.Enumeration(
                name, size(entry), signed, SourceType.once(() -> constants(all)));
    }

    private static long value(DebugEntry enumerator) {
        return enumerator.constant(DwarfAttribute.CONST_VALUE, 0);
    }

    private static List<SourceType.Constant> constants(List<DebugEntry> enumerators) {
        List<SourceType.Constant> all = new ArrayList<>();
        for (DebugEntry one : enumerators) {
            try {
                all.add(new SourceType.Constant(one.name(), value(one)));
            } catch (MalformedInputException e) {
                // The others have names.
                continue;
            }
        }
        return all;
    }

    private SourceType array(DebugEntry entry, int depth) throws MalformedInputException {
        SourceType type = type(entry.type(), depth + 1);
        List<DebugEntry> dimensions = childrenOf(entry, DwarfTag.SUBRANGE_TYPE);
        if (dimensions.isEmpty() || dimensions.size() > MOST_DEPTH) {
            return new SourceType.Array(type, SourceType.Array.OPEN);
        }
        for (DebugEntry dimension : dimensions.reversed()) {
            long count = TypeLayout.elements(dimension);
            type = new SourceType.Array(type, count == 0 ? SourceType.Array.OPEN : count);
        }
        return type;
    }

    @Override
    public Optional<SourceType> find(NameSpace space, String name) {
        return named.computeIfAbsent(
                space + " " + name, _ -> layout.named().type(tags(space), name).map(this::type));
    }

    /** A type that some function has for itself; this reads all entries. */
    public Optional<SourceType> findLocal(NameSpace space, String name) {
        return layout.named().localType(tags(space), name).map(this::type);
    }

    private static Set<Integer> tags(NameSpace space) {
        return switch (space) {
            case STRUCT -> STRUCTURES;
            case UNION -> Set.of(DwarfTag.UNION_TYPE);
            case ENUM -> Set.of(DwarfTag.ENUMERATION_TYPE);
            case PLAIN -> Set.of(DwarfTag.TYPEDEF, DwarfTag.BASE_TYPE, DwarfTag.UNSPECIFIED_TYPE);
            case ANY ->
                    Set.of(
                            DwarfTag.STRUCTURE_TYPE,
                            DwarfTag.CLASS_TYPE,
                            DwarfTag.UNION_TYPE,
                            DwarfTag.ENUMERATION_TYPE,
                            DwarfTag.TYPEDEF,
                            DwarfTag.BASE_TYPE,
                            DwarfTag.UNSPECIFIED_TYPE);
        };
    }
}
