package sonde.lang.declare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.lang.bpftrace.syntax.TypeSyntax.Kind;
import sonde.lang.declare.EntryArgument.ArgumentPlace;
import sonde.lang.type.StructType;
import sonde.lang.type.TypeField;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.EnumType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.VoidType;

class DwarfTypesTest {
    private static final String PROGRAM =
            """
            #include <stddef.h>
            struct foo { int a; char b[10]; int c[2][3]; __int128 d; struct foo *next; };
            struct bar { int x; struct foo *foos[2]; struct foo nested; struct hidden *h; };
            enum color { RED, GREEN = 7 };
            int first(int *n, char c) { return *n + c; }
            struct foo *second(struct foo *one, struct bar *two) { return one; }
            void third(const char *text, char *const last, size_t size, enum color color,
                       int (*call)(void), double d) {}
            int main(int argc, char **argv) { second(0, 0); third(0, 0, 0, RED, 0, 0); return 0; }
            """;

    @TempDir private Path folder;

    private void run(String... command) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/" + command[0])), "no " + command[0]);
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }

    private Path compile(String options, String text) throws IOException, InterruptedException {
        Files.writeString(folder.resolve("p.c"), text);
        List<String> command = new ArrayList<>(List.of(options.split(" ")));
        command.addAll(List.of("-w", "-Wl,--build-id", "-o", "p", "p.c"));
        run(command.toArray(String[]::new));
        return folder.resolve("p");
    }

    private static void check(DwarfTypes types) {
        FunctionSignature first = Objects.requireNonNull(types.function("first"));
        assertThat(ScriptTypeText.arguments(first)).containsExactly("    int* n", "    char c");
        assertThat(first.parameters().getFirst().type())
                .isEqualTo(new PointerType(IntType.I32, PointerSpace.USER));
        assertThat(first.result()).isEqualTo(IntType.I32);
        FunctionSignature second = Objects.requireNonNull(types.function("second"));
        assertThat(ScriptTypeText.arguments(second))
                .containsExactly("    struct foo* one", "    struct bar* two");
        StructType foo = (StructType) Objects.requireNonNull(types.type(Kind.STRUCT, "foo"));
        assertThat(foo.sizeBytes()).isEqualTo(80);
        assertThat(second.result()).isEqualTo(new PointerType(foo, PointerSpace.USER));
        assertThat(foo.fields())
                .extracting(TypeField::name)
                .containsExactly("a", "b", "c", "d", "next");
        assertThat(Objects.requireNonNull(foo.field("b")).type())
                .isEqualTo(new ArrayType(LinuxBasicTypes.CHAR, 10));
        assertThat(Objects.requireNonNull(foo.field("c")).type())
                .isEqualTo(new ArrayType(new ArrayType(IntType.I32, 3), 2));
        StructType bar = (StructType) Objects.requireNonNull(types.type(Kind.STRUCT, "bar"));
        assertThat(Objects.requireNonNull(bar.field("nested")).type()).isEqualTo(foo);
        assertThat(Objects.requireNonNull(bar.field("h")).type().toString())
                .isEqualTo("struct hidden *");
        FunctionSignature third = Objects.requireNonNull(types.function("third"));
        assertThat(ScriptTypeText.arguments(third).subList(0, 4))
                .containsExactly(
                        "    const char* text",
                        "    char* const last",
                        "    size_t size",
                        "    enum color color");
        assertThat(third.result()).isEqualTo(new VoidType());
        EnumType color = (EnumType) Objects.requireNonNull(types.type(Kind.ENUM, "color"));
        assertThat(color.names()).containsEntry(7L, "GREEN");
        assertThat(types.type(Kind.PLAIN, "size_t")).isEqualTo(IntType.U64);
        assertThat(types.type(Kind.STRUCT, "nobody")).isNull();
        assertThat(types.function("nobody")).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gcc -gdwarf-5",
                "gcc -gdwarf-4",
                "clang -gdwarf-5",
                "clang -gdwarf-4",
                "gcc -gdwarf-5 -gsplit-dwarf",
                "clang -gdwarf-5 -gsplit-dwarf",
                "gcc -gdwarf-4 -gsplit-dwarf",
                "gcc -g -fdebug-types-section"
            })
    void readsFunctionsAndTypes(String options) throws IOException, InterruptedException {
        try (DwarfTypes types = DwarfTypes.open(compile(options, PROGRAM), List.of())) {
            check(types);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "gcc -gdwarf-5",
                "gcc -gdwarf-4",
                "clang -gdwarf-5",
                "clang -gdwarf-4",
                "clang -gdwarf-3",
                "gcc -g -gsplit-dwarf"
            })
    void findsLines(String options) throws IOException, InterruptedException {
        Path program = compile(options, PROGRAM);
        run("nm", "p");
        try (DwarfTypes types = DwarfTypes.open(program, List.of())) {
            DwarfTypes.LineAddress found = types.address("p.c", 5, 0);
            assertThat(found.problem()).isEmpty();
            assertThat(found.address()).isEqualTo(symbol("first"));
            assertThat(types.address(folder.getFileName() + "/p.c", 6, 0).address())
                    .isEqualTo(symbol("second"));
            assertThat(types.address("p.c", 5, 50).problem())
                    .isEqualTo("Unable to map 'p.c:5:50' to address");
            assertThat(types.address("p.c", 2, 0).problem())
                    .isEqualTo("Unable to map 'p.c:2' to address");
            assertThat(types.address("q.c", 5, 0).problem())
                    .isEqualTo("No compilation unit matches q.c");
        }
    }

    private long symbol(String name) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("nm", "p").directory(folder.toFile()).start();
        String all = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        return all.lines()
                .filter(line -> line.endsWith(" " + name))
                .mapToLong(line -> Long.parseLong(line.substring(0, 16), 16))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void parametersOfGoAreElsewhere() throws IOException, InterruptedException {
        Files.writeString(folder.resolve("g.c"), "int sum(int a, int b) { return a + b; }");
        run("gcc", "-gdwarf-4", "-dA", "-S", "g.c");
        String text = Files.readString(folder.resolve("g.s"));
        String go = text.replaceAll("\\.byte\t0x[0-9a-f]+(?=\t# DW_AT_language)", ".byte\t0x16");
        assertThat(go).isNotEqualTo(text);
        Files.writeString(folder.resolve("g.s"), go);
        run("gcc", "-c", "-o", "g.o", "g.s");
        try (DwarfTypes types = DwarfTypes.open(folder.resolve("g.o"), List.of())) {
            assertThat(Objects.requireNonNull(types.arguments("sum", 0, false)))
                    .extracting(EntryArgument::name, EntryArgument::place)
                    .containsExactly(
                            Assertions.tuple("a", ArgumentPlace.NOWHERE),
                            Assertions.tuple("b", ArgumentPlace.NOWHERE));
            assertThat(types.arguments("nobody", -1, false)).isNull();
        }
    }

    @Test
    void findsSeparateFiles() throws IOException, InterruptedException {
        Path program = compile("gcc -g", PROGRAM);
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        run("objcopy", "--only-keep-debug", "p", "elsewhere/p.debug");
        run("objcopy", "--strip-debug", "p");
        try (DwarfTypes types = DwarfTypes.open(program, List.of())) {
            assertThat(types.isThere()).isFalse();
            assertThat(types.function("first")).isNull();
        }
        try (DwarfTypes types = DwarfTypes.open(program, List.of(folder, elsewhere))) {
            check(types);
        }
        Files.createDirectory(folder.resolve(".debug"));
        Files.move(elsewhere.resolve("p.debug"), folder.resolve(".debug/q.debug"));
        run("objcopy", "--add-gnu-debuglink=.debug/q.debug", "p");
        try (DwarfTypes types = DwarfTypes.open(program, List.of())) {
            check(types);
        }
        // That of another build is none.
        compile("gcc -g -O1", PROGRAM + "int more(void) { return 1; }");
        run("objcopy", "--strip-debug", "p");
        run("objcopy", "--add-gnu-debuglink=.debug/q.debug", "p");
        try (DwarfTypes types = DwarfTypes.open(program, List.of())) {
            assertThat(types.isThere()).isFalse();
        }
    }

    @Test
    void refusesWhatIsNoProgram() throws IOException {
        Path text = Files.writeString(folder.resolve("text"), "no program");
        assertThatThrownBy(() -> DwarfTypes.open(text, List.of())).isInstanceOf(IOException.class);
        assertThat(DwarfTypes.shared(text.toString(), List.of())).isNull();
        assertThat(DwarfTypes.shared("/no/such/file", List.of())).isNull();
    }

    private static String places(StructType struct, int depth) {
        StringBuilder out = new StringBuilder(struct + " " + struct.sizeBytes() + "\n");
        for (TypeField field : struct.fields()) {
            String type = field.type().toString().replaceAll("^(struct|union) .*", "record");
            out.append(" ".repeat(depth)).append(field.name()).append(' ');
            out.append(field.bitOffset()).append(' ').append(field.bits()).append(' ');
            out.append(type).append('\n');
            if (field.type() instanceof StructType inner && inner.name().isEmpty()) {
                out.append(places(inner, depth + 1));
            }
        }
        return out.toString();
    }

    @ParameterizedTest
    @ValueSource(strings = {"gcc -gdwarf-5", "gcc -gdwarf-3", "clang -gdwarf-5", "clang -gdwarf-4"})
    void agreesWithOurOwnC(String options) throws IOException, InterruptedException {
        // clang does not tell bitfields that are all of their type from other members.
        RandomStructs random = new RandomStructs(new Random(77), false);
        StringBuilder text = new StringBuilder(RandomStructs.prologue());
        List<RandomStructs.One> all = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            RandomStructs.One one = random.make(i);
            all.add(one);
            text.append(one.text());
        }
        StringBuilder program = new StringBuilder(text);
        all.forEach(one ->
                program.append(one.keyword())
                        .append(' ')
                        .append(one.name())
                        .append(" v_%s;\n".formatted(one.name())));
        program.append("int main(void) { return 0; }\n");
        CDeclarations own = Scripts.plain(text.toString(), TypeSource.NONE).declarations();
        Path compiled = compile(options, program.toString());
        try (DwarfTypes types = DwarfTypes.open(compiled, List.of())) {
            for (RandomStructs.One one : all) {
                Kind kind = one.keyword().equals("union") ? Kind.UNION : Kind.STRUCT;
                StructType theirs =
                        (StructType)
                                Objects.requireNonNull(types.type(kind, one.name()), one.text());
                StructType ours = (StructType) Objects.requireNonNull(own.type(kind, one.name()));
                assertThat(places(ours, 0)).as(one.text()).isEqualTo(places(theirs, 0));
            }
        }
    }
}
