package sonde.tools.elf;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import sonde.binary.elf.DynamicEntry;
import sonde.binary.elf.DynamicTable;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfNames;
import sonde.binary.elf.ElfNote;
import sonde.binary.elf.ElfSection;
import sonde.binary.elf.ElfSegment;
import sonde.binary.elf.ElfSymbols;
import sonde.binary.elf.SectionBytes;
import sonde.event.result.ValueOutput;
import sonde.symbol.files.Attempt;
import sonde.symbol.files.Attempt.AttemptResult;
import sonde.symbol.files.DebugFile;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.OpenElf;
import sonde.symbol.files.RequiredContent;
import sonde.tools.elf.LibraryResolver.ResolvedLibraries;

/**
 * What a file is, on one page: kind, build-id, libraries, symbols, debug information, hardening.
 */
public final class SummaryPage implements ElfPage {
    private static final int COMMENT_LIMIT_BYTES = 1 << 20;
    private static final int PLACES_SHOWN = 4;

    private final OpenElf file;
    private final ElfFile elf;
    private final DebugSearch search;
    private final LibraryResolver resolver;
    private final String path;

    /**
     * @param path of the file in the resolver's root
     */
    public SummaryPage(OpenElf file, String path, DebugSearch search, LibraryResolver resolver) {
        this.file = file;
        this.elf = file.elf();
        this.path = path;
        this.search = search;
        this.resolver = resolver;
    }

    @Override
    public String key() {
        return "summary";
    }

    @Override
    public void text(PrintWriter out) {
        facts().forEach((name, lines) -> {
            String label = name;
            for (String line : lines) {
                out.printf("%-13s %s%n", label, ElfWording.name(line));
                label = "";
            }
        });
    }

    @Override
    public void values(ValueOutput out) throws IOException {
        out.beginObject();
        for (Map.Entry<String, List<String>> fact : facts().entrySet()) {
            out.beginArray(fact.getKey().replace(' ', '_'));
            for (String line : fact.getValue()) {
                out.value(ElfWording.name(line));
            }
            out.endArray();
        }
        out.endObject();
    }

    /** Looks at one thing of a file that may be damaged. */
    private interface FileLook {
        List<String> at() throws IOException;
    }

    private Map<String, List<String>> facts() {
        Map<String, List<String>> facts = new LinkedHashMap<>();
        add(facts, "file", () -> List.of(file.place().shown()));
        add(facts, "kind", () -> List.of(kind()));
        add(facts, "damaged", elf::problems);
        add(facts, "build-id", this::buildId);
        add(facts, "package", this::packageNote);
        add(facts, "made by", this::compilers);
        add(facts, "module", this::module);
        add(facts, "interpreter", () -> elf.interpreter().stream().toList());
        add(facts, "soname", () -> dynamic().flatMap(DynamicTable::soname).stream().toList());
        add(facts, "libraries", this::libraries);
        add(facts, "symbols", this::symbols);
        add(facts, "debug info", this::debug);
        add(facts, "hardening", this::hardening);
        add(facts, "core", this::core);
        return facts;
    }

    private static void add(Map<String, List<String>> facts, String name, FileLook look) {
        List<String> lines;
        try {
            lines = look.at();
        } catch (IOException e) {
            lines = List.of("damaged: " + e.getMessage());
        }
        if (!lines.isEmpty()) {
            facts.put(name, lines);
        }
    }

    private Optional<DynamicTable> dynamic() throws IOException {
        return elf.dynamic();
    }

    private String kind() throws IOException {
        boolean apart = isDebugFile();
        String what =
                switch (elf.type()) {
                    case ElfFile.ET_REL ->
                            elf.section(".modinfo").isPresent()
                                    ? "kernel module"
                                    : "relocatable file";
                    case ElfFile.ET_EXEC -> "program";
                    case ElfFile.ET_DYN -> dynamicKind(apart);
                    case ElfFile.ET_CORE -> "core file";
                    default -> HeaderPage.type(elf);
                };
        // static-pie: it has a dynamic section to move itself by.
        boolean alone = what.startsWith("program") && elf.interpreter().isEmpty();
        boolean dynamic = dynamic().isPresent() && !alone;
        String linked =
                !apart && (elf.type() == ElfFile.ET_EXEC || elf.type() == ElfFile.ET_DYN)
                        ? dynamic ? ", dynamically linked" : ", statically linked"
                        : "";
        return (apart ? "debug information of a " : "")
                + what
                + ", "
                + ElfNames.machine(elf.machine())
                + ", "
                + (elf.is64() ? "64" : "32")
                + "-bit "
                + (elf.order() == ByteOrder.BIG_ENDIAN ? "big" : "little")
                + "-endian"
                + linked
                + (file.isUnpacked() ? ", unpacked" : "")
                + ", "
                + "%,d bytes".formatted(elf.sizeBytes());
    }

    /** A debug file has the header of the dynamic section, but not its content. */
    private String dynamicKind(boolean apart) throws IOException {
        boolean program =
                apart
                        ? elf.section(".interp").isPresent()
                        : HeaderPage.isPie(elf) || elf.interpreter().isPresent() && isStarted();
        return program ? "program (position-independent)" : "shared library";
    }

