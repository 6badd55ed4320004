package sonde.binary.dwarf.location;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSection;
import sonde.testkit.Property;

/** A real program's debugging information with bytes changed: an answer or a plain refusal. */
final class DebugEntriesPropertyTest {
    private static final String SOURCE =
            """
            struct pair { int a; struct pair *next; unsigned f : 3; };
            static inline __attribute__((always_inline)) int twice(int v) { int r = v * 2; return r; }
            int sum(struct pair *p, int n)
            {
            	int s = 0;
            	for (int i = 0; i < n; i++) { s += twice(p->a); p = p->next; }
            	return s;
            }
            """;

    @TempDir static Path folder;

    private static byte[] program = new byte[0];

    @BeforeAll
    static void compile() throws IOException, InterruptedException {
        Path source = Files.writeString(folder.resolve("p.c"), SOURCE);
        Path object = folder.resolve("p.so");
        try {
            Process gcc =
                    new ProcessBuilder(
                                    "gcc",
                                    "-g",
                                    "-O2",
                                    "-shared",
                                    "-fPIC",
                                    "-o",
                                    object.toString(),
                                    source.toString())
                            .inheritIO()
                            .start();
            Assumptions.assumeTrue(gcc.waitFor(60, TimeUnit.SECONDS) && gcc.exitValue() == 0);
        } catch (IOException e) {
            Assumptions.abort("there is no gcc");
        }
        program = Files.readAllBytes(object);
    }

    private static int look(byte[] image) throws MalformedInputException {
        DebugEntries entries = DebugEntries.read(ElfFile.of(image));
        FunctionSearch functions = new FunctionSearch(entries);
        SourceScopes scopes = new SourceScopes(entries, FrameRules.NONE);
        int seen = 0;
        for (String name : new String[] {"sum", "twice"}) {
            for (SourceFunction function : functions.named(name)) {
                function.file(LineRows.of(function.unit()));
                for (FunctionCopy copy : function.copies()) {
                    SourceScope scope = scopes.at(copy.entryAddress()).orElse(null);
                    seen += scope == null ? 0 : scope.variables().size();
                }
            }
        }
        return seen;
    }

    @Test
    void theWholeOneIsRead() throws MalformedInputException {
        assertThat(look(program)).isGreaterThanOrEqualTo(4);
    }

    @Test
    void damageIsRefusedOrPassedOver() throws MalformedInputException {
        ElfFile elf = ElfFile.of(program);
        Property.forAll(
                3,
                1500,
                random -> {
                    byte[] image = program.clone();
                    ElfSection section =
                            elf.sections().stream()
                                    .filter(one -> one.name().startsWith(".debug_"))
                                    .skip(random.nextInt(6))
                                    .findFirst()
                                    .orElseThrow();
                    for (int i = 0; i < 1 + random.nextInt(6); i++) {
                        int at = (int) (section.offset() + random.nextLong(section.sizeBytes()));
                        image[at] = (byte) random.nextInt();
                    }
                    try {
                        assertThat(look(image)).isNotNegative();
                    } catch (MalformedInputException e) {
                        assertThat(e.getMessage()).isNotBlank();
                    }
                });
    }
}
