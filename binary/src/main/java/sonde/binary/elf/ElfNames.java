package sonde.binary.elf;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.sys.ResourceTable;

/**
 * Names of the numbers in ELF files, as the ABI documents and readelf have them. Numbers without a
 * name come out as what they are, in hexadecimal.
 */
public final class ElfNames {
    private static final Map<String, Map<Long, String>> TABLES = read();
    private static final int EM_SPARC32PLUS = 18;
    private static final long SHT_LOOS = 0x6000_0000L;
    private static final long SHT_LOPROC = 0x7000_0000L;
    private static final long SHT_LOUSER = 0x8000_0000L;

    private ElfNames() {}

    private static Map<String, Map<Long, String>> read() {
        Map<String, Map<Long, String>> tables = new HashMap<>();
        Map<Long, String> table = new HashMap<>();
        for (String line : ResourceTable.lines(ElfNames.class.getResourceAsStream("names.txt"))) {
            if (line.startsWith("[")) {
                String name = line.substring(1, line.length() - 1);
                table = tables.computeIfAbsent(name, added -> new HashMap<>());
            } else {
                int space = line.indexOf(' ');
                table.put(Long.decode(line.substring(0, space)), line.substring(space + 1));
            }
        }
        return tables;
    }

    private static @Nullable String find(String table, long number) {
        return TABLES.getOrDefault(table, Map.of()).get(number);
    }

    private static String unknown(long number) {
        return "<unknown>: " + Long.toHexString(number);
    }

    private static String beyond(String range, long number) {
        return range + (number == 0 ? "+0" : "+0x" + Long.toHexString(number));
    }

    private static String of(String table, long number) {
        String name = find(table, number);
        return name == null ? unknown(number) : name;
    }

    private static String of(String table, int machine, long number) {
        String own = find(table + " " + machine, number);
        return own == null ? of(table, number) : own;
    }

    /** The name of e_machine: "Advanced Micro Devices X86-64". */
    public static String machine(int machine) {
        String name = find("machine", machine);
        return name == null ? "<unknown>: 0x" + Integer.toHexString(machine) : name;
    }

    /** The name of EI_OSABI: "UNIX - System V". */
    public static String abi(int osAbi) {
        String name = find("abi", osAbi);
        return name == null ? "<unknown: " + Integer.toHexString(osAbi) + ">" : name;
    }

    /** The name of e_type: "REL (Relocatable file)". */
    public static String type(int type) {
        return of("type", type);
    }

    /** The name of sh_type, without SHT_: "PROGBITS". */
    public static String section(int machine, int type) {
        long number = Integer.toUnsignedLong(type);
        String own = find("section " + machine, number);
        String name = own == null ? find("section", number) : own;
        if (name != null || number < SHT_LOOS) {
            return name == null ? unknown(number) : name;
        }
        return number >= SHT_LOUSER
                ? beyond("LOUSER", number - SHT_LOUSER)
                : number >= SHT_LOPROC
                        ? beyond("LOPROC", number - SHT_LOPROC)
                        : beyond("LOOS", number - SHT_LOOS);
    }

    /** The name of p_type, without PT_: "LOAD". */
    public static String segment(int machine, int type) {
        long number = Integer.toUnsignedLong(type);
        String name = of("segment", machine, number);
        if (!name.startsWith("<unknown>")) {
            return name;
        }
        // PT_LOOS to PT_HIOS, PT_LOPROC to PT_HIPROC
        return switch ((int) (number >>> 28)) {
            case 6 -> beyond("LOOS", number - 0x6000_0000L);
            case 7 -> beyond("LOPROC", number - 0x7000_0000L);
            default -> name;
        };
    }

    /** The name of d_tag, without DT_: "NEEDED". */
    public static String tag(int machine, long tag) {
        return of("tag", machine, tag);
    }

    /** The name of a relocation's type: "R_X86_64_RELATIVE". */
    public static String relocation(int machine, int type) {
        String table = "relocation " + machine;
        if (machine == ElfFile.EM_MIPS && type > 0xff) {
            return of(table, type & 0xff)
                    + "/"
                    + of(table, type >> 8 & 0xff)
                    + "/"
                    + of(table, type >> 16 & 0xff);
        }
        boolean sparc = machine == ElfFile.EM_SPARCV9 || machine == EM_SPARC32PLUS;
        String name =
                sparc ? find("relocation " + ElfFile.EM_SPARC, type & 0xff) : find(table, type);
        return name == null ? "unrecognized: " + Integer.toHexString(type) : name;
    }

    /** The name of a note's type by its owner: "NT_GNU_BUILD_ID (unique build ID bitstring)". */
    public static String note(String owner, int type) {
        String name = find("note " + owner, Integer.toUnsignedLong(type));
        if (name == null && (type == 0x100 || type == 0x101)) {
            // NT_GNU_BUILD_ATTRIBUTE_OPEN and _FUNC, whose owners say what they are of
            return type == 0x100 ? "OPEN" : "func";
        }
        if (name == null && (type == 1 || type == 2)) {
            return type == 1 ? "NT_VERSION (version)" : "NT_ARCH (architecture)";
        }
        return name == null ? "Unknown note type: (0x%08x)".formatted(type) : name;
    }
}
