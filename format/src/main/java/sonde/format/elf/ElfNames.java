package sonde.format.elf;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Names of the numbers in ELF files, as the ABI documents and readelf have them. Numbers without a
 * name come out as what they are, in hexadecimal.
 */
public final class ElfNames {
    private static final Map<String, Map<Long, String>> TABLES = read();

    private ElfNames() {}

    private static Map<String, Map<Long, String>> read() {
        Map<String, Map<Long, String>> tables = new HashMap<>();
        Map<Long, String> table = new HashMap<>();
        try (BufferedReader in =
                new BufferedReader(
                        new InputStreamReader(
                                Objects.requireNonNull(
                                        ElfNames.class.getResourceAsStream("names.txt")),
                                StandardCharsets.UTF_8))) {
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                if (line.startsWith("[")) {
                    table =
                            tables.computeIfAbsent(
                                    line.substring(1, line.length() - 1), name -> new HashMap<>());
                } else if (!line.isEmpty() && line.charAt(0) != '#') {
                    int space = line.indexOf(' ');
                    table.put(Long.decode(line.substring(0, space)), line.substring(space + 1));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return tables;
    }

    private static @Nullable String find(String table, long number) {
        return TABLES.getOrDefault(table, Map.of()).get(number);
    }

    private static String unknown(long number) {
        return "<unknown>: " + Long.toHexString(number);
    }

    private static String of(String table, long number) {
        String name = find(table, number);
        return name == null ? unknown(number) : name;
    }

    private static String of(String table, int machine, long number) {
        String own = find(table + " " + machine, number);
        return own == null ? of(table, number) : own;
    }

    /** Of e_machine: "Advanced Micro Devices X86-64". */
    public static String machine(int machine) {
        String name = find("machine", machine);
        return name == null ? "<unknown>: 0x" + Integer.toHexString(machine) : name;
    }

    /** Of EI_OSABI: "UNIX - System V". */
    public static String abi(int osAbi) {
        return of("abi", osAbi);
    }

    /** Of e_type: "REL (Relocatable file)". */
    public static String type(int type) {
        return of("type", type);
    }

    /** Of sh_type, without SHT_: "PROGBITS". */
    public static String section(int machine, int type) {
        return of("section", machine, Integer.toUnsignedLong(type));
    }

    /** Of p_type, without PT_: "LOAD". */
    public static String segment(int machine, int type) {
        return of("segment", machine, Integer.toUnsignedLong(type));
    }

    /** Of d_tag, without DT_: "NEEDED". */
    public static String tag(int machine, long tag) {
        return of("tag", machine, tag);
    }

    /** Of a relocation's type: "R_X86_64_RELATIVE". */
    public static String relocation(int machine, int type) {
        String table = "relocation " + machine;
        if (machine == ElfFile.EM_MIPS && type > 0xff) {
            return of(table, type & 0xff)
                    + "/"
                    + of(table, type >> 8 & 0xff)
                    + "/"
                    + of(table, type >> 16 & 0xff);
        }
        String name = find(table, machine == ElfFile.EM_SPARCV9 ? type & 0xff : type);
        if (name == null && machine == ElfFile.EM_SPARCV9) {
            name = find("relocation " + ElfFile.EM_SPARC, type & 0xff);
        }
        return name == null ? "unrecognized: " + Integer.toHexString(type) : name;
    }

    /** Of a note's type by its owner, with words: "NT_GNU_BUILD_ID (unique build ID bitstring)". */
    public static String note(String owner, int type) {
        String name = find("note " + owner, Integer.toUnsignedLong(type));
        if (name == null && (type == 0x100 || type == 0x101)) {
            // NT_GNU_BUILD_ATTRIBUTE_OPEN and _FUNC, whose owners say what they are of
            return type == 0x100 ? "OPEN" : "func";
        }
        return name == null ? "Unknown note type: (0x%08x)".formatted(type) : name;
    }
}
