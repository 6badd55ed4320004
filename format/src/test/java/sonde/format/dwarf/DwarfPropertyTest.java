package sonde.format.dwarf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.format.MalformedInputException;
import sonde.format.elf.ElfFile;
import sonde.format.elf.Section;

class DwarfPropertyTest {
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

    private static List<String> parameters(Dwarf dwarf, String function)
            throws MalformedInputException {
        Die die = dwarf.function(function).orElseThrow();
        List<String> names = new ArrayList<>();
        for (Die child : dwarf.children(die)) {
            if (child.tag() == Die.FORMAL_PARAMETER) {
                names.add(dwarf.name(child));
            }
        }
        return names;
    }

    private static void check(byte[] image) throws MalformedInputException {
        Dwarf dwarf = Dwarf.read(ElfFile.of(image));
        assertThat(dwarf.isEmpty()).isFalse();
        assertThat(parameters(dwarf, "first")).containsExactly("foo", "name", "color");
        assertThat(parameters(dwarf, "second")).containsExactly("x");
        Die foo = dwarf.type(Set.of(Die.STRUCTURE_TYPE), "foo").orElseThrow();
        assertThat(foo.sizeBytes()).isEqualTo(56);
        List<Die> members = dwarf.children(foo);
        assertThat(members).hasSize(5);
        assertThat(members.get(2).location()).isEqualTo(16);
        Die array = dwarf.typeOf(members.get(2)).orElseThrow();
        assertThat(dwarf.children(array)).extracting(Die::elements).containsExactly(2L, 3L);
        assertThat(members.get(4).bits()).isEqualTo(3);
        Die color = dwarf.type(Set.of(Die.ENUMERATION_TYPE), "color").orElseThrow();
        assertThat(dwarf.children(color)).extracting(Die::constant).containsExactly(0L, 200L, -3L);
        assertThat(dwarf.function("no_such")).isEmpty();
        assertThat(dwarf.type(Set.of(Die.STRUCTURE_TYPE), "no_such")).isEmpty();
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
        List<String[]> files = Dwarf.read(ElfFile.of(image)).splitFiles();
        assertThat(files).isNotEmpty();
        Path file = Path.of(files.getFirst()[0]).resolve(files.getFirst()[1]);
        Dwarf dwarf = Dwarf.readSplit(ElfFile.of(Files.readAllBytes(file)));
        assertThat(parameters(dwarf, "first")).containsExactly("foo", "name", "color");
    }

    /** All that can be asked, within the bounds of patience. */
    private static void use(byte[] image) {
        try {
            Dwarf dwarf = Dwarf.read(ElfFile.of(image));
            dwarf.splitFiles();
            for (LineTable table : dwarf.lineTables()) {
                for (String file : table.files()) {
                    table.address(file, 6, 0);
                }
            }
            for (String name : List.of("first", "second", "main", "nobody")) {
                Optional<Die> function = dwarf.function(name);
                if (function.isPresent()) {
                    walk(dwarf, function.get(), 0);
                }
            }
            for (String name : List.of("foo", "later", "color", "word_t")) {
                Optional<Die> type =
                        dwarf.type(
                                Set.of(Die.STRUCTURE_TYPE, Die.ENUMERATION_TYPE, Die.TYPEDEF),
                                name);
                if (type.isPresent()) {
                    walk(dwarf, type.get(), 0);
                }
            }
        } catch (MalformedInputException e) {
            // What it is for.
            assertThat(e).hasMessageMatching("(?s).+");
        }
    }

    private static void walk(Dwarf dwarf, Die die, int depth) throws MalformedInputException {
        dwarf.name(die);
        dwarf.signed(die);
        die.elements();
        Optional<Die> type = dwarf.typeOf(die);
        if (depth < 4 && type.isPresent()) {
            walk(dwarf, type.get(), depth + 1);
        }
        for (Die child : depth < 4 ? dwarf.children(die) : List.<Die>of()) {
            walk(dwarf, child, depth + 1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"gcc -gdwarf-5", "gcc -gdwarf-4 -fdebug-types-section"})
    void bearsDamage(String options) throws IOException, InterruptedException {
        byte[] image = compile(options.split(" "));
        ElfFile elf = ElfFile.of(image);
        List<Section> sections =
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
                            Section one = sections.get(random.nextInt(sections.size()));
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
        assertThat(Dwarf.read(ElfFile.of(compile("gcc", "-g0"))).isEmpty()).isTrue();
    }
}
