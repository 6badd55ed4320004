package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import sonde.binary.elf.DynamicEntry;
import sonde.binary.elf.DynamicTable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfNames;
import sonde.event.result.ValueOutput;

/** The dynamic section. */
public final class DynamicPage implements ElfPage {
    private static final Set<String> SIZES =
            Set.of(
                    """
                    PLTRELSZ RELASZ RELAENT STRSZ SYMENT RELSZ RELENT INIT_ARRAYSZ \
                    FINI_ARRAYSZ PREINIT_ARRAYSZ RELRSZ RELRENT GNU_CONFLICTSZ \
                    GNU_LIBLISTSZ PLTPADSZ MOVEENT MOVESZ SYMINSZ SYMINENT\
                    """
                            .split(" "));
    private static final Set<String> COUNTS =
            Set.of(
                    """
                    VERDEFNUM VERNEEDNUM RELACOUNT RELCOUNT MIPS_RLD_VERSION \
                    MIPS_LOCAL_GOTNO MIPS_CONFLICTNO MIPS_LIBLISTNO MIPS_SYMTABNO \
                    MIPS_UNREFEXTNO MIPS_HIPAGENO\
                    """
                            .split(" "));
    private static final List<String> FLAGS =
            List.of("ORIGIN", "SYMBOLIC", "TEXTREL", "BIND_NOW", "STATIC_TLS");
    private static final List<String> MIPS_FLAGS =
            List.of(
                    """
                    QUICKSTART NOTPOT NO_LIBRARY_REPLACEMENT NO_MOVE SGI_ONLY \
                    GUARANTEE_INIT DELTA_C_PLUS_PLUS GUARANTEE_START_INIT PIXIE \
                    DEFAULT_DELAY_LOAD REQUICKSTART REQUICKSTARTED CORD \
                    NO_UNRES_UNDEF RLD_ORDER_SAFE\
                    """
                            .split(" "));
    private static final List<String> FLAGS_1 =
            List.of(
                    """
                    NOW GLOBAL GROUP NODELETE LOADFLTR INITFIRST NOOPEN ORIGIN \
                    DIRECT TRANS INTERPOSE NODEFLIB NODUMP CONFALT ENDFILTEE \
                    DISPRELDNE DISPRELPND NODIRECT IGNMULDEF NOKSYMS NOHDR EDITED \
                    NORELOC SYMINTPOSE GLOBAUDIT SINGLETON STUB PIE\
                    """
                            .split(" "));

    private final ElfFile elf;

    public DynamicPage(ElfFile elf) {
        this.elf = elf;
    }

    @Override
    public String key() {
        return "dynamic";
    }

    @Override
    public void text(PrintWriter out) throws IOException {
        Optional<DynamicTable> found = elf.dynamic();
        if (found.isEmpty()) {
            out.println("There is no dynamic section in this file.");
            return;
        }
        DynamicTable table = found.get();
        out.printf(
                "Dynamic section at offset %s contains %s:%n",
                ElfWording.hex(table.offset()), ElfWording.entries(table.entries().size()));
        out.println("  Tag        Type                         Name/Value");
        int width = elf.is64() ? 19 : 27;
        for (DynamicEntry entry : table.entries()) {
            String type = ElfNames.tag(elf.machine(), entry.tag());
            out.print(" 0x" + ElfWording.address(elf, entry.tag()) + " (" + type + ")");
            out.print(" ".repeat(Math.max(1, width - type.length())));
            out.println(value(table, entry, type));
        }
    }

    private String value(DynamicTable table, DynamicEntry entry, String type) {
        long value = entry.value();
        if (entry.isText()) {
            String what =
                    switch (type) {
                        case "NEEDED" -> "Shared library";
                        case "SONAME" -> "Library soname";
                        case "RPATH" -> "Library rpath";
                        case "RUNPATH" -> "Library runpath";
                        case "AUXILIARY" -> "Auxiliary library";
                        case "FILTER" -> "Filter library";
                        case "AUDIT" -> "Audit library";
                        case "DEPAUDIT" -> "Dependency audit library";
                        default -> "Configuration file";
                    };
            return what + ": [" + ElfWording.name(table.text(entry)) + "]";
        }
        if (SIZES.contains(type)) {
            return Long.toUnsignedString(value) + " (bytes)";
        }
        if (COUNTS.contains(type)) {
            return Long.toUnsignedString(value);
        }
        return switch (type) {
            case "PLTREL" -> ElfNames.tag(elf.machine(), value);
            case "FLAGS" -> flags(FLAGS, value);
            case "MIPS_FLAGS" -> value == 0 ? "NONE" : flags(MIPS_FLAGS, value);
            case "FLAGS_1" -> "Flags:" + (value == 0 ? " None" : " " + flags(FLAGS_1, value));
            case "BIND_NOW", "SYMBOLIC", "AARCH64_BTI_PLT", "AARCH64_PAC_PLT" ->
                    value == 0 ? "" : ElfWording.hex(value);
            // in seconds since 1970: when prelink changed the file
            case "GNU_PRELINKED" ->
                    Instant.ofEpochSecond(value & 0xffff_ffffL).toString().replace("Z", "");
            default -> ElfWording.hex(value);
        };
    }

    private static String flags(List<String> names, long value) {
        StringBuilder words = new StringBuilder();
        for (int bit = 0; bit < 64; bit++) {
            if ((value >>> bit & 1) != 0) {
                words.append(words.isEmpty() ? "" : " ");
                words.append(bit < names.size() ? names.get(bit) : ElfWording.hex(1L << bit));
            }
        }
        return words.toString();
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        out.beginArray();
        Optional<DynamicTable> found = elf.dynamic();
        if (found.isPresent()) {
            for (DynamicEntry entry : found.get().entries()) {
                out.beginObject();
                out.field("tag", ElfNames.tag(elf.machine(), entry.tag()));
                out.field("value", ElfWording.hex(entry.value()));
                if (entry.isText()) {
                    out.field("text", ElfWording.name(found.get().text(entry)));
                }
                out.endObject();
            }
        }
        out.endArray();
    }
}