    /** Whether the code stayed in another file: a separate debug file keeps the headers alone. */
    private boolean isDebugFile() {
        return elf.sections().stream()
                .anyMatch(one -> one.isExecutable() && one.type() == ElfFile.SHT_NOBITS);
    }

    private boolean isStarted() throws IOException {
        return elf.entry() != 0 && dynamic().flatMap(DynamicTable::soname).isEmpty();
    }

    private List<String> buildId() {
        if (elf.type() == ElfFile.ET_CORE) {
            return List.of();
        }
        return List.of(elf.buildId().map(HexFormat.of()::formatHex).orElse("none"));
    }

    private List<String> packageNote() {
        return elf.notes().stream()
                .filter(n -> n.owner().equals("FDO"))
                .map(ElfNote::description)
                .map(d -> new String(d, StandardCharsets.UTF_8).replace("\0", "").strip())
                .toList();
    }

    /** {@code .comment}: a text of each compiler and linker. */
    private List<String> compilers() throws IOException {
        Optional<ElfSection> comment = elf.section(".comment");
        if (comment.isEmpty() || elf.contentBytes(comment.get()) > COMMENT_LIMIT_BYTES) {
            return List.of();
        }
        return texts(elf.bytes(comment.get())).stream().limit(8).toList();
    }

    private static Set<String> texts(SectionBytes bytes) {
        String all = new String(bytes.toArray(), StandardCharsets.UTF_8);
        Set<String> texts = new LinkedHashSet<>(List.of(all.split("\0+", -1)));
        texts.remove("");
        return texts;
    }

    /** {@code .modinfo}: key=value texts (include/linux/moduleparam.h). */
    private List<String> module() throws IOException {
        Optional<ElfSection> section = elf.section(".modinfo");
        if (section.isEmpty() || elf.contentBytes(section.get()) > COMMENT_LIMIT_BYTES) {
            return List.of();
        }
        Set<String> wanted =
                Set.of(
                        """
                        name version description author license vermagic depends \
                        srcversion intree retpoline\
                        """
                                .split(" "));
        return texts(elf.bytes(section.get())).stream()
                .filter(text -> wanted.contains(text.split("=", 2)[0]))
                .toList();
    }

    private List<String> libraries() throws IOException {
        if (dynamic().isEmpty()) {
            return List.of();
        }
        ResolvedLibraries answer = resolver.resolve(path, elf);
        List<String> lines = new ArrayList<>();
        for (String name : dynamic().get().needed()) {
            String at =
                    answer.libraries().stream()
                            .filter(l -> l.name().equals(name))
                            .map(l -> l.path() == null ? l.how() : l.path())
                            .findFirst()
                            .orElse("");
            lines.add(at.isEmpty() || at.equals(name) ? name : name + " => " + at);
        }
        List<String> needed = dynamic().get().needed();
        long more =
                answer.libraries().stream()
                        .filter(l -> !l.how().equals("interpreter") && !needed.contains(l.name()))
                        .count();
        if (more > 0) {
            lines.add("and " + more + " that these need; --libs lists them");
        }
        lines.addAll(answer.gaps());
        return lines;
    }

    private List<String> symbols() throws IOException {
        if (elf.type() == ElfFile.ET_CORE) {
            return List.of();
        }
        Optional<ElfSymbols> all = elf.symbols(ElfFile.SHT_SYMTAB);
        Optional<ElfSymbols> dynamic = elf.symbols(ElfFile.SHT_DYNSYM);
        String exported = dynamic.map(s -> (s.count() - 1) + " dynamic").orElse("none dynamic");
        boolean mini = elf.section(".gnu_debugdata").isPresent();
        return List.of(
                (all.isPresent() ? (all.get().count() - 1) + " in .symtab" : "stripped")
                        + (mini ? ", function names in .gnu_debugdata, " : ", ")
                        + exported);
    }

    private List<String> debug() throws IOException {
        if (elf.type() == ElfFile.ET_CORE) {
            return List.of();
        }
        List<String> lines = new ArrayList<>();
        if (elf.section(".BTF").isPresent()) {
            lines.add("BTF in the file itself");
        }
        DebugFile found = search.debugFile(file.place(), RequiredContent.DEBUG_INFORMATION);
        if (found.isFound()) {
            String where = found.kind() == DebugFile.Kind.ITSELF ? "" : ": " + found.path().get();
            lines.add("DWARF " + found.kind().words() + where);
            lines.addAll(parts(found));
        } else {
            lines.add("no DWARF here, and no separate file in any of " + places(found) + " places");
            List<Attempt> missing =
                    found.tried().stream()
                            .filter(a -> a.outcome() == AttemptResult.ABSENT)
                            .limit(PLACES_SHOWN)
                            .toList();
            missing.forEach(attempt -> lines.add("  " + attempt.place()));
            if (places(found) > missing.size() && !missing.isEmpty()) {
                lines.add("  and " + (places(found) - missing.size()) + " more");
            }
        }
        found.refusals().stream()
                .filter(a -> a.outcome() != AttemptResult.LACKING)
                .forEach(attempt -> lines.add(attempt.sentence()));
        return lines;
    }

