package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.Listing.ListingForm;
import sonde.symbol.line.SourceOptions;
import sonde.tools.explain.ExplainRecipe;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.explain.ExplainRecipe.LogSource;
import sonde.tools.symbolize.SymbolizeRecipe;

/** Reports decoded with an image that has a kernel's banner. */
class ExplainSymbolsTest {
    private static final String LOG =
            """
            BUG: kernel NULL pointer dereference, address: 0000000000000008
            #PF: supervisor read access in kernel mode
            Oops: 0000 [#1] PREEMPT SMP
            CPU: 1 PID: 301 Comm: fisher Not tainted 6.6.9-pond #1
            RIP: 0010:pond_depth+0x0/0xSIZE
            Call Trace:
             pond_depth+0x1/0xSIZE
            ---[ end trace 0000000000000000 ]---
            """;

    private static Path image(Path folder) throws IOException, InterruptedException {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/gcc")), "needs gcc");
        Path source = folder.resolve("pond.c");
        Files.writeString(
                source,
                """
                const char linux_banner[] = "Linux version 6.6.9-pond (angler@pond) #1 SMP";
                struct pond { long width; int depth; };
                int pond_depth(struct pond *p)
                {
                    return p->depth;
                }
                int main(void) { return linux_banner[0] == pond_depth(0); }
                """);
        Path image = folder.resolve("vmlinux");
        Process gcc =
                new ProcessBuilder(
                                "gcc", "-g", "-no-pie", "-o", image.toString(), source.toString())
                        .inheritIO()
                        .start();
        assertThat(gcc.waitFor()).isZero();
        return image;
    }

    private static String explained(Path image, String log) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (SymbolizeRecipe recipe = SymbolizeRecipe.open(image, SourceOptions.USUAL);
                SymbolizeRecipe.LogCopy symbols = recipe.log(null, SourceOptions.USUAL)) {
            ExplainRecipe explain =
                    new ExplainRecipe(
                            new ExplainOptions(false, false, false, false, false), symbols);
            explain.of(
                            List.of(
                                    new LogSource(
                                            "log",
                                            null,
                                            new ByteArrayInputStream(
                                                    log.getBytes(StandardCharsets.UTF_8)))))
                    .rows()
                    .writeTo(out, ListingForm.TEXT);
            return explain.otherRelease() + "\n" + out.toString(StandardCharsets.UTF_8);
        }
    }

    @Test
    void framesOfTheSameKernelAloneAreDecoded(@TempDir Path folder) throws Exception {
        Path image = image(folder);
        Process nm = new ProcessBuilder("nm", "-S", image.toString()).start();
        String symbols = new String(nm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        String size =
                symbols.lines()
                        .filter(line -> line.endsWith(" pond_depth"))
                        .map(line -> line.split(" ")[1].replaceFirst("^0+", ""))
                        .findFirst()
                        .orElseThrow();
        String log = LOG.replace("SIZE", size);
        assertThat(explained(image, log))
                .startsWith("\n#1  BUG: unable to handle kernel NULL pointer dereference in pond_")
                .contains("where    pond_depth+0x0/0x" + size + " at ", "pond.c:4");
        assertThat(explained(image, log.replace("6.6.9-pond", "6.6.8-pond")))
                .startsWith("6.6.8-pond\n#1  BUG: unable to handle kernel NULL pointer")
                .doesNotContain("pond.c:");
    }
}
