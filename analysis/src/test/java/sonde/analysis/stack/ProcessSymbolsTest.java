package sonde.analysis.stack;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.Script;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;
import sonde.recording.ftrace.MappedBuildId;
import sonde.symbol.CodeModule;
import sonde.symbol.ProcessMaps;

/** Mappings as they change while samples come. */
final class ProcessSymbolsTest {
    private static final int DATA = 1 << 13; // PERF_RECORD_MISC_MMAP_DATA
    private final ProcessMaps maps = new ProcessMaps();

    /** Where each sample of the script lies: "path+offset". */
    private List<String> places(Script script) throws IOException {
        ProcessSymbols symbols = new ProcessSymbols(maps, location -> null);
        ThreadTable threads = new ThreadTable(CountedThreads.everything());
        StackTable stacks = new StackTable(symbols);
        StackAggregate samples = StackAggregate.cpuSamples(threads, stacks, TimeWindow.ALL);
        Engine.run(script.recording(), List.of(threads, symbols, samples));
        List<String> places = new ArrayList<>();
        for (int i = 0; i < samples.kept(); i++) {
            long location = stacks.location(samples.node(i));
            CodeModule module = maps.module(location);
            assertThat(module).isNotNull();
            places.add(
                    module.mapping().path()
                            + "+0x"
                            + Long.toHexString(ProcessMaps.offset(location)));
        }
        return places;
    }

    private static Script sample(Script script, long time, int pid, long address) {
        return script.sample("cpu-clock", time, 0, pid, pid, 1, Script.USER, address);
    }

    /** The kernel leaves the bit set for events that asked for no build ids. */
    @Test
    void deviceAndInodeAreNoBuildId() {
        int bit = 1 << 14; // PERF_RECORD_MISC_MMAP_BUILD_ID
        byte[] virtual =
                HexFormat.of().parseHex("fe000000000000007c6023000000000037ed036c00000000");
        byte[] disk = HexFormat.of().parseHex("08000000010000007c6023000000000037ed036c00000000");
        byte[] full = HexFormat.of().parseHex("14000000" + "0123456789".repeat(4));
        byte[] fast =
                HexFormat.of().parseHex("08000000" + "01234567" + "89abcdef" + "00".repeat(12));
        assertThat(MappedBuildId.isIn(bit, virtual, 0)).isFalse();
        assertThat(MappedBuildId.isIn(bit, disk, 0)).isFalse();
        assertThat(MappedBuildId.isIn(bit, full, 0)).isTrue();
        assertThat(MappedBuildId.isIn(bit, fast, 0)).isTrue();
        assertThat(MappedBuildId.isIn(0, full, 0)).isFalse();
    }

    @Test
    void anAddressIsWhatWasMappedThen() throws IOException {
        Script script = new Script();
        script.mapped(100, 7, 0x400000, 0x10000, 0x1000, "/bin/one", 0);
        sample(script, 200, 7, 0x400123);
        script.mapped(300, 7, 0x400000, 0x1000, 0, "/bin/two", 0);
        sample(script, 400, 7, 0x400123);
        sample(script, 500, 7, 0x401123);
        assertThat(places(script))
                .containsExactly("/bin/one+0x1123", "/bin/two+0x123", "/bin/one+0x2123");
    }

    @Test
    void aForkedProcessHasItsParentsMappingsAndItsOwnLater() throws IOException {
        Script script = new Script();
        script.mapped(100, 7, 0x400000, 0x1000, 0, "/bin/one", 0);
        script.perfFork(200, 0, 7, 8, 8);
        script.mapped(300, 8, 0x400000, 0x1000, 0, "/bin/child", 0);
        sample(script, 400, 7, 0x400010);
        sample(script, 500, 8, 0x400010);
        assertThat(places(script)).containsExactly("/bin/one+0x10", "/bin/child+0x10");
    }

    @Test
    void mappingsOfDataHoldNoCode() throws IOException {
        Script script = new Script();
        script.mapped(100, 7, 0x400000, 0x1000, 0, "/bin/one", 0);
        script.mapped(150, 7, 0x500000, 0x1000, 0, "/data", DATA);
        sample(script, 200, 7, 0x500010);
        assertThat(places(script)).containsExactly("+0x500010");
        assertThat(maps.isCode(7, 0x400010)).isTrue();
        assertThat(maps.isCode(7, 0x500010)).isFalse();
        assertThat(maps.isCode(7, 0x6f2f636f642f6571L)).isFalse();
        assertThat(maps.isCode(7, 0xffffffffff600400L)).isTrue();
        assertThat(maps.isCode(7, -1)).isFalse();
        // Of a process whose mappings nobody told any address of user memory may be code.
        assertThat(maps.isCode(9, 0x500010)).isTrue();
        assertThat(maps.isCode(9, 0x6f2f636f642f6571L)).isFalse();
    }
}
