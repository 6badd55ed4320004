package sonde.recording.perfdata;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.binary.MalformedInputException;
import sonde.event.Lane;
import sonde.recording.ftrace.CodeNames;
import sonde.recording.ftrace.EventListing;
import sonde.recording.ftrace.EventListing.ListedLane;
import sonde.recording.ftrace.PageLayout;
import sonde.recording.ftrace.TextContext;
import sonde.testkit.PerfDataBytes;
import sonde.testkit.PerfDataExamples;
import sonde.testkit.PerfStatBytes;

/** Lines as {@code perf script} of 6.1 writes them. */
class ScriptTextTest {
    // IP TID TIME CPU PERIOD
    private static final long SAMPLE = 1 | 2 | 4 | 128 | 256;

    private static String list(byte[] file) throws IOException {
        try (PerfDataRecording recording = Rows.open(file)) {
            TextContext context = TextContext.of(PageLayout.NATIVE, new byte[0], new byte[0]);
            ScriptText text = new ScriptText(recording, context, CodeNames.NONE);
            List<ListedLane> parts = new ArrayList<>();
            for (Lane lane : recording.lanes()) {
                parts.add(new ListedLane(lane, text, ""));
            }
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            new EventListing(parts, EventListing.Filter.ALL).writeTo(out);
            return out.toString(StandardCharsets.UTF_8);
        }
    }

    @Test
    void countsAreATable() throws IOException {
        PerfStatBytes stat = new PerfStatBytes(ByteOrder.LITTLE_ENDIAN).threads(42);
        stat.stat(21, 1, 0, 7, 1_000, 900).round(2_000_000);
        assertThat(list(stat.file().file()))
                .isEqualTo(
                        """
                        CPU   THREAD             VAL             ENA             RUN            TIME EVENT
                          1       42               7            1000             900         2000000 context-switches
                        """); // perf 6.1
    }

    @Test
    void samplesWithoutCallChain() throws IOException {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        file.event(file.attr(1, 0, SAMPLE, 0, 0), 1).describe("cpu-clock:u");
        file.record(3, 0, file.fields().u32(41).u32(42).text("worker", 8)); // COMM
        file.record(
                9,
                2,
                file.fields()
                        .u64(0x401000)
                        .u32(41)
                        .u32(42)
                        .u64(12_345_678_999L)
                        .u32(3)
                        .u32(0)
                        .u64(250_000));
        file.record(7, 0, file.fields().u32(50).u32(41).u32(50).u32(42).u64(0)); // FORK
        file.record(
                9,
                2,
                file.fields()
                        .u64(0x401000)
                        .u32(50)
                        .u32(50)
                        .u64(12_345_679_000L)
                        .u32(0)
                        .u32(0)
                        .u64(1));
        file.record(
                9,
                2,
                file.fields()
                        .u64(0x7f0000401000L)
                        .u32(7)
                        .u32(7)
                        .u64(12_345_680_000L)
                        .u32(0)
                        .u32(0)
                        .u64(1));

        assertThat(list(file.file()))
                .isEqualTo(
                        """
                                  worker    42 [003]    12.345678:     250000 cpu-clock:u: \
                                   401000 [unknown] ([unknown])
                                  worker    50 [000]    12.345679:          1 cpu-clock:u: \
                                   401000 [unknown] ([unknown])
                                      :7     7 [000]    12.345680:          1 cpu-clock:u: \
                             7f0000401000 [unknown] ([unknown])
                        """);
    }

    @Test
    void namesAreAlignedAndTracepointsHaveTheirText() throws IOException {
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        file.describe("cpu-clock", "sched:sched_example");
        file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 1_500));
        file.record(9, 1, PerfDataExamples.whole(file, 12, 2_500));

        assertThat(list(file.file()))
                .isEqualTo(
                        """
                                    :101   101 [003]     0.000001: sched:sched_example: comm=abc
                        :101   101 [003]     0.000002:        999           cpu-clock:\s
                        	ffffffff81000001 [unknown] ([unknown])
                        	          400002 [unknown] ([unknown])

                        """);
    }

    @Test
    void rawEventsTellTheirMemoryAccess() throws IOException {
        PerfDataBytes file = new PerfDataBytes(ByteOrder.LITTLE_ENDIAN);
        // IP TID ADDR WEIGHT DATA_SRC PHYS_ADDR
        file.event(file.attr(4, 0x1cd, 1 | 2 | 8 | 1 << 14 | 1 << 15 | 1 << 19, 0, 0), 1);
        file.describe("loads");
        // mem_op LOAD, mem_lvl HIT|L1, mem_snoop NONE, mem_lock 0, mem_dtlb HIT|L1|L2
        long source = 2 | 0b1010L << 5 | 2L << 19 | 0b11010L << 26;
        file.record(9, 2, file.fields().u64(0x10).u32(1).u32(1).u64(0xabc, 33, source, 0x77));

        assertThat(list(file.file()))
                .contains("loads:              abc ")
                .contains("|OP LOAD|LVL L1 hit|SNP None|TLB L1 or L2 hit|LCK No|BLK  N/A")
                .contains("              33")
                .endsWith("              77\n");
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void damagedFilesAreListedOrRefused(long seed) throws IOException {
        SplittableRandom random = new SplittableRandom(seed);
        PerfDataBytes file = PerfDataExamples.file(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 10; i++) {
            file.record(3, 0, file.fields().u32(41).u32(100 + i).text("worker", 8));
            file.record(9, 1, PerfDataExamples.tracepoint(file, 22, 10 + i));
            file.record(9, 1, PerfDataExamples.whole(file, 12, 20 + i));
        }
        byte[] whole = file.file();
        int most = 4 * list(whole).length();
        for (int i = 0; i < 60; i++) {
            byte[] bad = whole.clone();
            for (int flip = 0; flip < 6; flip++) {
                bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
            }
            int length;
            try {
                length = list(bad).length();
            } catch (MalformedInputException e) {
                continue;
            }
            assertThat(length).isLessThan(most);
        }
    }
}
