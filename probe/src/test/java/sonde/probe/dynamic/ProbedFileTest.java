package sonde.probe.dynamic;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.probe.dynamic.SourceView.ViewedLine;
import sonde.symbol.files.Debuginfod;
import sonde.symbol.files.GivenPlaces;
import sonde.sys.Arch;
import sonde.testkit.HttpStub;

/** Whether a path has the file that a probe was set in. */
final class ProbedFileTest {
    private static final Programs.Build GCC = Programs.Build.of("gcc -g -O2");

    @TempDir Path folder;

    private String set(Path program) throws Exception {
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
            return ProbedFile.of(subject);
        }
    }

    private Path built(int result) throws Exception {
        Assumptions.assumeTrue(GCC.isThere(), "gcc is not there");
        return Programs.build(folder, "p.c", "int main(void) { return " + result + "; }", GCC);
    }

    @Test
    void aFileThatWasReplacedIsAnother() throws Exception {
        Path program = built(0);
        String word = set(program);
        assertThat(ProbedFile.changed(word)).isEmpty();
        Path copy = Files.copy(program, folder.resolve("copy"));
        Files.move(copy, program, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        assertThat(ProbedFile.changed(word)).isEqualTo(program.toString());
    }

    @Test
    void aFileThatWasOverwrittenIsAnother() throws Exception {
        Path program = built(0);
        String word = set(program);
        byte[] before = Files.readAllBytes(program);
        Path kept = Files.move(program, folder.resolve("kept"));
        byte[] after = Files.readAllBytes(built(1));
        Files.move(kept, program, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
        Files.write(program, after);
        assertThat(ProbedFile.changed(word)).isEqualTo(program.toString());
        Files.write(program, before);
        assertThat(ProbedFile.changed(word)).isEmpty();
    }

    @Test
    void serversHaveDebuggingInformationAndSource() throws Exception {
        Assumptions.assumeTrue(GCC.isThere(), "gcc is not there");
        String source =
                "int twice(int value)\n{ return 2 * value; }\nint main(void) { return 0; }\n";
        Programs.Build build = Programs.Build.of("gcc -g -O1 -Wl,--build-id");
        Path program = Programs.build(folder, "p.c", source, build);
        byte[] whole = Files.readAllBytes(program);
        Programs.run(List.of("strip", program.toString()));
        Files.delete(folder.resolve("p.c"));
        HttpStub.Answer answer =
                (path, out) -> {
                    boolean text = path.endsWith("/source" + folder + "/p.c");
                    HttpStub.body(out, text ? source.getBytes(UTF_8) : whole);
                };
        try (HttpStub server = new HttpStub(answer)) {
            Debuginfod client =
                    new Debuginfod(
                            List.of(server.address()),
                            folder.resolve("cache"),
                            Debuginfod.Bounds.DEFAULT,
                            _ -> {});
            GivenPlaces given = new GivenPlaces(List.of(), Optional.empty(), Optional.of(client));
            try (ProbedObject subject = ProbedObject.program(program.toString(), given)) {
                assertThat(FunctionNames.matching(subject, "t*")).containsExactly("twice");
                assertThat(new ProbeDefiner(subject).define(PointSpec.parse("twice value")))
                        .singleElement()
                        .satisfies(one -> assertThat(one.text()).endsWith("value=%di:s32"));
                assertThat(SourceView.of(subject, "twice", List.of()).getFirst().rows())
                        .extracting(ViewedLine::text)
                        .contains("{ return 2 * value; }");
            }
            assertThat(server.paths()).hasSize(2);
        }
    }

    private static String refused(Path program, String point) throws Exception {
        try (ProbedObject subject = ProbedObject.program(program.toString(), GivenPlaces.NONE)) {
            ProbeDefiner definer = new ProbeDefiner(subject);
            PointSpec spec = PointSpec.parse(point);
            return assertThatExceptionOfType(ProbeException.class)
                    .isThrownBy(() -> definer.define(spec))
                    .actual()
                    .getMessage();
        }
    }

    @Test
    void aDebugFileOfAnotherBuildIsSaid() throws Exception {
        Path program = built(0);
        Path other = folder.resolve(program.getFileName() + ".debug");
        Programs.run(
                List.of("objcopy", "--only-keep-debug", built(1).toString(), other.toString()));
        built(0);
        Programs.run(List.of("strip", "-g", program.toString()));
        String said = "\n  " + other + " is of another build: wanted build-id ";
        assertThat(refused(program, "main:1")).contains("no debugging information").contains(said);
        assertThat(refused(program, "mian")).contains("did you mean main?").contains(said);
    }

    @Test
    void aFileThatWasCutIsSaid() throws Exception {
        Path program = built(0);
        byte[] whole = Files.readAllBytes(program);
        Files.write(program, Arrays.copyOf(whole, whole.length / 2));
        assertThat(refused(program, "main:1"))
                .isEqualTo(
                        program
                                + ": is cut off: its headers name "
                                + whole.length
                                + " bytes, of which "
                                + whole.length / 2
                                + " are here; lines and variables are not known");
    }

    @Test
    void aProgramOfAnotherMachineIsSaid() throws Exception {
        Programs.Build other = Programs.Build.of("aarch64-linux-gnu-gcc -g -shared -nostdlib");
        Assumptions.assumeTrue(other.isThere() && Arch.current() == Arch.X86_64, "no compiler");
        Path library = Programs.build(folder, "p.c", "int sum(int a) { return a; }", other);
        String why = library + " is of aarch64, and this machine is x86_64";
        try (ProbedObject subject = ProbedObject.program(library.toString(), GivenPlaces.NONE)) {
            assertThat(new ProbeDefiner(subject).define(PointSpec.parse("sum a"))).hasSize(1);
            assertThat(subject.foreign()).contains(why + ": 'probe add' will refuse it");
            assertThatThrownBy(() -> ProbeCheck.check(subject)).hasMessage(why);
        }
        try (ProbedObject subject = ProbedObject.program(built(0).toString(), GivenPlaces.NONE)) {
            assertThat(subject.foreign()).isEmpty();
        }
    }

    @Test
    void aFileThatIsGoneIsChanged() throws Exception {
        Path program = built(0);
        String word = set(program);
        Files.delete(program);
        assertThat(ProbedFile.changed(word)).isEqualTo(program.toString());
        assertThat(ProbedFile.changed("")).isEmpty();
    }
}
