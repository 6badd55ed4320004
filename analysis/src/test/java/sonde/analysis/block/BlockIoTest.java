package sonde.analysis.block;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.junit.jupiter.api.Test;
import sonde.analysis.CountedThreads;
import sonde.analysis.Engine;
import sonde.analysis.Script;
import sonde.analysis.ThreadTable;
import sonde.analysis.TimeWindow;

final class BlockIoTest {
    private static final int DISK = 8 << 20 | 1;
    private static final String INSERT = "block_rq_insert";
    private static final String ISSUE = "block_rq_issue";
    private static final String COMPLETE = "block_rq_complete";

    private final ThreadTable threads = new ThreadTable(CountedThreads.everything());

    private BlockIo run(Script script, TimeWindow window) throws IOException {
        BlockIo io = new BlockIo(threads, window);
        Engine.run(script.recording(), List.of(threads, io));
        return io;
    }

    @Test
    void aRequestIsTimedFromIssueToCompletionAndQueuedBefore() throws IOException {
        Script script =
                new Script()
                        .block(INSERT, 100, 0, 10, DISK, 64, 8, "R")
                        .block(ISSUE, 130, 1, 99, DISK, 64, 8, "R")
                        .block(COMPLETE, 230, 0, 77, DISK, 64, 8, "R")
                        .block(ISSUE, 300, 0, 10, DISK, 128, 16, "RA")
                        .block(COMPLETE, 350, 0, 77, DISK, 128, 16, "RA");
        BlockIo io = run(script, TimeWindow.ALL);
        assertThat(io.entries()).hasSize(1);
        BlockIo.Entry entry = io.entries().getFirst();
        // Inserted by 10, issued by a worker: it is 10's.
        assertThat(entry.group().thread()).isEqualTo(threads.find(10));
        assertThat(entry.group().kind()).isEqualTo(BlockIo.Kind.READ);
        assertThat(entry.group().deviceName()).isEqualTo("8:1");
        assertThat(entry.service().count()).isEqualTo(2);
        assertThat(entry.service().sum()).isEqualTo(100 + 50);
        assertThat(entry.service().max()).isEqualTo(100);
        assertThat(entry.sizes().sum()).isEqualTo(24 * 512);
        assertThat(entry.queue().count()).isEqualTo(1);
        assertThat(entry.queue().sum()).isEqualTo(30);
    }

    @Test
    void kindsAndThreadsAreApartAndTheLongestIsFirst() throws IOException {
        Script script =
                new Script()
                        .block(ISSUE, 100, 0, 10, DISK, 0, 8, "WS")
                        .block(ISSUE, 110, 0, 10, DISK, 8, 8, "R")
                        .block(ISSUE, 120, 0, 11, DISK, 16, 8, "FF")
                        .block(ISSUE, 130, 0, 11, DISK, 24, 8, "DS")
                        .block(COMPLETE, 200, 0, 0, DISK, 0, 8, "WS")
                        .block(COMPLETE, 400, 0, 0, DISK, 8, 8, "R")
                        .block(COMPLETE, 130, 1, 0, DISK, 16, 8, "FF")
                        .block(COMPLETE, 150, 1, 0, DISK, 24, 8, "DS");
        List<BlockIo.Entry> entries = run(script, TimeWindow.ALL).entries();
        assertThat(entries.stream().map(entry -> entry.group().kind()))
                .containsExactly(
                        BlockIo.Kind.READ,
                        BlockIo.Kind.WRITE,
                        BlockIo.Kind.DISCARD,
                        BlockIo.Kind.FLUSH);
        assertThat(entries.stream().map(entry -> entry.service().sum()))
                .containsExactly(290L, 100L, 20L, 10L);
    }

    @Test
    void whatHasNoPartnerIsCountedNotTimed() throws IOException {
        Script script =
                new Script()
                        .block(COMPLETE, 50, 0, 0, DISK, 1, 8, "R")
                        .block(ISSUE, 100, 0, 10, DISK, 64, 8, "R")
                        // Requeued: issued again without a completion.
                        .block(ISSUE, 140, 0, 10, DISK, 64, 8, "R")
                        .block(COMPLETE, 150, 0, 0, DISK, 64, 8, "R")
                        .block(ISSUE, 160, 0, 10, DISK, 99, 8, "W");
        BlockIo io = run(script, TimeWindow.ALL);
        assertThat(io.unmatched()).isEqualTo(1);
        assertThat(io.issued()).isEqualTo(3);
        assertThat(io.pending()).isEqualTo(1);
        assertThat(io.entries()).hasSize(1);
        assertThat(io.entries().getFirst().service().sum()).isEqualTo(10);
    }

    @Test
    void aRequestCountsWhenItWasIssuedInTheWindow() throws IOException {
        Script script =
                new Script()
                        .block(ISSUE, 100, 0, 10, DISK, 64, 8, "R")
                        .block(COMPLETE, 300, 0, 0, DISK, 64, 8, "R")
                        .block(ISSUE, 210, 0, 10, DISK, 72, 8, "R")
                        .block(COMPLETE, 900, 0, 0, DISK, 72, 8, "R");
        BlockIo io = run(script, new TimeWindow(200, 400));
        assertThat(io.issued()).isEqualTo(1);
        assertThat(io.entries().getFirst().service().sum()).isEqualTo(690);
    }

    @Test
    void requestsOfLttngHaveBitsForWhatTheyDo() throws IOException {
        Script script = new Script();
        int[] bits = {1 << 5 | 1, 1 << 2, 1 << 1, 1 << 8};
        for (int i = 0; i < bits.length; i++) {
            ByteBuffer request =
                    Script.bytes(20)
                            .putInt(0, DISK)
                            .putLong(4, 64 * i)
                            .putInt(12, 8)
                            .putInt(16, bits[i]);
            script.lttng("block_rq_issue", 100 + i, 0, 10, request)
                    .lttng("block_rq_complete", 200 - 10 * i, 0, 10, request.duplicate());
        }
        assertThat(run(script, TimeWindow.ALL).entries())
                .extracting(entry -> entry.group().kind())
                .containsExactly(
                        BlockIo.Kind.WRITE,
                        BlockIo.Kind.READ,
                        BlockIo.Kind.DISCARD,
                        BlockIo.Kind.FLUSH);
    }
}
