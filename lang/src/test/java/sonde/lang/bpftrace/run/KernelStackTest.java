package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.lang.type.ValueType;
import sonde.probe.stack.UserStackFunction;
import sonde.symbol.KernelRun;
import sonde.symbol.KernelSymbols;
import sonde.symbol.files.GivenPlaces;

/** A program stands for the kernel's image, as if KASLR had moved it. */
class KernelStackTest {
    private static final long SHIFT = 0xffffffff9a000000L;

    /** Labels tell where lines 3 and 7 are in its code. */
    private static final String SOURCE =
            """
            static inline __attribute__((always_inline)) int mix(int n)
            {
                __asm__ volatile("in_mix: nop"); return n * 3;
            }
            __attribute__((noinline)) int work(int n)
            {
                __asm__ volatile("in_work: nop");
                return mix(n);
            }
            int main(int argc, char **argv)
            {
                return work(argc);
            }
            """;

    @TempDir Path folder;

    private String run(String... command) throws IOException, InterruptedException {
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(text).isZero();
        return text;
    }

    private Map<String, Long> built() throws IOException, InterruptedException {
        Assumptions.assumeTrue(
                Files.isExecutable(Path.of("/usr/bin/gcc"))
                        && Files.isExecutable(Path.of("/usr/bin/nm")),
                "no gcc");
        Files.writeString(folder.resolve("k.c"), SOURCE);
        run("gcc", "-g", "-O1", "-no-pie", "-fno-pie", "-o", "vmlinux", "k.c");
        Map<String, Long> at = new HashMap<>();
        for (String line : run("nm", "vmlinux").split("\n")) {
            String[] words = line.strip().split(" +");
            if (words.length == 3) {
                at.put(words[2], Long.parseUnsignedLong(words[0], 16) + SHIFT);
            }
        }
        return at;
    }

    private List<String> stack(Map<String, Long> at, boolean withLines, ValueType.StackMode mode) {
        StringBuilder kallsyms = new StringBuilder();
        for (String name : List.of("work", "main")) {
            kallsyms.append(HexFormat.of().toHexDigits(at.get(name)));
            kallsyms.append(" T ").append(name).append('\n');
        }
        KernelSymbols symbols =
                KernelSymbols.parse(kallsyms.toString().getBytes(StandardCharsets.UTF_8));
        KernelRun run = new KernelRun("6.1", new byte[0], symbols, Map.of(), List.of());
        GivenPlaces places =
                new GivenPlaces(List.of(folder.toString()), Optional.empty(), Optional.empty());
        try (UserCode code =
                new UserCode(
                        true, withLines, places, UserStackFunction.framePointers(""), () -> run)) {
            HostNames names = new HostNames(List.of(), "..", code);
            // A call returns to the instruction behind it.
            long[] addresses = {at.get("in_mix"), at.get("in_work") + 1};
            return names.kernelStack(addresses, mode);
        }
    }

    @Test
    void stacksHaveLinesAndInlinedCalls() throws IOException, InterruptedException {
        Map<String, Long> at = built();
        String file = folder.resolve("k.c").toString();
        long mix = at.get("in_mix") - at.get("work");
        long work = at.get("in_work") + 1 - at.get("work");
        assertThat(stack(at, true, ValueType.StackMode.BPFTRACE))
                .containsExactly(
                        "[inlined] mix@" + file + ":3",
                        "work+" + mix + "@" + file + ":8",
                        "work+" + work + "@" + file + ":7");
        String first = Long.toHexString(at.get("in_mix"));
        assertThat(stack(at, true, ValueType.StackMode.PERF))
                .startsWith(first + " mix (inlined)", first + " work+" + mix + " ([kernel])");
    }

    @Test
    void withoutThemTheyHaveFunctions() throws IOException, InterruptedException {
        Map<String, Long> at = built();
        long work = at.get("in_work") + 1 - at.get("work");
        assertThat(stack(at, false, ValueType.StackMode.BPFTRACE))
                .element(1)
                .isEqualTo("work+" + work);
    }
}
