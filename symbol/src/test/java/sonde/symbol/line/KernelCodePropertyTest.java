package sonde.symbol.line;

import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelRun.LoadedModule;
import sonde.symbol.KernelSymbols;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;

/** Damaged modules, and what recordings say of kernels, made up: never more than missing lines. */
class KernelCodePropertyTest {
    private static final int RUNS = 60;
    private static final long START = 0xffffffffc0000000L;

    @TempDir Path folder;

    @Test
    void nothingThatIsSaidOfAKernelBreaksTheReader() throws IOException {
        Assumptions.assumeTrue(Programs.has("gcc"), "gcc is not there");
        String source = "int f(int n) { return n + 1; } int g(int n) { return f(n) * 3; }\n";
        Files.writeString(folder.resolve("m.c"), source);
        Programs.run(folder, List.of("gcc", "-g", "-O1", "-c", "-o", "m.ko", "m.c"));
        byte[] whole = Files.readAllBytes(folder.resolve("m.ko"));
        Random random = new Random(8);
        for (int run = 0; run < RUNS; run++) {
            byte[] bytes = whole.clone();
            for (int flips = random.nextInt(20); flips > 0; flips--) {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            int length = random.nextInt(4) == 0 ? random.nextInt(bytes.length) : bytes.length;
            Files.write(folder.resolve("m.ko"), Arrays.copyOf(bytes, length));
            KernelRun said = said(random);
            assertThatCode(() -> ask(said, random)).doesNotThrowAnyException();
        }
    }

    private static KernelRun said(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(4); i > 0; i--) {
            String name = random.nextBoolean() ? "f" : "g";
            String module = random.nextBoolean() ? "\t[m]" : "";
            long address = random.nextInt(5) == 0 ? -1 : START + random.nextInt(1 << 16);
            text.append(Long.toHexString(address)).append(" t ").append(name).append(module);
            text.append('\n');
        }
        long start = random.nextBoolean() ? START : random.nextLong();
        LoadedModule module = new LoadedModule("[m]", start, start + random.nextInt(), new byte[0]);
        byte[] id = new byte[random.nextInt(2) * 20];
        return new KernelRun(
                random.nextBoolean() ? "" : "../..",
                id,
                KernelSymbols.parse(text.toString().getBytes(StandardCharsets.UTF_8)),
                random.nextBoolean() ? Map.of() : Map.of("f", random.nextLong()),
                random.nextBoolean() ? List.of() : List.of(module));
    }

    private void ask(KernelRun run, Random random) {
        SymbolOptions from = new SymbolOptions(List.of(folder.toString()), List.of(), true, 0);
        Optional<Path> vmlinux = Optional.of(folder.resolve("m.ko"));
        KernelCode kernel = new KernelCode(run, from, vmlinux);
        long[] addresses = {START, START + random.nextInt(1 << 16), -1, Long.MIN_VALUE};
        kernel.symbols(addresses);
        try (CodePlaces places =
                new CodePlaces(new ProcessMaps(), from, new CodeDetail(true, true), () -> kernel)) {
            places.of(addresses);
            places.notes();
        }
    }
}
