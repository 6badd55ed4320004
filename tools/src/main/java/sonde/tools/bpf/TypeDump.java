package sonde.tools.bpf;

import java.io.PrintWriter;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.Btf;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfType.Int.IntEncoding;
import sonde.event.result.Document;
import sonde.event.result.Listing;
import sonde.event.result.Result;
import sonde.view.TextEscape;

/**
 * Types one a line, as {@code bpftool btf dump} writes them.
 *
 * @param ids of these; empty for all of the blob itself
 */
record TypeDump(Btf btf, List<Integer> ids) {
    Result result() {
        return new Document(
                out -> {
                    out.beginObject();
                    out.beginArray("types");
                    for (int i = 0; i < count(); i++) {
                        out.value(tree(id(i), btf.type(id(i))));
                    }
                    out.endArray();
                    out.endObject();
                },
                Listing.ofLines(out -> {
                    for (int i = 0; i < count(); i++) {
                        lines(tree(id(i), btf.type(id(i))), out);
                    }
                }));
    }

    private int count() {
        return ids.isEmpty() ? btf.end() - btf.firstId() : ids.size();
    }

    private int id(int index) {
        return ids.isEmpty() ? btf.firstId() + index : ids.get(index);
    }

    private Map<String, Object> tree(int id, BtfType type) throws MalformedInputException {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("id", (long) id);
        tree.put("kind", kind(type));
        tree.put("name", type.name().isEmpty() ? "(anon)" : type.name());
        switch (type) {
            case BtfType.Void _ -> {}
            case BtfType.Int one -> {
                tree.put("size", (long) one.sizeBytes());
                tree.put("bits_offset", (long) one.bitOffset());
                tree.put("nr_bits", (long) one.bits());
                boolean none = one.encoding() == IntEncoding.UNSIGNED;
                tree.put("encoding", none ? "(none)" : one.encoding().name());
            }
            case BtfType.Ptr one -> tree.put("type_id", (long) one.type());
            case BtfType.Typedef one -> tree.put("type_id", (long) one.type());
            case BtfType.Modifier one -> tree.put("type_id", (long) one.type());
            case BtfType.Array one -> {
                tree.put("type_id", (long) one.type());
                tree.put("index_type_id", (long) one.indexType());
                tree.put("nr_elems", one.count() & 0xffff_ffffL);
            }
            case BtfType.Struct one -> {
                tree.put("size", (long) one.sizeBytes());
                tree.put("vlen", (long) one.members().size());
                tree.put("members", members(one));
            }
            case BtfType.Enum one -> {
                tree.put("encoding", one.signed() ? "SIGNED" : "UNSIGNED");
                tree.put("size", (long) one.sizeBytes());
                tree.put("vlen", (long) one.values().size());
                tree.put("values", values(one));
            }
            case BtfType.Fwd one -> tree.put("fwd_kind", one.isUnion() ? "union" : "struct");
            case BtfType.Func one -> {
                tree.put("type_id", (long) one.type());
                tree.put("linkage", one.linkage().name().toLowerCase(Locale.ROOT));
            }
            case BtfType.FuncProto one -> {
                tree.put("ret_type_id", (long) one.returnType());
                tree.put("vlen", (long) one.params().size());
                tree.put("params", params(one));
            }
            case BtfType.Var one -> {
                tree.put("type_id", (long) one.type());
                tree.put("linkage", one.linkage().name().toLowerCase(Locale.ROOT));
            }
            case BtfType.Datasec one -> {
                tree.put("size", (long) one.sizeBytes());
                tree.put("vlen", (long) one.vars().size());
                tree.put("vars", variables(one));
            }
            case BtfType.Float one -> tree.put("size", (long) one.sizeBytes());
            case BtfType.DeclTag one -> {
                tree.put("type_id", (long) one.type());
                tree.put("component_idx", (long) one.component());
            }
        }
        return tree;
    }

