package sonde.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.elf.ElfFile;
import sonde.sys.TargetFile;

/** Every function that nm lists is found at its start, middle and end under one of its names. */
class FunctionTableConformanceTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "/usr/lib/x86_64-linux-gnu/libc.so.6",
                "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                "/usr/lib/x86_64-linux-gnu/libm.so.6"
            })
    void agreesWithNm(String name) throws Exception {
        Path file = Path.of(name);
        Assumptions.assumeTrue(Files.exists(file), name + " is not installed");
        Assumptions.assumeTrue(Files.exists(Path.of("/usr/bin/nm")), "binutils not installed");
        Process nm =
                new ProcessBuilder("nm", "-D", "-S", "--defined-only", name)
                        .redirectError(ProcessBuilder.Redirect.DISCARD)
                        .start();
        String text = new String(nm.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Map<Long, Set<String>> names = new HashMap<>();
        Map<Long, Long> sizes = new HashMap<>();
        for (String line : text.split("\n")) {
            String[] words = line.split(" ");
            if (words.length == 4 && "tTwWi".contains(words[2])) {
                long start = Long.parseLong(words[0], 16);
                names.computeIfAbsent(start, s -> new HashSet<>()).add(words[3].split("@")[0]);
                sizes.merge(start, Long.parseLong(words[1], 16), Math::min);
            }
        }
        assertThat(names.size()).isGreaterThan(100);
        try (TargetFile bytes = TargetFile.openTrusted(name, 1L << 30)) {
            ElfFile elf = ElfFile.of(bytes);
            FunctionTable table =
                    FunctionTable.of(elf, elf.symbols(ElfFile.SHT_DYNSYM).orElseThrow());
            names.forEach((start, all) -> {
                assertThat(table.name(table.find(start))).isIn(all);
                long last = start + sizes.get(start) - 1;
                int end = table.find(last);
                boolean other = table.address(end) != start;
                assertThat(other || all.contains(table.name(end))).isTrue();
            });
        }
    }
}
