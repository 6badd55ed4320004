package sonde.binary.btf;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.btf.BtfType.Int.IntEncoding;

/**
 * Writes a BTF blob (Documentation/bpf/btf.rst, section 3) in this machine's byte order: types in
 * the order given count from 1, equal texts are kept once. Nothing is checked: the kernel does.
 */
public final class BtfWriter {
    private static final int HEADER_BYTES = 24;
    private static final int MAGIC = 0xeb9f;
    private static final int MOST_MEMBERS = 0xffff;

    private final WordBuffer types = new WordBuffer();
    private final ByteArrayOutputStream strings = new ByteArrayOutputStream();
    private final Map<String, Integer> offsets = new HashMap<>();
    private int count;

    /** Numbers of 32 bits, one behind the other. */
    private static final class WordBuffer {
        private int[] words = new int[1024];
        private int size;

        WordBuffer u32(int word) {
            if (size == words.length) {
                words = Arrays.copyOf(words, 2 * size);
            }
            words[size++] = word;
            return this;
        }
    }

    /** One without types. */
    public BtfWriter() {
        string("");
    }

    /** The offset of a text, which is added when it is new. */
    public int string(String text) {
        return offsets.computeIfAbsent(
                text,
                one -> {
                    int at = strings.size();
                    strings.writeBytes(one.getBytes(StandardCharsets.UTF_8));
                    strings.write(0);
                    return at;
                });
    }

    /** Adds a type; its id. */
    public int add(BtfType type) {
        switch (type) {
            case BtfType.Int t -> {
                head(t.name(), BtfDecoder.INT, 0, false, t.sizeBytes());
                types.u32(encoding(t.encoding()) << 24 | t.bitOffset() << 16 | t.bits());
            }
            case BtfType.Ptr t -> head("", BtfDecoder.PTR, 0, false, t.type());
            case BtfType.Array t -> {
                head("", BtfDecoder.ARRAY, 0, false, 0);
                types.u32(t.type()).u32(t.indexType()).u32(t.count());
            }
            case BtfType.Struct t -> struct(t);
            case BtfType.Enum t -> enumeration(t);
            case BtfType.Fwd t -> head(t.name(), BtfDecoder.FWD, 0, t.isUnion(), 0);
            case BtfType.Typedef t -> head(t.name(), BtfDecoder.TYPEDEF, 0, false, t.type());
            case BtfType.Modifier t -> head(t.name(), modifier(t.kind()), 0, false, t.type());
            case BtfType.Func t ->
                    head(t.name(), BtfDecoder.FUNC, t.linkage().ordinal(), false, t.type());
            case BtfType.FuncProto t -> prototype(t);
            case BtfType.Var t -> {
                head(t.name(), BtfDecoder.VAR, 0, false, t.type());
                types.u32(t.linkage().ordinal());
            }
            case BtfType.Datasec t -> {
                head(t.name(), BtfDecoder.DATASEC, t.vars().size(), false, t.sizeBytes());
                for (BtfType.SectionVar one : t.vars()) {
                    types.u32(one.type()).u32(one.offset()).u32(one.sizeBytes());
                }
            }
            case BtfType.Float t -> head(t.name(), BtfDecoder.FLOAT, 0, false, t.sizeBytes());
            case BtfType.DeclTag t -> {
                head(t.name(), BtfDecoder.DECL_TAG, 0, false, t.type());
                types.u32(t.component());
            }
            case BtfType.Void _ -> throw new IllegalArgumentException("void is not written");
        }
        return ++count;
    }

    /**
     * struct btf_type: name_off, info (vlen 0 to 15, kind 24 to 28, kind_flag 31), size or type.
     */
    private void head(String name, int kind, int vlen, boolean flag, int sizeOrType) {
        if (vlen > MOST_MEMBERS) {
            throw new IllegalArgumentException(name + " has " + vlen + " members");
        }
        types.u32(string(name)).u32((flag ? 1 << 31 : 0) | kind << 24 | vlen).u32(sizeOrType);
    }

    private static int encoding(IntEncoding encoding) {
        return switch (encoding) {
            case UNSIGNED -> 0;
            case SIGNED -> 1;
            case CHAR -> 2;
            case BOOL -> 4;
        };
    }

    private static int modifier(BtfType.Modifier.Kind kind) {
        return switch (kind) {
            case VOLATILE -> BtfDecoder.VOLATILE;
            case CONST -> BtfDecoder.CONST;
            case RESTRICT -> BtfDecoder.RESTRICT;
            case TYPE_TAG -> BtfDecoder.TYPE_TAG;
        };
    }

    private void struct(BtfType.Struct t) {
        List<BtfType.Member> members = t.members();
        boolean bitfields = members.stream().anyMatch(member -> member.bits() != 0);
        int kind = t.isUnion() ? BtfDecoder.UNION : BtfDecoder.STRUCT;
        head(t.name(), kind, members.size(), bitfields, t.sizeBytes());
        for (BtfType.Member member : members) {
            int offset =
                    bitfields
                            ? member.bits() << 24 | member.bitOffset() & 0xff_ffff
                            : member.bitOffset();
            types.u32(string(member.name())).u32(member.type()).u32(offset);
        }
    }

    /** Kind 19 only where a value needs it: kernels before 6.0 do not know it. */
    private void enumeration(BtfType.Enum t) {
        boolean wide = false;
        for (BtfType.Enumerator one : t.values()) {
            long value = one.value();
            wide |= t.signed() ? value != (int) value : value >>> 32 != 0;
        }
        int kind = wide ? BtfDecoder.ENUM64 : BtfDecoder.ENUM;
        head(t.name(), kind, t.values().size(), t.signed(), t.sizeBytes());
        for (BtfType.Enumerator one : t.values()) {
            types.u32(string(one.name())).u32((int) one.value());
            if (wide) {
                types.u32((int) (one.value() >>> 32));
            }
        }
    }

    private void prototype(BtfType.FuncProto t) {
        head("", BtfDecoder.FUNC_PROTO, t.params().size(), false, t.returnType());
        for (BtfType.Param param : t.params()) {
            types.u32(string(param.name())).u32(param.type());
        }
    }

    /** The blob: struct btf_header, types, strings. */
    public byte[] bytes() {
        int body = 4 * types.size;
        byte[] text = strings.toByteArray();
        ByteBuffer all =
                ByteBuffer.allocate(HEADER_BYTES + body + text.length)
                        .order(ByteOrder.nativeOrder());
        all.putShort((short) MAGIC).put((byte) 1).put((byte) 0).putInt(HEADER_BYTES);
        all.putInt(0).putInt(body).putInt(body).putInt(text.length);
        for (int i = 0; i < types.size; i++) {
            all.putInt(types.words[i]);
        }
        return all.put(text).array();
    }
}
