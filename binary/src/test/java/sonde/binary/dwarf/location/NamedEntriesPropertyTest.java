package sonde.binary.dwarf.location;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.SymbolicValue.ConstantValue;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;

class NamedEntriesPropertyTest {
    private static final String PROGRAM =
            """
            typedef unsigned long word_t;
            struct later;
            struct foo { int a; char b[10]; int c[2][3]; struct later *p; word_t w : 3; };
            struct later { struct foo inner; };
            enum color { RED, GREEN = 200, BLUE = -3 };
            int first(struct foo *foo, const char *name, enum color color) { return foo->a; }
            static inline __attribute__((noinline)) int second(int x) { return x + 1; }
            int main(int argc, char **argv) { return second(argc) + first(0, argv[0], RED); }
            """;

    @TempDir private Path folder;

    private byte[] compile(String... options) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/" + options[0])), "no " + options[0]);
        Files.writeString(folder.resolve("p.c"), PROGRAM);
        List<String> command = new ArrayList<>(List.of(options));
        command.addAll(List.of("-w", "-o", "p", "p.c"));
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return Files.readAllBytes(folder.resolve("p"));
    }

    private static NamedEntries names(byte[] image) throws MalformedInputException {
        return new NamedEntries(DebugEntries.read(ElfFile.of(image)));
    }

    private static List<String> parameters(NamedEntries names, String function)
            throws MalformedInputException {
        List<String> found = new ArrayList<>();
        for (DebugEntry child : names.function(function).orElseThrow().children()) {
            if (child.tag() == DwarfTag.FORMAL_PARAMETER) {
                found.add(child.name());
            }
        }
        return found;
    }

    private static List<Long> numbers(DebugEntry of, int attribute) throws MalformedInputException {
        return of.children().stream().map(child -> child.constant(attribute, -1)).toList();
    }

    private static long elements(DebugEntry dimension) {
        long last = dimension.constant(DwarfAttribute.UPPER_BOUND, -1);
        return dimension.constant(DwarfAttribute.COUNT, last + 1);
    }

    private static void check(byte[] image) throws MalformedInputException {
        NamedEntries names = names(image);
        assertThat(parameters(names, "first")).containsExactly("foo", "name", "color");
        assertThat(parameters(names, "second")).containsExactly("x");
        DebugEntry foo = names.type(Set.of(DwarfTag.STRUCTURE_TYPE), "foo").orElseThrow();
        assertThat(foo.constant(DwarfAttribute.BYTE_SIZE, 0)).isEqualTo(56);
        List<DebugEntry> members = foo.children();
        assertThat(members).hasSize(5);
        assertThat(SourceScope.member(members.get(2), new ConstantValue(0)))
                .isEqualTo(new ConstantValue(16));
        DebugEntry array = Objects.requireNonNull(members.get(2).type());
        assertThat(array.children().stream().map(NamedEntriesPropertyTest::elements))
                .containsExactly(2L, 3L);
        assertThat(members.get(4).constant(DwarfAttribute.BIT_SIZE, 0)).isEqualTo(3);
        DebugEntry color = names.type(Set.of(DwarfTag.ENUMERATION_TYPE), "color").orElseThrow();
        assertThat(numbers(color, DwarfAttribute.CONST_VALUE)).containsExactly(0L, 200L, -3L);
        assertThat(names.function("no_such")).isEmpty();
        assertThat(names.type(Set.of(DwarfTag.STRUCTURE_TYPE), "no_such")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gcc -gdwarf-5",
                "gcc -gdwarf-4",
                "gcc -gdwarf-3 -gstrict-dwarf",
                "gcc -gdwarf-2 -gstrict-dwarf",
                "gcc -gdwarf-5 -gdwarf64",
                "gcc -gdwarf-4 -fdebug-types-section",
                "gcc -gdwarf-5 -fdebug-types-section",
                "gcc -g -gz=zlib",
                "gcc -g -O2",
                "clang -gdwarf-5",
                "clang -gdwarf-4",
                "clang -gdwarf-3",
                "clang -gdwarf-5 -fdebug-types-section"
            })
    void readsWhatCompilersWrite(String options) throws IOException, InterruptedException {
        check(compile(options.split(" ")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"gcc -gdwarf-5", "gcc -gdwarf-4", "clang -gdwarf-5", "clang -gdwarf-4"})
    void readsSplitFiles(String options) throws IOException, InterruptedException {
        byte[] image = compile((options + " -gsplit-dwarf").split(" "));
        DebugEntries entries = DebugEntries.read(ElfFile.of(image));
        assertThat(new NamedEntries(entries).function("first")).isEmpty();
        entries.join(
                new DebugEntries.SplitFiles() {
                    @Override
                    public Optional<ElfFile> openPackage() {
                        return Optional.empty();
                    }

                    @Override
                    public Optional<ElfFile> open(String in, String name, long id) {
                        try {
                            Path file = Path.of(in).resolve(name);
                            return Optional.of(ElfFile.of(Files.readAllBytes(file)));
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    }
                });
        assertThat(parameters(new NamedEntries(entries), "first"))
                .containsExactly("foo", "name", "color");
    }

    /** All that can be asked, within the bounds of patience. */
    private static void use(byte[] image) {
        try {
            DebugEntries entries = DebugEntries.read(ElfFile.of(image));
            lines(entries);
            NamedEntries names = new NamedEntries(entries);
            for (String name : List.of("first", "second", "main", "nobody")) {
                Optional<DebugEntry> function = names.function(name);
                if (function.isPresent()) {
                    walk(function.get(), 0);
                }
            }
            for (String name : List.of("foo", "later", "color", "word_t")) {
                Optional<DebugEntry> type =
                        names.type(
                                Set.of(
                                        DwarfTag.STRUCTURE_TYPE,
                                        DwarfTag.ENUMERATION_TYPE,
                                        DwarfTag.TYPEDEF),
                                name);
                if (type.isPresent()) {
                    walk(type.get(), 0);
                }
            }
        } catch (MalformedInputException e) {
            // What it is for.
            assertThat(e).hasMessageMatching("(?s).+");
        }
    }

    private static void lines(DebugEntries entries) {
        for (EntryUnit unit : entries.units()) {
            try {
                for (String file : LineRows.files(unit)) {
                    LineRows.of(unit).lowest(file, 6, 0);
                }
            } catch (MalformedInputException e) {
                assertThat(e).hasMessageMatching("(?s).+");
            }
        }
    }

    private static void walk(DebugEntry entry, int depth) throws MalformedInputException {
        entry.name();
        entry.reference(DwarfAttribute.SIGNATURE);
        DebugEntry type = entry.type();
        if (depth < 4 && type != null) {
            walk(type, depth + 1);
        }
        for (DebugEntry child : depth < 4 ? entry.children() : List.<DebugEntry>of()) {
            walk(child, depth + 1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gcc -gdwarf-5", "gcc -gdwarf-4 -fdebug-types-section"})
    void bearsDamage(String options) throws IOException, InterruptedException {
        byte[] image = compile(options.split(" "));
        ElfFile elf = ElfFile.of(image);
        List<ElfSection> sections =
                elf.sections().stream()
                        .filter(s -> s.name().startsWith(".debug_") && s.sizeBytes() > 0)
                        .toList();
        Random random = new Random(11);
        Assertions.assertTimeout(
                Duration.ofSeconds(60),
                () -> {
                    for (int round = 0; round < 3000; round++) {
                        byte[] damaged = image.clone();
                        for (int i = random.nextInt(4); i >= 0; i--) {
                            ElfSection one = sections.get(random.nextInt(sections.size()));
                            int size = (int) one.sizeBytes();
                            int at = (int) one.offset() + random.nextInt(size);
                            damaged[at] =
                                    random.nextBoolean()
                                            ? (byte) random.nextInt(256)
                                            : (byte) (damaged[at] ^ 1 << random.nextInt(8));
                        }
                        use(damaged);
                    }
                });
    }

    @Test
    void bearsTruncation() throws IOException, InterruptedException {
        byte[] image = compile("gcc", "-gdwarf-5");
        Random random = new Random(12);
        for (int round = 0; round < 200; round++) {
            use(java.util.Arrays.copyOf(image, random.nextInt(image.length)));
        }
        assertThat(DebugEntries.read(ElfFile.of(compile("gcc", "-g0"))).units()).isEmpty();
    }
}
