package sonde.symbol.ctype;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.dwarf.location.DebugEntries;
import sonde.binary.elf.ElfFile;
import sonde.symbol.ctype.NamedTypes.NameSpace;
import sonde.symbol.ctype.SourceType.Member;
import sonde.symbol.ctype.SourceType.Structure;

/** Types of programs as C writes them, and where their members are. */
class SourceTypeTest {
    private static final String PROGRAM =
            """
            struct Later;
            typedef unsigned long word_t;
            struct Base { long b; };
            struct Part : virtual Base { int own; };
            struct All {
                const char *const *names;
                int (*handlers[4])(const All *, ...);
                short (&row)[3];
                long (Base::*call)(int);
                long Base::*place;
                volatile word_t words[2][3];
                Later *later;
                enum { RED, BLUE = -2 } color;
                int low : 3;
                unsigned high : 5;
                const int open[];
            };
            Part made;
            long all(All *a, Part *p) { return a->low + p->own + p->b; }
            """;

    private static final String OTHER =
            "struct Later { long a, b, c; }; Later later; Later *other() { return &later; }";

    @TempDir private Path folder;

    private DwarfSourceTypes compile(String options) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/g++")), "no g++");
        Files.writeString(folder.resolve("a.cc"), PROGRAM);
        Files.writeString(folder.resolve("b.cc"), OTHER);
        List<String> command = new ArrayList<>(List.of(options.split(" ")));
        command.addAll(List.of("-w", "-shared", "-fPIC", "-o", "made", "a.cc", "b.cc"));
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        byte[] image = Files.readAllBytes(folder.resolve("made"));
        return new DwarfSourceTypes(DebugEntries.read(ElfFile.of(image)));
    }

    private static Structure structure(NamedTypes types, String name) {
        return (Structure) types.find(NameSpace.STRUCT, name).orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "g++ -gdwarf-5",
                "g++ -gdwarf-4 -fdebug-types-section",
                "g++ -gdwarf-2 -gstrict-dwarf"
            })
    void spelledAndPlaced(String options) throws Exception {
        DwarfSourceTypes types = compile(options);
        List<String> declared = new ArrayList<>();
        for (Member member : structure(types, "All").members().get()) {
            String bits = member.bits() > 0 ? " : " + member.bits() : "";
            declared.add(
                    member.bitOffset()
                            + " "
                            + member.type().get().declaration(member.name())
                            + bits);
        }
        boolean isOld = options.contains("dwarf-2");
        assertThat(declared)
                .containsExactly(
                        "0 const char *const *names",
                        "64 int (*handlers[4])(const struct All *, ...)",
                        "320 short int (&row)[3]",
                        isOld ? declared.get(3) : "384 long int (Base::*call)(int)",
                        isOld ? declared.get(4) : "512 long int Base::*place",
                        "576 volatile word_t words[2][3]",
                        "960 struct Later *later",
                        "1024 enum {...} color",
                        "1056 int low : 3",
                        "1059 unsigned int high : 5",
                        "1088 const int open[]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"g++ -g", "g++ -gdwarf-4 -fdebug-types-section"})
    void declarationsStandForTheirDefinition(String options) throws Exception {
        DwarfSourceTypes types = compile(options);
        Member later = structure(types, "All").members().get().get(6);
        SourceType target = ((SourceType.Pointer) later.type().get()).target().get();
        assertThat(target.sizeBytes()).isEqualTo(24);
        assertThat(((Structure) target).members().get()).extracting(Member::name).hasSize(3);
    }

    /** Where the base is depends on the class of the object, of which Part may be a base itself. */
    @ParameterizedTest
    @ValueSource(strings = {"g++ -g", "clang++ -g"})
    void virtualBasesAreNowhere(String options) throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/" + options.split(" ")[0])));
        List<Member> members = structure(compile(options), "Part").members().get();
        Member base = members.stream().filter(one -> one.name().isEmpty()).findFirst().get();
        assertThat(base.bitOffset()).isEqualTo(Member.NOWHERE);
        Member inner = ((Structure) base.type().get().plain()).members().get().getFirst();
        assertThat(inner.name()).isEqualTo("b");
        assertThat(inner.within(base).bitOffset()).isEqualTo(Member.NOWHERE);
    }
}
