package sonde.tools.heap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import sonde.binary.MalformedInputException;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapStack;
import sonde.event.heap.HeapSums;
import sonde.event.result.Frame;
import sonde.exchange.heap.HeapFile;
import sonde.exchange.heap.HeapFormat;
import sonde.testkit.PprofBytes;
import sonde.testkit.ProtoBytes;

class HeapFormatsTest {
    private static final String MASSIF =
            """
            desc: --massif-out-file=a
            cmd: ./lk
            time_unit: ms
            #-----------
            snapshot=0
            #-----------
            time=0
            mem_heap_B=0
            mem_heap_extra_B=0
            mem_stacks_B=0
            heap_tree=empty
            #-----------
            snapshot=1
            #-----------
            time=5
            mem_heap_B=1000
            mem_heap_extra_B=16
            mem_stacks_B=0
            heap_tree=peak
            n2: 1000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
             n1: 900 0x11BA: grow (lk.c:6)
              n0: 900 0x11F1: main (lk.c:7)
             n0: 100 in 2 places, all below massif's threshold (1.00%)
            #-----------
            snapshot=2
            #-----------
            time=7
            mem_heap_B=300
            mem_heap_extra_B=16
            mem_stacks_B=0
            heap_tree=detailed
            n1: 300 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.
             n0: 300 0x1176: lose (in /usr/lib/libl.so)
            """;

    private static HeapFile file(byte[] bytes) throws IOException {
        return HeapFormat.read(new ByteArrayInputStream(bytes), HeapSums.UNKNOWN);
    }

    private static HeapProfile read(String text) throws IOException {
        return file(text.getBytes(StandardCharsets.UTF_8)).profile();
    }

    private static HeapSums of(HeapProfile profile, String leaf) {
        return profile.stacks().stream()
                .filter(stack -> stack.frames().getFirst().shown().equals(leaf))
                .map(HeapStack::sums)
                .reduce(HeapSums::plus)
                .orElseThrow();
    }

    @Test
    void massif() throws IOException {
        HeapProfile profile = read(MASSIF);
        assertThat(profile.totals()).isEqualTo(new HeapSums(-1, -1, -1, 300, -1, 1000, -1, -1));
        assertThat(profile.peakNanos()).isEqualTo(5_000_000);
        assertThat(of(profile, "grow lk.c:6").peakBytes()).isEqualTo(900);
        assertThat(of(profile, "lose").liveBytes()).isEqualTo(300);
        assertThat(profile.stacks().getFirst().frames())
                .extracting(Frame::shown)
                .containsExactly("grow lk.c:6", "main lk.c:7");
        HeapView view = new HeapView("a", Set.of(), 10, 5, true, "", List.of());
        assertThat(
                        new HeapReport(file(MASSIF.getBytes(StandardCharsets.UTF_8)), view)
                                .report()
                                .answer())
                .containsExactly(
                        "In use when the profile was written: 300 bytes; 300 bytes (100.0 %) were"
                                + " allocated by lose.",
                        "The heap was largest after 5.00 ms, with 1,000 bytes; 900 bytes (90.0 %)"
                                + " were allocated by grow at lk.c:6, called by main at lk.c:7.");
    }

    /** No number of a tree is made up: without one, stacks stay unknown. */
    @Test
    void massifWithoutALastTree() throws IOException {
        HeapProfile profile = read(MASSIF.substring(0, MASSIF.indexOf("heap_tree=detailed")));
        assertThat(profile.totals().liveBytes()).isEqualTo(300);
        assertThat(HeapMeasure.LEAKED.isKnown(profile.stacks())).isFalse();
        assertThat(of(profile, "grow lk.c:6").peakBytes()).isEqualTo(900);
    }

    @Test
    void mtrace() throws IOException {
        HeapProfile profile =
                read(
                        """
                        = Start
                        @ ./lk:(lose+0x1e)[0x1177] + 0x5620 0x28
                        @ ./lk:(lose+0x1e)[0x1177] + 0x5650 0x28
                        @ ./lk:[0x1196] + 0x5690 0x40
                        @ ./lk:[0x1196] - 0x5690
                        @ ./lk:[0x1199] < 0x5650
                        @ ./lk:[0x1199] > 0x56f0 0x50
                        @ ./lk:[0x1199] - 0x9999
                        = End
                        """);
        assertThat(profile.totals()).isEqualTo(new HeapSums(4, 224, 2, 120, 3, 144, 1, -1));
        assertThat(of(profile, "lose+0x1e").liveBytes()).isEqualTo(40);
        assertThat(profile.peakNanos()).isEqualTo(3);
        assertThat(profile.notes())
                .containsExactly("1 frees of blocks that the log does not have are not counted.");
    }

