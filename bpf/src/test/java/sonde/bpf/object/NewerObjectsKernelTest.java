package sonde.bpf.object;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.binary.btf.BtfType;
import sonde.bpf.Leaks;
import sonde.bpf.MapType;
import sonde.bpf.TestRun;
import sonde.bpf.feature.BpfFeatureProbe;
import sonde.bpf.map.MappedValues;
import sonde.sys.MachineFacts;

/**
 * What newer compilers and kernels have: arenas, wide enumerations, questions whether types match.
 */
@Tag("kernel")
final class NewerObjectsKernelTest {
    private static final int TYPE_EXISTS = 8;
    private static final int TYPE_MATCHES = 12;

    @Test
    void anArenaIsSharedWithItsProgram() throws Exception {
        Leaks before = Leaks.now();
        ObjectFile file = Objects.read("arena");
        if (!BpfFeatureProbe.mapType(MapType.ARENA).isYes()) {
            assertThatThrownBy(file::load)
                    .isInstanceOf(ObjectException.class)
                    .hasMessageContaining("arena.bpf.o, section .ksyms")
                    .hasMessageContaining("symbol bpf_arena_alloc_pages");
            return;
        }
        try (LoadedObject object = file.load()) {
            MappedValues arena = object.arena("arena");
            assertThat(arena.segment().byteSize()).isEqualTo(16L * MachineFacts.pageBytes());
            assertThat(object.program("fill").run(TestRun.once()).value()).isZero();
            // The program has the low half of addresses as they are here.
            long place = object.globals(".bss").number("place") - arena.segment().address();
            long offset = Integer.toUnsignedLong((int) place);
            assertThat(arena.segment().get(JAVA_LONG, offset + 24)).isEqualTo(42);
            assertThat(object.globals(".bss").number("seen")).isEqualTo(7);
            assertThat(object.globals(".addr_space.1").number("begun")).isEqualTo(8);
            assertThat(object.data()).doesNotContainKey(".addr_space.1");
            assertThatThrownBy(() -> object.arena("other"))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        before.assertNothingLeftSince();
    }

    @Test
    void settingsOfEveryType() throws Exception {
        try (LoadedObject object = Objects.read("settings").load();
                KernelBtfs kernel = new KernelBtfs(null)) {
            object.attach();
            Files.readAllBytes(Path.of("/proc/self/comm"));
            GlobalMemory found = object.globals(".bss");
            boolean known = kernel.setting("CONFIG_BPF_SYSCALL") != null;
            assertThat(found.number("flag")).isEqualTo(known ? 1 : 0);
            assertThat(found.number("three")).isEqualTo(known ? 1 : 0);
            assertThat(found.number("letter")).isEqualTo(known ? 'y' : 0);
            assertThat(found.number("byte")).isEqualTo(number(kernel, "CONFIG_LOG_BUF_SHIFT"));
            assertThat(found.number("half")).isEqualTo(number(kernel, "CONFIG_HZ"));
            assertThat(found.number("word")).isEqualTo(number(kernel, "CONFIG_NR_CPUS"));
            assertThat(found.number("giant"))
                    .isEqualTo(number(kernel, "CONFIG_ILLEGAL_POINTER_VALUE"));
            String compiler = kernel.setting("CONFIG_CC_VERSION_TEXT");
            assertThat(found.number("first")).isEqualTo(compiler == null ? 0 : compiler.charAt(1));
            assertThat(found.number("last")).isZero(); // the end of a text that was cut
            assertThat(found.number("cookie")).isEqualTo(1);
        }
    }

    private static long number(KernelBtfs kernel, String name) throws Exception {
        String text = kernel.setting(name);
        return text == null
                ? 0
                : text.startsWith("0x")
                        ? Long.parseUnsignedLong(text.substring(2), 16)
                        : Long.parseLong(text);
    }

    @Test
    void typesThatTheCompilerDoesNotWriteYet() throws Exception {
        byte[] object = Files.readAllBytes(Objects.of("alike"));
        byte[] wide = PatchedObject.withWideEnum(object, 1L << 40);
        ObjectFile file =
                ObjectFile.of(
                        "alike.bpf.o",
                        PatchedObject.withQuestions(wide, TYPE_EXISTS, TYPE_MATCHES));
        assertThat(file.types())
                .filteredOn(BtfType.Enum.class::isInstance)
                .anySatisfy(type -> {
                    BtfType.Enum e = (BtfType.Enum) type;
                    assertThat(e.sizeBytes()).isEqualTo(8);
                    assertThat(e.values().getFirst().value()).isEqualTo(1L << 40);
                });
        try (LoadedObject loaded = file.load()) {
            loaded.attach();
            Files.readAllBytes(Path.of("/proc/self/comm"));
            GlobalMemory found = loaded.globals(".bss");
            assertThat(found.number("alike")).isEqualTo(1);
            assertThat(found.number("other")).isZero();
            assertThat(loaded.program("look").facts().btfId()).isPositive();
        }
    }
}
