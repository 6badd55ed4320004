package sonde.symbol;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import sonde.symbol.CodeModule.Kind;

class ProcessMapsTest {
    private final ProcessMaps maps = new ProcessMaps();

    private void map(int pid, long start, long length, long offset, String path) {
        maps.mapped(0, pid, new CodeMapping(start, length, offset, path));
    }

    private String at(int pid, long address) {
        long location = maps.location(pid, address);
        CodeModule module = maps.module(location);
        return module == null
                ? "kernel"
                : module.shortName() + "+" + Long.toHexString(ProcessMaps.offset(location));
    }

    @Test
    void sameCodeHasTheSameLocationWhereverItIsMapped() {
        map(1, 0x10000, 0x2000, 0x1000, "/lib/a.so");
        map(2, 0x70000, 0x2000, 0x1000, "/lib/a.so");
        assertThat(maps.location(1, 0x10010)).isEqualTo(maps.location(2, 0x70010));
        assertThat(at(1, 0x10010)).isEqualTo("a.so+1010");
        assertThat(maps.location(1, 0xffffffff81000000L)).isEqualTo(0xffffffff81000000L);
    }

    @Test
    void newerMappingsCoverOlderOnes() {
        map(1, 0x10000, 0x10000, 0, "/lib/a.so");
        map(1, 0x14000, 0x2000, 0x500, "/lib/b.so");
        assertThat(at(1, 0x13fff)).isEqualTo("a.so+3fff");
        assertThat(at(1, 0x14000)).isEqualTo("b.so+500");
        assertThat(at(1, 0x16000)).isEqualTo("a.so+6000");
        assertThat(at(1, 0x20000)).isEqualTo("+20000");
    }

    @Test
    void childrenHaveTheirParentsMapsUntilEitherChanges() {
        map(1, 0x10000, 0x1000, 0, "/lib/a.so");
        maps.forked(1, 2);
        maps.forked(2, 2); // a thread
        assertThat(at(2, 0x10004)).isEqualTo("a.so+4");
        map(1, 0x10000, 0x1000, 0, "/lib/b.so");
        map(2, 0x20000, 0x1000, 0, "/lib/c.so");
        assertThat(at(1, 0x10004)).isEqualTo("b.so+4");
        assertThat(at(2, 0x10004)).isEqualTo("a.so+4");
        assertThat(at(1, 0x20004)).isEqualTo("+20004");
        maps.execed(2);
        assertThat(at(2, 0x10004)).isEqualTo("+10004");
        maps.exited(1);
        assertThat(at(1, 0x10004)).isEqualTo("b.so+4");
    }

    @Test
    void codeWithoutFileBelongsToItsProcess() {
        map(5, 0x7f0000000000L, 0x1000, 0, "//anon");
        CodeModule module = maps.module(maps.location(5, 0x7f0000000010L));
        assertThat(module).isNotNull();
        assertThat(module.kind()).isEqualTo(Kind.ANONYMOUS);
        assertThat(module.pid()).isEqualTo(5);
        assertThat(module.base() + ProcessMaps.offset(maps.location(5, 0x7f0000000010L)))
                .isEqualTo(0x7f0000000010L);
    }

    @Test
    void functionsThatComeWhileRecordingAreTheirOwnModules() {
        maps.kernelSymbol(0, 0xffffffffc0001000L, 0x100, "bpf_prog_1_a");
        long first = maps.location(-1, 0xffffffffc0001010L);
        maps.kernelSymbol(1, 0xffffffffc0001000L, 0x100, "bpf_prog_2_b");
        long second = maps.location(-1, 0xffffffffc0001010L);
        assertThat(first).isNotEqualTo(second);
        Symbolizer symbolizer = SymbolizerTest.symbolizer(maps, SymbolOptions.here());
        assertThat(symbolizer.frame(first).name()).isEqualTo("bpf_prog_1_a");
        assertThat(symbolizer.frame(second).module()).isEqualTo("[bpf]");
    }

    @Test
    void refusesMappingsThatMakeNoSense() {
        map(1, 0x1000, 0, 0, "/a");
        map(1, Long.MAX_VALUE, -1, 0, "/a");
        map(1, -1, 5, 0, "/a");
        assertThat(maps.refused()).isEqualTo(3);
        assertThat(at(1, 0x1000)).isEqualTo("+1000");
    }

    /** The state machine against one entry per page. */
    @Test
    void agreesWithAPageTable() {
        Random random = new Random(11);
        Map<Integer, Map<Long, String>> truth = new HashMap<>();
        for (int round = 0; round < 20_000; round++) {
            int pid = random.nextInt(6);
            Map<Long, String> pages = truth.computeIfAbsent(pid, p -> new HashMap<>());
            long start = random.nextInt(100);
            switch (random.nextInt(12)) {
                case 0 -> {
                    int child = random.nextInt(6);
                    if (child != pid) {
                        maps.forked(pid, child);
                        truth.put(child, new HashMap<>(pages));
                    }
                }
                case 1 -> {
                    maps.execed(pid);
                    pages.clear();
                }
                case 2, 3, 4 -> {
                    int length = 1 + random.nextInt(20);
                    String name = "m" + random.nextInt(9);
                    map(pid, start << 12, (long) length << 12, start << 12, "/" + name);
                    for (long page = start; page < start + length; page++) {
                        pages.put(page, name);
                    }
                }
                default -> {
                    String name = pages.getOrDefault(start, "");
                    String expected = name + "+" + Long.toHexString((start << 12) + 5);
                    assertThat(at(pid, (start << 12) + 5)).isEqualTo(expected);
                }
            }
        }
    }
}
