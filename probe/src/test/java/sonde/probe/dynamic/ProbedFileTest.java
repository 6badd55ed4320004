package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whether a path has the file that a probe was set in. */
final class ProbedFileTest {
    private static final Programs.Build GCC = Programs.Build.of("gcc -g -O2");

    @TempDir Path folder;

    private String set(Path program) throws Exception {
        try (Subject subject = Subject.program(program.toString(), List.of())) {
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
    void aFileThatIsGoneIsChanged() throws Exception {
        Path program = built(0);
        String word = set(program);
        Files.delete(program);
        assertThat(ProbedFile.changed(word)).isEqualTo(program.toString());
        assertThat(ProbedFile.changed("")).isEmpty();
    }
}
