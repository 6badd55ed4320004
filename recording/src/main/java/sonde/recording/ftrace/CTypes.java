package sonde.recording.ftrace;

import java.util.regex.Pattern;

/** Sizes and signs of the C types that format files and casts name. */
final class CTypes {
    private static final Pattern BLANKS = Pattern.compile("\\s+");

    private CTypes() {}

    /** {@code "__data_loc u32[] name"} → {@code "u32"}. */
    static String element(String declaration) {
        int start = declaration.indexOf(' ');
        int end = declaration.indexOf('[');
        return start < 0 || end < start ? "" : declaration.substring(start, end).strip();
    }

    /** Bytes of a type, {@code fallback} when we do not know it. */
    static int sizeBytes(String type, int longBytes, int fallback) {
        if (type.indexOf('*') >= 0) {
            return longBytes;
        }
        String plain = plain(type);
        return switch (plain) {
            case "char", "u8", "s8", "__u8", "__s8", "uint8_t", "int8_t", "bool", "_Bool" -> 1;
            case "short",
                    "short int",
                    "u16",
                    "s16",
                    "__u16",
                    "__s16",
                    "uint16_t",
                    "int16_t",
                    "__le16",
                    "__be16",
                    "umode_t" ->
                    2;
            case "int",
                    "",
                    "u32",
                    "s32",
                    "__u32",
                    "__s32",
                    "uint32_t",
                    "int32_t",
                    "__le32",
                    "__be32",
                    "pid_t",
                    "uid_t",
                    "gid_t",
                    "dev_t",
                    "gfp_t",
                    "uint" ->
                    4;
            case "long",
                    "long int",
                    "size_t",
                    "ssize_t",
                    "ulong",
                    "uintptr_t",
                    "pgoff_t",
                    "unsigned" ->
                    plain.equals("unsigned") ? 4 : longBytes;
            case "long long",
                    "long long int",
                    "u64",
                    "s64",
                    "__u64",
                    "__s64",
                    "uint64_t",
                    "int64_t",
                    "__le64",
                    "__be64",
                    "loff_t",
                    "sector_t",
                    "ktime_t",
                    "dma_addr_t",
                    "phys_addr_t",
                    "resource_size_t" ->
                    8;
            default -> type.startsWith("enum ") ? 4 : fallback;
        };
    }

    /** Whether an integer of that type is unsigned. */
    static boolean isUnsigned(String type) {
        if (type.indexOf('*') >= 0 || type.contains("unsigned")) {
            return true;
        }
        String plain = plain(type);
        return switch (plain) {
            case "u8",
                    "u16",
                    "u32",
                    "u64",
                    "__u8",
                    "__u16",
                    "__u32",
                    "__u64",
                    "uint8_t",
                    "uint16_t",
                    "uint32_t",
                    "uint64_t",
                    "__le16",
                    "__le32",
                    "__le64",
                    "__be16",
                    "__be32",
                    "__be64",
                    "size_t",
                    "ulong",
                    "uintptr_t",
                    "bool",
                    "_Bool",
                    "dev_t",
                    "gfp_t",
                    "uid_t",
                    "gid_t",
                    "umode_t",
                    "sector_t",
                    "dma_addr_t",
                    "phys_addr_t",
                    "resource_size_t",
                    "pgoff_t",
                    "uint" ->
                    true;
            default -> false;
        };
    }

    private static String plain(String type) {
        StringBuilder plain = new StringBuilder();
        for (String word : BLANKS.split(type.strip())) {
            boolean qualifier =
                    switch (word) {
                        case "unsigned", "signed", "const", "volatile", "__force" -> true;
                        default -> false;
                    };
            if (!qualifier) {
                plain.append(plain.isEmpty() ? "" : " ").append(word);
            }
        }
        return plain.toString();
    }
}
