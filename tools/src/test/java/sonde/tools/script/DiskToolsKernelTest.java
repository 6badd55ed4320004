package sonde.tools.script;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.io.TempDirFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tools for disks see what this test writes past the page cache. */
@Tag("kernel")
class DiskToolsKernelTest {
    @TempDir(factory = NearTheSources.class)
    Path folder;

    /** The folder for temporary files may be in memory; the sources are on a disk. */
    static final class NearTheSources implements TempDirFactory {
        @Override
        public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context)
                throws IOException {
            return Files.createTempDirectory(Path.of("target"), "disk");
        }
    }

    private void write() throws Exception {
        ToolRun.shell(
                "dd if=/dev/zero bs=16k count=16 oflag=direct of="
                        + folder.toAbsolutePath()
                        + "/f");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "biolatency | @us: *\\n\\[.*\\@ | ",
                "biosnoop | dd +[a-z]+[0-9a-z]* +W +[0-9]+ +16384 +[0-9]+\\.[0-9]{3} | -Q",
                "biotop | dd +W [a-z]+[0-9a-z]* +16 +256 +[0-9]+\\.[0-9]{3} | ",
                "biostacks | @us\\[\\n(.*\\n)+\\]: *\\n\\[ | ",
                "bitesize | @bytes\\[dd\\]: *\\n(.*\\n)*\\[16K, 32K\\) +[1-9] | ",
                "biopattern | [a-z]+[0-9a-z]* +[0-9]+ +[0-9]+ +[1-9][0-9]* +[1-9] | ",
            })
    void seesRequests(String name, String pattern, @Nullable String option) throws Exception {
        String[] options = option == null ? new String[0] : new String[] {option};
        ToolRun.see(name, pattern, this::write, options);
    }

    @Test
    void biolatencyTellsDisksApart() throws Exception {
        ToolRun.see("biolatency", "@ms_of\\[[a-z]+[0-9a-z]*, W\\]", this::write, "-DFm");
        ToolRun.see("biolatency", "@all: \\{ .count = [1-9]", this::write, "-e");
    }
}
