package sonde.binary.btf;

import java.util.ArrayList;
import java.util.List;
import sonde.binary.FieldCursor;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.BtfType.Int.IntEncoding;

/** Decodes one struct btf_type and what follows it. Kinds: include/uapi/linux/btf.h, 6.18. */
final class BtfDecoder {
    static final int INT = 1;
    static final int PTR = 2;
    static final int ARRAY = 3;
    static final int STRUCT = 4;
    static final int UNION = 5;
    static final int ENUM = 6;
    static final int FWD = 7;
    static final int TYPEDEF = 8;
    static final int VOLATILE = 9;
    static final int CONST = 10;
    static final int RESTRICT = 11;
    static final int FUNC = 12;
    static final int FUNC_PROTO = 13;
    static final int VAR = 14;
    static final int DATASEC = 15;
    static final int FLOAT = 16;
    static final int DECL_TAG = 17;
    static final int TYPE_TAG = 18;
    static final int ENUM64 = 19;

    private final Btf btf;
    private final FieldCursor cursor;

    BtfDecoder(Btf btf, FieldCursor cursor) {
        this.btf = btf;
        this.cursor = cursor;
    }

    BtfType type() throws MalformedInputException {
        String name = name("name_off");
        int info = cursor.s32("info");
        int sizeOrType = cursor.s32("size");
        int count = info & 0xffff;
        boolean flag = info < 0;
        int kind = info >>> 24 & 0x1f;
        return switch (kind) {
            case INT -> integer(name, sizeOrType);
            case PTR -> new BtfType.Ptr(sizeOrType);
            case ARRAY -> array();
            case STRUCT, UNION -> struct(name, kind == UNION, sizeOrType, count, flag);
            case ENUM -> enumeration(name, sizeOrType, count, flag);
            case ENUM64 -> enumeration64(name, sizeOrType, count, flag);
            case FWD -> new BtfType.Fwd(name, flag);
            case TYPEDEF -> new BtfType.Typedef(name, sizeOrType);
            case VOLATILE -> modifier(BtfType.Modifier.Kind.VOLATILE, name, sizeOrType);
            case CONST -> modifier(BtfType.Modifier.Kind.CONST, name, sizeOrType);
            case RESTRICT -> modifier(BtfType.Modifier.Kind.RESTRICT, name, sizeOrType);
            case TYPE_TAG -> modifier(BtfType.Modifier.Kind.TYPE_TAG, name, sizeOrType);
            case FUNC -> new BtfType.Func(name, linkage(count), sizeOrType);
            case FUNC_PROTO -> prototype(sizeOrType, count);
            case VAR -> new BtfType.Var(name, linkage(cursor.s32("linkage")), sizeOrType);
            case DATASEC -> datasec(name, sizeOrType, count);
            case FLOAT -> new BtfType.Float(name, sizeOrType);
            case DECL_TAG -> new BtfType.DeclTag(name, sizeOrType, cursor.s32("component_idx"));
            default -> throw cursor.malformed("kind", String.valueOf(kind));
        };
    }

    private String name(String field) throws MalformedInputException {
        return btf.string(cursor.u32(field));
    }

    private static BtfType modifier(BtfType.Modifier.Kind kind, String name, int type) {
        return new BtfType.Modifier(kind, name, type);
    }

    private BtfType.Linkage linkage(int number) throws MalformedInputException {
        return switch (number) {
            case 0 -> BtfType.Linkage.STATIC;
            case 1 -> BtfType.Linkage.GLOBAL;
            case 2 -> BtfType.Linkage.EXTERN;
            default -> throw cursor.malformed("linkage", String.valueOf(number));
        };
    }

    /** BTF_INT_ENCODING in bits 24 to 27, BTF_INT_OFFSET in 16 to 23, BTF_INT_BITS in 0 to 7. */
    private BtfType integer(String name, int sizeBytes) throws MalformedInputException {
        int word = cursor.s32("int");
        IntEncoding encoding =
                switch (word >>> 24 & 0xf) {
                    case 0 -> IntEncoding.UNSIGNED;
                    case 1 -> IntEncoding.SIGNED;
                    case 2, 3 -> IntEncoding.CHAR;
                    case 4 -> IntEncoding.BOOL;
                    default -> throw cursor.malformed("encoding", Integer.toHexString(word));
                };
        return new BtfType.Int(name, sizeBytes, encoding, word >>> 16 & 0xff, word & 0xff);
    }

    private BtfType array() throws MalformedInputException {
        int type = cursor.s32("type");
        int index = cursor.s32("index_type");
        return new BtfType.Array(type, index, cursor.s32("nelems"));
    }

    /** With kind_flag the upper 8 bits of a member's offset are the width of a bitfield. */
    private BtfType struct(String name, boolean union, int sizeBytes, int count, boolean flag)
            throws MalformedInputException {
        List<BtfType.Member> members = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            String member = name("member name_off");
            int type = cursor.s32("member type");
            int offset = cursor.s32("member offset");
            members.add(
                    flag
                            ? new BtfType.Member(member, type, offset & 0xff_ffff, offset >>> 24)
                            : new BtfType.Member(member, type, offset, 0));
        }
        return new BtfType.Struct(name, union, sizeBytes, List.copyOf(members));
    }

    private BtfType enumeration(String name, int sizeBytes, int count, boolean signed)
            throws MalformedInputException {
        List<BtfType.Enumerator> values = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            String label = name("enumerator name_off");
            int value = cursor.s32("val");
            values.add(new BtfType.Enumerator(label, signed ? value : value & 0xffff_ffffL));
        }
        return new BtfType.Enum(name, sizeBytes, signed, List.copyOf(values));
    }

    private BtfType enumeration64(String name, int sizeBytes, int count, boolean signed)
            throws MalformedInputException {
        List<BtfType.Enumerator> values = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            String label = name("enumerator name_off");
            long low = cursor.u32("val_lo32");
            values.add(new BtfType.Enumerator(label, low | cursor.u32("val_hi32") << 32));
        }
        return new BtfType.Enum(name, sizeBytes, signed, List.copyOf(values));
    }

    private BtfType prototype(int returnType, int count) throws MalformedInputException {
        List<BtfType.Param> params = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            String param = name("param name_off");
            params.add(new BtfType.Param(param, cursor.s32("param type")));
        }
        return new BtfType.FuncProto(returnType, List.copyOf(params));
    }

    private BtfType datasec(String name, int sizeBytes, int count) throws MalformedInputException {
        List<BtfType.SectionVar> vars = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int type = cursor.s32("type");
            int offset = cursor.s32("offset");
            vars.add(new BtfType.SectionVar(type, offset, cursor.s32("size")));
        }
        return new BtfType.Datasec(name, sizeBytes, List.copyOf(vars));
    }
}