    @Test
    void jemallocAndTcmallocAreEstimated() throws IOException {
        HeapProfile jemalloc =
                read(
                        """
                        heap_v2/524288
                          t*: 2: 1048576 [4: 2097152]
                          t0: 2: 1048576 [4: 2097152]
                        @ 0x10001010 0x20002020
                          t*: 2: 1048576 [4: 2097152]
                          t0: 2: 1048576 [4: 2097152]

                        MAPPED_LIBRARIES:
                        10000000-10002000 r-xp 00003000 fe:00 21 /bin/none
                        """);
        // one block of 512 KiB stands for 1 / (1 - 1/e)
        assertThat(jemalloc.totals().liveBytes()).isEqualTo(1_658_823);
        assertThat(jemalloc.totals().liveBlocks()).isEqualTo(3);
        assertThat(jemalloc.totals().bytes()).isEqualTo(3_317_646);
        assertThat(jemalloc.stacks().getFirst().frames())
                .extracting(Frame::name)
                .containsExactly("[none+0x4010]", "[0x20002020]");
        HeapProfile tcmalloc =
                read(
                        """
                        heap profile:    3:      300 [     5:      500] @ heapprofile
                             2:      200 [     4:      400] @ 0x1000 0x2000
                             1:      100 [     1:      100] @ 0x3000
                        """);
        assertThat(tcmalloc.totals()).isEqualTo(new HeapSums(5, 500, 3, 300, -1, -1, -1, -1));
    }

    @Test
    void memusage() throws IOException {
        long[][] entries = {
            {0, 0, 100}, {900, 50, 400}, {100, 20, 150}, {900, 50, 200}, {40, 20, 390}
        };
        ByteBuffer bytes = ByteBuffer.allocate(120).order(ByteOrder.LITTLE_ENDIAN);
        for (long[] entry : entries) {
            bytes.putLong(entry[0]).putLong(entry[1]).putLong(entry[2]);
        }
        HeapProfile profile = file(bytes.array()).profile();
        assertThat(profile.totals().peakBytes()).isEqualTo(900);
        assertThat(profile.totals().liveBytes()).isEqualTo(40);
        assertThat(profile.peakNanos()).isEqualTo(2);
    }

    @Test
    void pprof() throws IOException {
        String[] strings = {
            "",
            "alloc_objects",
            "count",
            "alloc_space",
            "bytes",
            "inuse_objects",
            "inuse_space",
            "main.grow",
            "/src/main.go",
            "main.main"
        };
        ProtoBytes profile = new ProtoBytes();
        for (int[] type : new int[][] {{1, 2}, {3, 4}, {5, 2}, {6, 4}}) {
            profile.message(1, new ProtoBytes().number(1, type[0]).number(2, type[1]));
        }
        profile.message(2, new ProtoBytes().packed(1, 1, 2).packed(2, 7, 700, 3, 300));
        for (int i = 1; i <= 2; i++) {
            ProtoBytes line = new ProtoBytes().number(1, i).number(2, 10 + i);
            profile.message(4, new ProtoBytes().number(1, i).message(4, line));
            profile.message(
                    5, new ProtoBytes().number(1, i).number(2, i == 1 ? 7 : 9).number(4, 8));
        }
        for (String string : strings) {
            profile.text(6, string);
        }
        HeapProfile heap = file(profile.toBytes()).profile();
        assertThat(heap.totals()).isEqualTo(new HeapSums(7, 700, 3, 300, -1, -1, -1, -1));
        assertThat(heap.stacks().getFirst().frames())
                .extracting(Frame::shown)
                .containsExactly("main.grow main.go:11", "main.main main.go:12");
        assertThatThrownBy(() -> file(PprofBytes.example()))
                .hasMessageContaining("is a pprof profile of samples, cpu");
    }

    /** Damage of any kind ends in numbers or in one kind of exception. */
    @Test
    void damagedFiles() throws IOException {
        Random random = new Random(7);
        for (String text :
                List.of(MASSIF, HeaptrackFileTest.TEXT, "= Start\n@ a:[0x1] + 0x2 0x3\n")) {
            for (int run = 0; run < 300; run++) {
                byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
                for (int change = 0; change < 4; change++) {
                    int from = random.nextBoolean() ? bytes.length / 4 : 0;
                    bytes[from + random.nextInt(bytes.length - from)] =
                            (byte) "0123456789f \n+-atins".charAt(random.nextInt(20));
                }
                try {
                    HeapFile file = file(bytes);
                    HeapView view =
                            new HeapView("a", Set.of("tree", "sizes"), 10, 5, true, "", List.of());
                    new HeapReport(file, view).report();
                    HeapView summary = new HeapView("a", Set.of(), 10, 5, true, "", List.of());
                    new HeapReport(file, summary).report();
                } catch (MalformedInputException expected) {
                    assertThat(expected).hasMessageNotContaining("null");
                }
            }
        }
    }
}
