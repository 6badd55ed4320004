package sonde.bpf.object;

import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import sonde.testkit.Clang;

/** Objects of the sources beside the tests. */
final class Objects {
    private Objects() {}

    /** The object of a source; the test is skipped where it cannot be compiled. */
    static Path of(String name) throws Exception {
        Path source =
                Path.of(
                        System.getProperty("sonde.root"),
                        "bpf/src/test/resources/sonde/bpf/object",
                        name + ".bpf.c");
        Clang.lacks().ifPresent(Assumptions::abort);
        return Clang.object(source);
    }

    static ObjectFile read(String name) throws Exception {
        return ObjectFile.read(of(name));
    }
}
