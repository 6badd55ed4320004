package sonde.tools.elf;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.symbol.ctype.BtfSourceTypes;
import sonde.symbol.ctype.DwarfSourceTypes;
import sonde.symbol.ctype.NamedTypes;
import sonde.symbol.ctype.NamedTypes.Space;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.SourceType.Enumeration;
import sonde.symbol.ctype.SourceType.MemberRole;
import sonde.symbol.ctype.SourceType.Structure;

/** Types as the page shows them; all is read, so that the file may be closed behind it. */
final class TypeRecords {
    private static final int DEPTH_LIMIT = 32;
    private static final String MARKER = "\u0001";

    private TypeRecords() {}

    /**
     * A type of DWARF by its name, with or without "struct", "union", "enum" before it, and with
     * the name spaces around it, or the last of them, or none.
     */
    static Optional<CRecord> find(DwarfSourceTypes types, String name) {
        return record(find(types::find, name).or(() -> find(types::findLocal, name)));
    }

    /** A type of BTF. */
    static Optional<CRecord> find(BtfSourceTypes types, String name) {
        return record(find((NamedTypes) types, name));
    }

    private static Optional<SourceType> find(NamedTypes types, String name) {
        String[] words = name.strip().split("\\s+", 2);
        Space space =
                switch (words.length > 1 ? words[0] : "") {
                    case "struct", "class" -> Space.STRUCT;
                    case "union" -> Space.UNION;
                    case "enum" -> Space.ENUM;
                    default -> Space.ANY;
                };
        return types.find(space, space == Space.ANY ? name.strip() : words[1]);
    }

    private static Optional<CRecord> record(Optional<SourceType> type) {
        return type.map(found -> record(found, 0));
    }

    private static CRecord record(SourceType type, int depth) {
        return switch (type) {
            case Structure s -> {
                List<CRecord.Member> members = new ArrayList<>();
                for (SourceType.Member member : s.members().get()) {
                    members.add(member(member, depth));
                }
                String head = (s.keyword().text() + " " + s.name()).strip();
                yield new CRecord(head, s.sizeBytes(), members, List.of());
            }
            case Enumeration e -> {
                List<String> values =
                        e.constants().get().stream()
                                .map(one -> one.name() + " = " + one.value())
                                .toList();
                yield new CRecord(("enum " + e.name()).strip(), e.sizeBytes(), List.of(), values);
            }
            case SourceType.Typedef t when isUnnamed(t.target()) -> {
                CRecord inner = record(t.target(), depth + 1);
                yield inner.headed(inner.head() + " /* typedef " + t.name() + " */");
            }
            case SourceType.Typedef t ->
                    new CRecord(
                            "typedef " + t.target().declaration(t.name()),
                            t.sizeBytes(),
                            List.of(),
                            List.of());
            default -> new CRecord(type.spelling(), type.sizeBytes(), List.of(), List.of());
        };
    }

    private static boolean isUnnamed(SourceType type) {
        return switch (type) {
            case Structure s -> s.name().isEmpty();
            case Enumeration e -> e.name().isEmpty();
            default -> false;
        };
    }

    private static CRecord.Member member(SourceType.Member member, int depth) {
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
        boolean isBase = member.role() instanceof MemberRole.Base;
        String name = isBase ? "<ancestor>" : member.name();
        CRecord inner = null;
        String[] parts;
        if (isBody && depth < DEPTH_LIMIT) {
            CRecord body = record(element, depth + 1);
            String when = member.role() instanceof MemberRole.Variant v ? v.when() : "";
            inner = when.isEmpty() ? body : body.headed(body.head() + " /* " + when + " */");
            // The name of a variant is that of its structure.
            parts = new String[] {"", isVariant ? "" : name + counts};
        } else {
            parts = Declared.split(type.declaration(MARKER), MARKER, name);
        }
        boolean isNowhere = member.bitOffset() == SourceType.Member.NOWHERE;
        return new CRecord.Member(
                parts[0],
                parts[1],
                isNowhere ? CRecord.Member.NOWHERE : member.bitOffset(),
                size,
                member.bits(),
                inner);
    }
}
