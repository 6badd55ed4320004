package sonde.bpf.skeleton;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfType.Int.IntEncoding;

/** What a type of an object is in Java. */
sealed interface JavaType {
    /** Bytes taken. */
    int bytes();

    /** The type's name in a declaration. */
    String name();

    /**
     * An expression that reads it.
     *
     * @param segment expression of the memory
     */
    String read(String segment, int offset);

    /** A statement that writes it. */
    String write(String segment, int offset, String value);

    /** An expression of its codec. */
    String codec();

    /** A number that has a layout of its own. */
    record JavaNumber(String name, String layout, int bytes) implements JavaType {
        @Override
        public String read(String segment, int offset) {
            return "%s.get(ValueLayout.%s, %d)".formatted(segment, layout, offset);
        }

        @Override
        public String write(String segment, int offset, String value) {
            return "%s.set(ValueLayout.%s, %d, %s)".formatted(segment, layout, offset, value);
        }

        @Override
        public String codec() {
            return switch (name) {
                case "int" -> "Codec.INT";
                case "long" -> "Codec.LONG";
                default -> "Codec.bytes(" + bytes + ")";
            };
        }

        /** What stands for it between the signs of a generic type. */
        String boxed() {
            return switch (name) {
                case "int" -> "Integer";
                case "long" -> "Long";
                default -> "byte[]";
            };
        }
    }

    /** Memory that goes through a codec: text, bytes, structures. */
    record Coded(String name, String codec, int bytes) implements JavaType {
        @Override
        public String read(String segment, int offset) {
            return "%s.decode(%s.asSlice(%d, %d))".formatted(codec, segment, offset, bytes);
        }

        @Override
        public String write(String segment, int offset, String value) {
            return "%s.encode(%s, %s.asSlice(%d, %d).fill((byte) 0))"
                    .formatted(codec, value, segment, offset, bytes);
        }
    }

    /** {@link #name}, or what stands for it between the signs of a generic type. */
    static String boxed(JavaType type) {
        return type instanceof JavaNumber number ? number.boxed() : type.name();
    }

    /**
     * A structure as a record.
     *
     * @param fields by name
     */
    record JavaStructure(String name, int bytes, Map<String, JavaField> fields) {}

    /** A member. */
    record JavaField(JavaType type, int offset) {}

    /** Gives each type of an object its Java type, structures once. */
    final class JavaTypeTable {
        private static final int MOST_DEPTH = 8;
        private static final int MOST_BYTES = 1 << 20;

        private final List<BtfType> types;
        private final Map<Integer, Coded> known = new LinkedHashMap<>();
        private final List<JavaStructure> structures = new ArrayList<>();
        private final Set<String> names = new HashSet<>();

        JavaTypeTable(List<BtfType> types, Set<String> taken) {
            this.types = types;
            names.addAll(taken);
        }

        /** All structures that were asked for. */
        List<JavaStructure> structures() {
            return structures;
        }

        /**
         * The Java type of an id.
         *
         * @param bytes that a value takes; what does not fit that is bytes
         */
        JavaType of(int id, int bytes) {
            return of(id, bytes, 0);
        }

        private static JavaType raw(int bytes) {
            return new Coded("byte[]", "Codec.bytes(" + bytes + ")", bytes);
        }

        private int skip(int id) {
            int at = id;
            for (int i = 0; i < 64 && at > 0 && at < types.size(); i++) {
                switch (types.get(at)) {
                    case BtfType.Modifier m -> at = m.type();
                    case BtfType.Typedef t -> at = t.type();
                    case BtfType _ -> {
                        return at;
                    }
                }
            }
            return 0;
        }

        private JavaType of(int id, int bytes, int depth) {
            int at = skip(id);
            JavaType type =
                    switch (types.get(at)) {
                        case BtfType.Int i
                                when i.encoding() == IntEncoding.BOOL && i.sizeBytes() == 1 ->
                                new JavaNumber("boolean", "JAVA_BOOLEAN", 1);
                        case BtfType.Int i -> number(i.sizeBytes());
                        case BtfType.Enum e -> number(e.sizeBytes());
                        case BtfType.Ptr _ -> number(8);
                        case BtfType.Float f when f.sizeBytes() == 4 ->
                                new JavaNumber("float", "JAVA_FLOAT_UNALIGNED", 4);
                        case BtfType.Float f when f.sizeBytes() == 8 ->
                                new JavaNumber("double", "JAVA_DOUBLE_UNALIGNED", 8);
                        case BtfType.Array a when isChar(a.type()) ->
                                new Coded("String", "Codec.text(" + a.count() + ")", a.count());
                        case BtfType.Struct s when !s.isUnion() && depth < MOST_DEPTH ->
                                structure(at, s, depth);
                        case BtfType _ -> raw(bytes);
                    };
            return type.bytes() == bytes && bytes > 0
                    ? type
                    : raw(Math.clamp(bytes, 0, MOST_BYTES));
        }

        private static JavaType number(int bytes) {
            return switch (bytes) {
                case 1 -> new JavaNumber("byte", "JAVA_BYTE", 1);
                case 2 -> new JavaNumber("short", "JAVA_SHORT_UNALIGNED", 2);
                case 4 -> new JavaNumber("int", "JAVA_INT_UNALIGNED", 4);
                case 8 -> new JavaNumber("long", "JAVA_LONG_UNALIGNED", 8);
                default -> raw(bytes);
            };
        }

        private boolean isChar(int id) {
            return types.get(skip(id)) instanceof BtfType.Int i
                    && i.sizeBytes() == 1
                    && i.name().contains("char")
                    && !i.name().contains("unsigned");
        }

        private JavaType structure(int id, BtfType.Struct struct, int depth) {
            Coded before = known.get(id);
            if (before != null) {
                return before;
            }
            Map<String, JavaField> fields = new LinkedHashMap<>();
            boolean plain = !struct.members().isEmpty() && struct.sizeBytes() <= MOST_BYTES;
            for (int i = 0; plain && i < struct.members().size(); i++) {
                BtfType.Member member = struct.members().get(i);
                int offset = member.bitOffset() / 8;
                int size = size(member.type(), 0);
                plain =
                        member.bits() == 0
                                && size > 0
                                && offset >= 0
                                && offset <= struct.sizeBytes() - size;
                if (plain) {
                    String name =
                            JavaNames.unique(fields.keySet(), JavaNames.member(member.name()));
                    fields.put(name, new JavaField(of(member.type(), size, depth + 1), offset));
                }
            }
            if (!plain) {
                return raw(struct.sizeBytes());
            }
            String name = JavaNames.unique(names, JavaNames.type(struct.name()));
            names.add(name);
            Coded coded = new Coded(name, name + ".CODEC", struct.sizeBytes());
            known.put(id, coded);
            structures.add(new JavaStructure(name, struct.sizeBytes(), fields));
            return coded;
        }

        private int size(int id, int depth) {
            if (depth > MOST_DEPTH) {
                return -1;
            }
            return switch (types.get(skip(id))) {
                case BtfType.Int i -> i.sizeBytes();
                case BtfType.Enum e -> e.sizeBytes();
                case BtfType.Float f -> f.sizeBytes();
                case BtfType.Ptr _ -> 8;
                case BtfType.Struct s -> s.sizeBytes();
                case BtfType.Array a -> {
                    long all = (long) size(a.type(), depth + 1) * a.count();
                    yield all > MOST_BYTES || all < 0 ? -1 : (int) all;
                }
                case BtfType _ -> -1;
            };
        }
    }
}
