package sonde.tools.elf;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.symbol.ctype.BtfSourceTypes;
import sonde.symbol.ctype.DwarfSourceTypes;
import sonde.symbol.ctype.NamedTypes;
import sonde.symbol.ctype.NamedTypes.NameSpace;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.SourceType.Enumeration;
import sonde.symbol.ctype.SourceType.MemberRole;
import sonde.symbol.ctype.SourceType.SourceTypedef;
import sonde.symbol.ctype.SourceType.Structure;
import sonde.tools.elf.CTypeLayout.LaidOutMember;

/** Types as the page shows them; all is read, so that the file may be closed behind it. */
final class TypeRecords {
    private static final int DEPTH_LIMIT = 32;
    private static final String MARKER = "\u0001";

    private TypeRecords() {}

    /**
     * A type of DWARF by its name, with or without "struct", "union", "enum" before it, and with
     * the name spaces around it, or the last of them, or none.
     */
    static Optional<CTypeLayout> find(DwarfSourceTypes types, String name) {
        return record(find(types::find, name).or(() -> find(types::findLocal, name)));
    }

    /** A type of BTF. */
    static Optional<CTypeLayout> find(BtfSourceTypes types, String name) {
        return record(find((NamedTypes) types, name));
    }

    private static Optional<SourceType> find(NamedTypes types, String name) {
        String[] words = name.strip().split("\\s+", 2);
        NameSpace space =
                switch (words.length > 1 ? words[0] : "") {
                    case "struct", "class" -> NameSpace.STRUCT;
                    case "union" -> NameSpace.UNION;
                    case "enum" -> NameSpace.ENUM;
                    default -> NameSpace.ANY;
                };
        return types.find(space, space == NameSpace.ANY ? name.strip() : words[1]);
    }

    private static Optional<CTypeLayout> record(Optional<SourceType> type) {
        return type.map(found -> record(found, 0));
    }

    private static CTypeLayout record(SourceType type, int depth) {
        return switch (type) {
            case Structure s -> {
                List<LaidOutMember> members = new ArrayList<>();
                for (SourceType.Member member : s.members().get()) {
                    members.add(member(member, depth));
                }
                String head = (s.keyword().text() + " " + s.name()).strip();
                yield new CTypeLayout(head, s.sizeBytes(), members, List.of());
            }
            case Enumeration e -> {
                List<String> values =
                        e.constants().get().stream()
                                .map(one -> one.name() + " = " + one.value())
                                .toList();
                yield new CTypeLayout(
                        ("enum " + e.name()).strip(), e.sizeBytes(), List.of(), values);
            }
            case SourceTypedef t when isUnnamed(t.target()) -> {
                CTypeLayout inner = record(t.target(), depth + 1);
                yield inner.headed(inner.head() + " /* typedef " + t.name() + " */");
            }
            case SourceTypedef t ->
                    new CTypeLayout(
                            "typedef " + t.target().declaration(t.name()),
                            t.sizeBytes(),
                            List.of(),
                            List.of());
            default -> new CTypeLayout(type.spelling(), type.sizeBytes(), List.of(), List.of());
        };
    }

    private static boolean isUnnamed(SourceType type) {
        return switch (type) {
            case Structure s -> s.name().isEmpty();
            case Enumeration e -> e.name().isEmpty();
            default -> false;
        };
    }

    private static LaidOutMember member(SourceType.Member member, int depth) {
        SourceType type = member.type().get();
        long size = type.sizeBytes();
        SourceType element = type;
        StringBuilder counts = new StringBuilder();
        while (element instanceof SourceType.Array array) {
            counts.append('[')
                    .append(array.count() == SourceType.Array.OPEN ? "" : array.count())
                    .append(']');
            element = array.element();
        }
        boolean isVariant = member.role() instanceof MemberRole.Variant;
        boolean isBody = isUnnamed(element) || isVariant && element instanceof Structure;
        boolean isBase = member.role() instanceof MemberRole.Inherited;
        String name = isBase ? "<ancestor>" : member.name();
        CTypeLayout inner = null;
        String[] parts;
        if (isBody && depth < DEPTH_LIMIT) {
            CTypeLayout body = record(element, depth + 1);
            String when = member.role() instanceof MemberRole.Variant v ? v.when() : "";
            inner = when.isEmpty() ? body : body.headed(body.head() + " /* " + when + " */");
            // The name of a variant is that of its structure.
            parts = new String[] {"", isVariant ? "" : name + counts};
        } else {
            parts = SplitDeclaration.split(type.declaration(MARKER), MARKER, name);
        }
        boolean isNowhere = member.bitOffset() == SourceType.Member.NOWHERE;
        return new LaidOutMember(
                parts[0],
                parts[1],
                isNowhere ? LaidOutMember.NOWHERE : member.bitOffset(),
                size,
                member.bits(),
                inner);
    }
}