    private List<String> parts(DebugFile found) throws IOException {
        DebugParts parts = new DebugParts(search, file.place(), found);
        if (found.kind() == DebugFile.Kind.ITSELF) {
            return parts.of(elf);
        }
        try (OpenElf separate = found.open()) {
            return parts.of(separate.elf());
        }
    }

    private static int places(DebugFile found) {
        return Math.max(0, found.tried().size() - 1);
    }

    private List<String> hardening() throws IOException {
        boolean runs = elf.type() == ElfFile.ET_EXEC || elf.type() == ElfFile.ET_DYN;
        if (!runs || elf.segments().isEmpty()) {
            return List.of();
        }
        List<String> words = new ArrayList<>();
        words.add(elf.type() == ElfFile.ET_DYN ? "position-independent" : "fixed address");
        words.add(relro());
        words.add(stack());
        Set<String> names = wantedNames();
        boolean canary = names.stream().anyMatch(n -> n.startsWith("__stack_chk_"));
        words.add(canary ? "stack protector" : "no stack protector seen");
        boolean fortified =
                names.stream().anyMatch(n -> n.endsWith("_chk") && !n.startsWith("__stack"));
        if (fortified) {
            words.add("fortified calls");
        }
        elf.notes().stream()
                .filter(n -> n.owner().equals("GNU") && n.type() == 5)
                .flatMap(n ->
                        NoteText.properties(
                                elf, ByteBuffer.wrap(n.description()).order(elf.order()))
                                .stream())
                .filter(p -> p.contains(" feature: "))
                .forEach(words::add);
        DynamicTable table = dynamic().orElse(null);
        if (table != null) {
            for (long tag : new long[] {DynamicEntry.DT_RPATH, DynamicEntry.DT_RUNPATH}) {
                String name = tag == DynamicEntry.DT_RPATH ? "RPATH " : "RUNPATH ";
                table.texts(tag).forEach(text -> words.add(name + text));
            }
            if (table.value(DynamicEntry.DT_TEXTREL).isPresent()) {
                words.add("relocations in code");
            }
        }
        boolean writable =
                elf.segments().stream()
                        .anyMatch(s -> s.type() == ElfFile.PT_LOAD && (s.flags() & 3) == 3);
        if (writable) {
            words.add("a segment that is writable and executable");
        }
        return List.of(String.join(", ", words));
    }

    private String relro() throws IOException {
        boolean part = elf.segments().stream().anyMatch(s -> s.type() == ElfFile.PT_GNU_RELRO);
        DynamicTable table = dynamic().orElse(null);
        boolean now =
                table != null
                        && (table.value(DynamicEntry.DT_BIND_NOW).isPresent()
                                || (table.value(DynamicEntry.DT_FLAGS).orElse(0)
                                                & DynamicEntry.DF_BIND_NOW)
                                        != 0
                                || (table.value(DynamicEntry.DT_FLAGS_1).orElse(0)
                                                & DynamicEntry.DF_1_NOW)
                                        != 0);
        return part ? now ? "full RELRO" : "partial RELRO" : "no RELRO";
    }

    private String stack() {
        for (ElfSegment segment : elf.segments()) {
            if (segment.type() == ElfFile.PT_GNU_STACK) {
                return (segment.flags() & ElfFile.PF_X) == 0
                        ? "stack not executable"
                        : "executable stack";
            }
        }
        return "stack executable where the architecture says so";
    }

    /** Names of symbols that others have to give. */
    private Set<String> wantedNames() throws IOException {
        Set<String> names = new LinkedHashSet<>();
        for (int type : new int[] {ElfFile.SHT_DYNSYM, ElfFile.SHT_SYMTAB}) {
            ElfSymbols symbols = elf.symbols(type).orElse(null);
            for (int i = 1; symbols != null && i < symbols.count(); i++) {
                int at = symbols.nameOffset(i);
                boolean candidate = symbols.stringByte(at) == '_' || type == ElfFile.SHT_SYMTAB;
                if (candidate && symbols.stringByte(at + 1) == '_') {
                    names.add(symbols.name(i));
                }
            }
            if (!names.isEmpty()) {
                break;
            }
        }
        return names;
    }

    private List<String> core() {
        if (elf.type() != ElfFile.ET_CORE) {
            return List.of();
        }
        List<String> lines = new ArrayList<>();
        int threads = 0;
        for (ElfNote note : elf.notes()) {
            if (note.owner().equals("CORE") && note.type() == 3) {
                lines.addAll(NoteText.of(elf, note));
            } else if (note.owner().equals("CORE") && note.type() == 1) {
                if (threads++ == 0) {
                    lines.addAll(NoteText.of(elf, note));
                }
            }
        }
        lines.add(threads + (threads == 1 ? " thread" : " threads"));
        return lines;
    }
}
