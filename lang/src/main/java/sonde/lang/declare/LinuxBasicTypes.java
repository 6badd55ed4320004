package sonde.lang.declare;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.declare.CDeclaredType.CompleteType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.FloatType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.VoidType;
import sonde.symbol.ctype.BasicNumbers;
import sonde.symbol.ctype.SourceType;
import sonde.symbol.ctype.SourceType.NumberType;

/** Types that C and every Linux header have, for x86-64. */
final class LinuxBasicTypes {
    static final IntType CHAR = new IntType(1, true, true);
    static final IntType UNSIGNED_CHAR = new IntType(1, false);
    static final IntType I16 = new IntType(2, true);

    /** Names that mean the same everywhere. */
    private static final Map<String, ValueType> FIXED =
            Map.ofEntries(
                    Map.entry("bool", new BoolType()),
                    Map.entry("size_t", IntType.U64),
                    Map.entry("ssize_t", IntType.I64),
                    Map.entry("ptrdiff_t", IntType.I64),
                    Map.entry("intptr_t", IntType.I64),
                    Map.entry("uintptr_t", IntType.U64),
                    Map.entry("intmax_t", IntType.I64),
                    Map.entry("uintmax_t", IntType.U64),
                    Map.entry("off_t", IntType.I64),
                    Map.entry("loff_t", IntType.I64),
                    Map.entry("pid_t", IntType.I32),
                    Map.entry("uid_t", IntType.U32),
                    Map.entry("gid_t", IntType.U32),
                    Map.entry("uint", IntType.U32),
                    Map.entry("ulong", IntType.U64),
                    Map.entry("ushort", IntType.U16),
                    Map.entry("u_char", new IntType(1, false)),
                    Map.entry("u_short", IntType.U16),
                    Map.entry("u_int", IntType.U32),
                    Map.entry("u_long", IntType.U64),
                    Map.entry("unchar", new IntType(1, false)));

    /** Names that the kernel may know better. */
    private static final Map<String, ValueType> USUAL =
            Map.ofEntries(
                    Map.entry("mode_t", IntType.U32),
                    Map.entry("umode_t", IntType.U16),
                    Map.entry("dev_t", IntType.U32),
                    Map.entry("ino_t", IntType.U64),
                    Map.entry("nlink_t", IntType.U32),
                    Map.entry("time_t", IntType.I64),
                    Map.entry("time64_t", IntType.I64),
                    Map.entry("ktime_t", IntType.I64),
                    Map.entry("clock_t", IntType.I64),
                    Map.entry("clockid_t", IntType.I32),
                    Map.entry("timer_t", IntType.I32),
                    Map.entry("key_t", IntType.I32),
                    Map.entry("id_t", IntType.U32),
                    Map.entry("socklen_t", IntType.U32),
                    Map.entry("sa_family_t", IntType.U16),
                    Map.entry("in_port_t", IntType.U16),
                    Map.entry("in_addr_t", IntType.U32),
                    Map.entry("wchar_t", IntType.I32),
                    Map.entry("wint_t", IntType.U32),
                    Map.entry("gfp_t", IntType.U32),
                    Map.entry("fmode_t", IntType.U32),
                    Map.entry("sector_t", IntType.U64),
                    Map.entry("blkcnt_t", IntType.U64),
                    Map.entry("pgoff_t", IntType.U64),
                    Map.entry("dma_addr_t", IntType.U64),
                    Map.entry("phys_addr_t", IntType.U64),
                    Map.entry("resource_size_t", IntType.U64),
                    Map.entry("cputime_t", IntType.U64),
                    Map.entry("suseconds_t", IntType.I64),
                    Map.entry("useconds_t", IntType.U32),
                    Map.entry("pthread_t", IntType.U64));

    private LinuxBasicTypes() {}

    /** A typedef that means the same everywhere; null for none. */
    static @Nullable ValueType fixed(String name) {
        ValueType type = FIXED.get(name);
        return type != null ? type : sized(name);
    }

    /** A typedef that is missing elsewhere; null for none. */
    static @Nullable ValueType usual(String name) {
        return USUAL.get(name);
    }

    /** {@code u8}, {@code __s32}, {@code uint64_t}, {@code __be16}, {@code __u_int}. */
    private static @Nullable ValueType sized(String name) {
        String plain = name.startsWith("__") ? name.substring(2) : name;
        boolean unsigned =
                plain.startsWith("u") || plain.startsWith("be") || plain.startsWith("le");
        String digits =
                switch (plain) {
                    case "u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64" -> plain.substring(1);
                    case "be16", "be32", "be64", "le16", "le32", "le64" ->
                            name.startsWith("__") ? plain.substring(2) : "";
                    case "int8_t", "int16_t", "int32_t", "int64_t" ->
                            plain.substring(3, plain.length() - 2);
                    case "uint8_t", "uint16_t", "uint32_t", "uint64_t" ->
                            plain.substring(4, plain.length() - 2);
                    case "u_int8_t", "u_int16_t", "u_int32_t", "u_int64_t" ->
                            plain.substring(5, plain.length() - 2);
                    default -> "";
                };
        return digits.isEmpty() ? null : new IntType(Integer.parseInt(digits) / 8, !unsigned);
    }

    /** The type of words that name one together, in any order; null when they name none. */
    static CDeclaredType.@Nullable CompleteType of(List<String> words) {
        return switch (BasicNumbers.of(words, Long.BYTES)) {
            case null -> null;
            case NumberType number -> plain(number, words);
            case SourceType _ -> new CompleteType(new VoidType(), 1);
        };
    }

    private static CompleteType plain(NumberType number, List<String> words) {
        int size = (int) number.sizeBytes();
        return switch (number.kind()) {
            case BOOLEAN -> CompleteType.of(new BoolType());
            case CHARACTER -> CompleteType.of(number.isSigned() ? CHAR : UNSIGNED_CHAR);
            case SIGNED, UNSIGNED -> new CompleteType(new IntType(size, number.isSigned()), size);
            case FLOATING -> {
                boolean isPair = words.contains("_Complex") || words.contains("__complex__");
                yield new CompleteType(new FloatType(size), isPair ? size / 2 : size);
            }
        };
    }
}
