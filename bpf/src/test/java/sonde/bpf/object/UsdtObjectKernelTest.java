package sonde.bpf.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.binary.Input;
import sonde.binary.elf.ElfFile;
import sonde.bpf.usdt.UsdtNotes;
import sonde.bpf.usdt.UsdtNotes.MarkerName;
import sonde.testkit.Clang;

/** A program of {@code usdt.bpf.h} on a marker of this JVM. */
@Tag("kernel")
final class UsdtObjectKernelTest {
    private static final MarkerName MARKER = new MarkerName("hotspot", "gc__begin");

    private static final String SOURCE =
            """
            #include <linux/bpf.h>
            #include <linux/ptrace.h>
            #include <stdbool.h>
            #include <bpf/bpf_helpers.h>
            #include <bpf/bpf_tracing.h>
            #include <bpf/usdt.bpf.h>
            char LICENSE[] SEC("license") = "GPL";
            long runs, arguments, whole, beyond;
            SEC("usdt/%s:hotspot:%s")
            int BPF_USDT(collect, long full)
            {
                long none;
                runs++;
                arguments = bpf_usdt_arg_cnt(ctx);
                whole = full;
                beyond = bpf_usdt_arg(ctx, 7, &none);
                return 0;
            }
            """;

    private static ObjectFile object(Path folder, Path library, String marker) throws Exception {
        Clang.lacks().ifPresent(Assumptions::abort);
        Path source = folder.resolve(marker + ".bpf.c");
        Files.writeString(source, SOURCE.formatted(library, marker));
        return ObjectFile.read(Clang.object(source));
    }

    private static Path library() throws Exception {
        Path library = Path.of(System.getProperty("java.home"), "lib/server/libjvm.so");
        try (Input input = Input.open(library)) {
            Assumptions.assumeTrue(
                    UsdtNotes.read(ElfFile.of(input.segment())).containsKey(MARKER),
                    "this JVM has no markers");
        }
        return library;
    }

    @Test
    void argumentsOfAMarkerAreRead(@TempDir Path folder) throws Exception {
        ObjectFile file = object(folder, library(), "gc__begin");
        AttachTargets here = AttachTargets.NONE.ofProcess((int) ProcessHandle.current().pid());
        try (LoadedObject object = file.load()) {
            assertThat(object.attach(here)).hasSize(1);
            System.gc();
            GlobalMemory zeros = object.globals(".bss");
            assertThat(zeros.number("runs")).isPositive();
            assertThat(zeros.number("arguments")).isEqualTo(1);
            assertThat(zeros.number("whole")).isBetween(0L, 1L);
            assertThat(zeros.number("beyond")).isEqualTo(-2); // ENOENT
        }
    }

    @Test
    void aMarkerThatIsNotThereIsNamed(@TempDir Path folder) throws Exception {
        ObjectFile file = object(folder, library(), "no__such");
        try (LoadedObject object = file.load()) {
            assertThatThrownBy(object::attach)
                    .isInstanceOf(ObjectException.class)
                    .hasMessageContaining("symbol collect")
                    .hasMessageContaining("has no marker hotspot:no__such");
        }
    }
}
