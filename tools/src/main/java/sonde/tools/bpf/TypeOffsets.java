package sonde.tools.bpf;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.CHeader;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.view.TextEscape;

/** A structure with the offset and size of each member; members of unnamed parts included. */
record TypeOffsets(Btf btf) {
    private static final int MOST_DEPTH = 16;

    /** The structure, union, enumeration, typedef or function of a name; 0 for none. */
    static int find(Btf btf, String name) throws MalformedInputException {
        String plain = name.replaceFirst("^(struct|union|enum) ", "");
        int id = btf.search(plain, BtfType.Struct.class::isInstance);
        return id != 0 ? id : btf.search(plain, type -> true);
    }

    /** The type, or one member of it; nothing when there is no such member. */
    Optional<Result> of(int id, String member) throws MalformedInputException {
        if (!(btf.type(btf.skipModifiers(id)) instanceof BtfType.Struct struct)) {
            String shown =
                    btf.type(id) instanceof BtfType.Func function
                            ? CHeader.declaration(btf, function.type(), function.name())
                            : CHeader.declaration(btf, id, "");
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("id", (long) id);
            tree.put("declaration", shown);
            Listing line = Listing.ofLines(out -> out.println(TextEscape.line(shown) + ";"));
            return member.isEmpty() ? Optional.of(Document.of(tree, line)) : Optional.empty();
        }
        List<Map<String, Object>> rows = new ArrayList<>();
        collect(struct, 0, 0, rows);
        if (!member.isEmpty()) {
            rows.removeIf(row -> !member.equals(row.get("name")));
            if (rows.isEmpty()) {
                return Optional.empty();
            }
        }
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("id", (long) id);
        tree.put("name", struct.name());
        tree.put("size", (long) struct.sizeBytes());
        tree.put("members", rows);
        return Optional.of(Document.of(tree, Listing.ofLines(out -> lines(struct, rows, out))));
    }

    private static void lines(
            BtfType.Struct struct, List<Map<String, Object>> rows, PrintWriter out) {
        String head = (struct.isUnion() ? "union " : "struct ") + struct.name();
        out.println(TextEscape.line(head) + " { /* " + struct.sizeBytes() + " bytes */");
        for (Map<String, Object> row : rows) {
            Object bits = row.get("bitfield_size");
            String place = row.get("offset") + (bits == null ? "" : ":" + row.get("bit"));
            out.printf(
                    "\t%-50s /* %6s %6s */%n",
                    TextEscape.line(row.get("declaration") + ";"),
                    place,
                    bits == null ? row.get("size") : bits + " bits");
        }
        out.println("};");
    }

    private void collect(
            BtfType.Struct struct, long base, int depth, List<Map<String, Object>> rows)
            throws MalformedInputException {
        for (BtfType.Member member : struct.members()) {
            long bits = base + member.bitOffset();
            if (member.name().isEmpty()
                    && depth < MOST_DEPTH
                    && btf.type(btf.skipModifiers(member.type())) instanceof BtfType.Struct inner) {
                collect(inner, bits, depth + 1, rows);
                continue;
            }
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("name", member.name());
            row.put("offset", bits / 8);
            row.put("size", btf.sizeBytes(member.type()).orElse(0));
            if (member.bits() != 0) {
                row.put("bit", bits % 8);
                row.put("bitfield_size", (long) member.bits());
            }
            row.put("declaration", CHeader.declaration(btf, member.type(), member.name()));
            rows.add(row);
        }
    }
}
