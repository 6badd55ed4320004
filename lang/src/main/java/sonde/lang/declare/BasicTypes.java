package sonde.lang.declare;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;
import sonde.symbol.ctype.BasicNumbers;
import sonde.symbol.ctype.SourceType;

/** Types that C and every Linux header have, for x86-64. */
final class BasicTypes {
    static final Int CHAR = new Int(1, true, true);
    static final Int UNSIGNED_CHAR = new Int(1, false);
    static final Int I16 = new Int(2, true);

    /** Names that mean the same everywhere. */
    private static final Map<String, Type> FIXED =
            Map.ofEntries(
                    Map.entry("bool", new Type.Bool()),
                    Map.entry("size_t", Int.U64),
                    Map.entry("ssize_t", Int.I64),
                    Map.entry("ptrdiff_t", Int.I64),
                    Map.entry("intptr_t", Int.I64),
                    Map.entry("uintptr_t", Int.U64),
                    Map.entry("intmax_t", Int.I64),
                    Map.entry("uintmax_t", Int.U64),
                    Map.entry("off_t", Int.I64),
                    Map.entry("loff_t", Int.I64),
                    Map.entry("pid_t", Int.I32),
                    Map.entry("uid_t", Int.U32),
                    Map.entry("gid_t", Int.U32),
                    Map.entry("uint", Int.U32),
                    Map.entry("ulong", Int.U64),
                    Map.entry("ushort", Int.U16),
                    Map.entry("u_char", new Int(1, false)),
                    Map.entry("u_short", Int.U16),
                    Map.entry("u_int", Int.U32),
                    Map.entry("u_long", Int.U64),
                    Map.entry("unchar", new Int(1, false)));

    /** Names that the kernel may know better. */
    private static final Map<String, Type> USUAL =
            Map.ofEntries(
                    Map.entry("mode_t", Int.U32),
                    Map.entry("umode_t", Int.U16),
                    Map.entry("dev_t", Int.U32),
                    Map.entry("ino_t", Int.U64),
                    Map.entry("nlink_t", Int.U32),
                    Map.entry("time_t", Int.I64),
                    Map.entry("time64_t", Int.I64),
                    Map.entry("ktime_t", Int.I64),
                    Map.entry("clock_t", Int.I64),
                    Map.entry("clockid_t", Int.I32),
                    Map.entry("timer_t", Int.I32),
                    Map.entry("key_t", Int.I32),
                    Map.entry("id_t", Int.U32),
                    Map.entry("socklen_t", Int.U32),
                    Map.entry("sa_family_t", Int.U16),
                    Map.entry("in_port_t", Int.U16),
                    Map.entry("in_addr_t", Int.U32),
                    Map.entry("wchar_t", Int.I32),
                    Map.entry("wint_t", Int.U32),
                    Map.entry("gfp_t", Int.U32),
                    Map.entry("fmode_t", Int.U32),
                    Map.entry("sector_t", Int.U64),
                    Map.entry("blkcnt_t", Int.U64),
                    Map.entry("pgoff_t", Int.U64),
                    Map.entry("dma_addr_t", Int.U64),
                    Map.entry("phys_addr_t", Int.U64),
                    Map.entry("resource_size_t", Int.U64),
                    Map.entry("cputime_t", Int.U64),
                    Map.entry("suseconds_t", Int.I64),
                    Map.entry("useconds_t", Int.U32),
                    Map.entry("pthread_t", Int.U64));

    private BasicTypes() {}

    /** A typedef that means the same everywhere; null for none. */
    static @Nullable Type fixed(String name) {
        Type type = FIXED.get(name);
        return type != null ? type : sized(name);
    }

    /** A typedef that is missing elsewhere; null for none. */
    static @Nullable Type usual(String name) {
        return USUAL.get(name);
    }

    /** {@code u8}, {@code __s32}, {@code uint64_t}, {@code __be16}, {@code __u_int}. */
    private static @Nullable Type sized(String name) {
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
        return digits.isEmpty() ? null : new Int(Integer.parseInt(digits) / 8, !unsigned);
    }

    /** The type of words that name one together, in any order; null when they name none. */
    static CType.@Nullable Plain of(List<String> words) {
        return switch (BasicNumbers.of(words, Long.BYTES)) {
            case null -> null;
            case SourceType.Number number -> plain(number, words);
            case SourceType _ -> new CType.Plain(new Type.Void(), 1);
        };
    }

    private static CType.Plain plain(SourceType.Number number, List<String> words) {
        int size = (int) number.sizeBytes();
        return switch (number.kind()) {
            case BOOLEAN -> CType.Plain.of(new Type.Bool());
            case CHARACTER -> CType.Plain.of(number.isSigned() ? CHAR : UNSIGNED_CHAR);
            case SIGNED, UNSIGNED -> new CType.Plain(new Int(size, number.isSigned()), size);
            case FLOATING -> {
                boolean isPair = words.contains("_Complex") || words.contains("__complex__");
                yield new CType.Plain(new Type.Float(size), isPair ? size / 2 : size);
            }
        };
    }
}
