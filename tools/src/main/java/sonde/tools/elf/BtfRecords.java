package sonde.tools.elf;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.format.MalformedInputException;
import sonde.format.btf.Btf;
import sonde.format.btf.BtfType;
import sonde.format.btf.CHeader;

/** Types of BTF, laid out. */
final class BtfRecords {
    private static final int DEPTH_LIMIT = 32;

    private final Btf btf;

    BtfRecords(Btf btf) {
        this.btf = btf;
    }

    /** A type by its name, with or without "struct", "union", "enum" before it. */
    Optional<CRecord> find(String name) throws MalformedInputException {
        String[] words = name.strip().split("\\s+");
        String last = words[words.length - 1];
        for (int id : btf.findEach(last)) {
            BtfType type = btf.type(id);
            boolean fits =
                    switch (type) {
                        case BtfType.Struct s ->
                                words.length == 1
                                        || words[0].equals(s.isUnion() ? "union" : "struct");
                        case BtfType.Enum _ -> words.length == 1 || words[0].equals("enum");
                        case BtfType.Typedef _, BtfType.Int _, BtfType.Float _ -> words.length == 1;
                        case BtfType _ -> false;
                    };
            if (fits) {
                return Optional.of(record(type, 0));
            }
        }
        return Optional.empty();
    }

    private CRecord record(BtfType type, int depth) throws MalformedInputException {
        return switch (type) {
            case BtfType.Struct s -> {
                List<CRecord.Member> members = new ArrayList<>();
                for (BtfType.Member member : s.members()) {
                    members.add(member(member, depth));
                }
                String head = s.isUnion() ? "union" : "struct";
                yield new CRecord(spaced(head, s.name()), s.sizeBytes(), members, List.of());
            }
            case BtfType.Enum e ->
                    new CRecord(
                            spaced("enum", e.name()),
                            e.sizeBytes(),
                            List.of(),
                            e.values().stream().map(v -> v.name() + " = " + v.value()).toList());
            case BtfType.Typedef t -> {
                int target = btf.skipModifiers(t.type());
                BtfType resolved = btf.type(target);
                boolean body = resolved.name().isEmpty() && depth < DEPTH_LIMIT;
                if (body
                        && (resolved instanceof BtfType.Struct
                                || resolved instanceof BtfType.Enum)) {
                    CRecord inner = record(resolved, depth + 1);
                    yield new CRecord(
                            inner.head() + " /* typedef " + t.name() + " */",
                            inner.sizeBytes(),
                            inner.members(),
                            inner.values());
                }
                String text = "typedef " + CHeader.declaration(btf, t.type(), t.name());
                yield new CRecord(text, size(t.type()), List.of(), List.of());
            }
            case BtfType.Int i -> new CRecord(i.name(), i.sizeBytes(), List.of(), List.of());
            case BtfType.Float f -> new CRecord(f.name(), f.sizeBytes(), List.of(), List.of());
            case BtfType other -> new CRecord(other.name(), 0, List.of(), List.of());
        };
    }

    private static String spaced(String keyword, String name) {
        return name.isEmpty() ? keyword : keyword + " " + name;
    }

    private long size(int id) throws MalformedInputException {
        return btf.sizeBytes(id).orElse(0);
    }

    private CRecord.Member member(BtfType.Member member, int depth) throws MalformedInputException {
        StringBuilder counts = new StringBuilder();
        BtfType target = btf.type(member.type());
        for (int steps = 0; target instanceof BtfType.Array a && steps < DEPTH_LIMIT; steps++) {
            counts.append('[').append(a.count() == 0 ? "" : "" + a.count()).append(']');
            target = btf.type(a.type());
        }
        CRecord inner = null;
        if (target instanceof BtfType.Struct s && s.name().isEmpty() && depth < DEPTH_LIMIT) {
            inner = record(s, depth + 1);
        }
        String[] parts = inner == null ? parts(member) : new String[] {"", member.name() + counts};
        return new CRecord.Member(
                parts[0], parts[1], member.bitOffset(), size(member.type()), member.bits(), inner);
    }

    /** The declaration cut before the name, or before what is wrapped around it. */
    private String[] parts(BtfType.Member member) throws MalformedInputException {
        String marker = "\u0001";
        String text = CHeader.declaration(btf, member.type(), marker).replace('\n', ' ');
        return Declared.split(text, marker, member.name());
    }
}