    private static String kind(BtfType type) {
        return switch (type) {
            case BtfType.Void _ -> "UNKNOWN";
            case BtfType.Int _ -> "INT";
            case BtfType.Ptr _ -> "PTR";
            case BtfType.Array _ -> "ARRAY";
            case BtfType.Struct one -> one.isUnion() ? "UNION" : "STRUCT";
            case BtfType.Enum one -> one.sizeBytes() == 8 ? "ENUM64" : "ENUM";
            case BtfType.Fwd _ -> "FWD";
            case BtfType.Typedef _ -> "TYPEDEF";
            case BtfType.Modifier one -> one.kind().name();
            case BtfType.Func _ -> "FUNC";
            case BtfType.FuncProto _ -> "FUNC_PROTO";
            case BtfType.Var _ -> "VAR";
            case BtfType.Datasec _ -> "DATASEC";
            case BtfType.Float _ -> "FLOAT";
            case BtfType.DeclTag _ -> "DECL_TAG";
        };
    }

    private static String named(String name) {
        return name.isEmpty() ? "(anon)" : name;
    }

    private static List<Object> members(BtfType.Struct struct) {
        List<Object> all = new ArrayList<>();
        for (BtfType.Member member : struct.members()) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", named(member.name()));
            one.put("type_id", (long) member.type());
            one.put("bits_offset", (long) member.bitOffset());
            if (member.bits() != 0) {
                one.put("bitfield_size", (long) member.bits());
            }
            all.add(one);
        }
        return all;
    }

    private static List<Object> values(BtfType.Enum type) {
        List<Object> all = new ArrayList<>();
        for (BtfType.Enumerator value : type.values()) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", value.name());
            boolean large = type.sizeBytes() == 8 && !type.signed() && value.value() < 0;
            one.put(
                    "val",
                    large
                            ? new BigInteger(Long.toUnsignedString(value.value()))
                            : (Object) value.value());
            all.add(one);
        }
        return all;
    }

    private static List<Object> params(BtfType.FuncProto function) {
        List<Object> all = new ArrayList<>();
        for (BtfType.Param param : function.params()) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", named(param.name()));
            one.put("type_id", (long) param.type());
            all.add(one);
        }
        return all;
    }

    private static List<Object> variables(BtfType.Datasec section) {
        List<Object> all = new ArrayList<>();
        for (BtfType.SectionVar variable : section.vars()) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("type_id", (long) variable.type());
            one.put("offset", (long) variable.offset());
            one.put("size", (long) variable.sizeBytes());
            all.add(one);
        }
        return all;
    }

    private void lines(Map<String, Object> tree, PrintWriter out) throws MalformedInputException {
        StringBuilder line = new StringBuilder();
        line.append('[').append(tree.get("id")).append("] ").append(tree.get("kind"));
        line.append(" '").append(tree.get("name")).append('\'');
        boolean variable = "VAR".equals(tree.get("kind"));
        List<?> parts = List.of();
        for (Map.Entry<String, Object> entry : tree.entrySet()) {
            switch (entry.getKey()) {
                case "id", "kind", "name" -> {}
                case "members", "values", "params", "vars" -> parts = (List<?>) entry.getValue();
                default -> {
                    String comma = variable && entry.getKey().equals("linkage") ? "," : "";
                    line.append(comma).append(' ').append(entry.getKey()).append('=');
                    line.append(entry.getValue());
                }
            }
        }
        out.println(TextEscape.line(line.toString()));
        for (Object part : parts) {
            out.print('\t');
            String shown = part(part, "ENUM64".equals(tree.get("kind")), tree);
            out.println(TextEscape.line(shown + variable(part)));
        }
    }

    /** The kind and name of a section's variable. */
    private String variable(Object part) throws MalformedInputException {
        if (!(part instanceof Map<?, ?> fields)
                || !fields.containsKey("offset")
                || !(fields.get("type_id") instanceof Long id)) {
            return "";
        }
        BtfType type = btf.type(id.intValue());
        return " (" + kind(type) + " '" + named(type.name()) + "')";
    }

    private static String part(Object part, boolean wide, Map<String, Object> tree) {
        StringBuilder line = new StringBuilder();
        if (part instanceof Map<?, ?> fields) {
            for (Map.Entry<?, ?> field : fields.entrySet()) {
                line.append(line.isEmpty() ? "" : " ");
                if ("name".equals(field.getKey())) {
                    line.append('\'').append(field.getValue()).append('\'');
                } else {
                    line.append(field.getKey()).append('=').append(field.getValue());
                }
            }
        }
        if (wide) {
            line.append("SIGNED".equals(tree.get("encoding")) ? "LL" : "ULL");
        }
        return line.toString();
    }
}
