package sonde.recording.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.recording.text.Reading.Row;
import sonde.testkit.TraceTexts;

class PerfScriptTest {
    @Test
    void samplesHaveTheirChains() throws Exception {
        Reading read = Reading.of(TraceTexts.PERF);
        assertThat(read.events()).containsExactly("perf:cpu-clock", "perf:cpu-clock");
        Row java = read.rows().get(0);
        assertThat(java.time()).isEqualTo(264_874_155_353_000L);
        assertThat(java.tid()).isEqualTo(34);
        assertThat(java.pid()).isEqualTo(12);
        assertThat(java.cpu()).isEqualTo(3);
        assertThat(java.weight()).isEqualTo(1_001_001);
        assertThat(java.chain())
                .containsExactly("smp_call", "std::vector<int, (anon)>::push", "[perf-12.map]");
        assertThat(read.rows().get(1).tid()).isEqualTo(99);
        assertThat(read.comms()).containsEntry(99, "V8 Worker 4").containsEntry(34, "java");
    }

    @Test
    void tracepointsHaveFields() throws Exception {
        Reading read = Reading.of(TraceTexts.PERF_TRACEPOINTS);
        assertThat(read.events())
                .containsExactly(
                        "sched:sched_switch",
                        "raw_syscalls:sys_enter",
                        "raw_syscalls:sys_exit",
                        "perf:cycles:u");
        assertThat(read.rows().get(0).field("next_pid")).isEqualTo(12L);
        assertThat(read.rows().get(1).field("id")).isEqualTo(0L);
        assertThat(read.rows().get(2).field("ret")).isEqualTo(16L);
        assertThat(read.rows().get(3).chain()).containsExactly("do_it");
    }

    @Test
    void fieldsThatWereNotAskedForAreMissing() throws Exception {
        String text =
                "node 31912 cpu-clock: \n\t13a80 RegExp:[&<>] (/tmp/perf-1.map)\n\n"
                        + "java 19983 cycles:\nffffffff8103d0ca native_write ([kernel.kallsyms])\n";
        Reading read = Reading.of(text);
        // A clock without a period counts samples, not nanoseconds.
        assertThat(read.events()).containsExactly("profile:cpu-clock", "perf:cycles");
        assertThat(read.rows().get(0).chain()).containsExactly("RegExp:[&<>]");
        assertThat(read.rows().get(1).chain()).containsExactly("native_write");
        assertThat(read.rows().get(1).cpu()).isEqualTo(-1);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                // fields of -F                  | pid | tid | cpu | time | weight | event
                "sh |-1|1|-1|0|1|profile:samples",
                "my prog 7 |-1|7|-1|0|1|profile:samples",
                "sh 26499/26500 |26499|26500|-1|0|1|profile:samples",
                "sh 26499    1001001 |-1|26499|-1|0|1001001|profile:samples",
                "sh    1001001 cpu-clock: |-1|1|-1|0|1001001|perf:cpu-clock",
                "sh 7.000001: cpu-clock: |-1|1|-1|7000001000|1|profile:cpu-clock",
                "26499 [002] 7.000001: cycles:u: |-1|26499|2|7000001000|1|perf:cycles:u",
                "7.000001002: cycles: |-1|-1|-1|7000001002|1|perf:cycles",
                "7.000001: |-1|-1|-1|7000001000|1|profile:samples",
                "sh 7 [002] U     7.000001:     250000 cycles: |-1|7|2|7000001000|250000|perf:cycles",
                "cpu-clock: |-1|-1|-1|0|1|profile:cpu-clock",
                "[001] page-faults: |-1|-1|1|0|1|perf:page-faults",
            })
    void headsOfOtherFields(
            String head, int pid, int tid, int cpu, long time, long weight, String event)
            throws Exception {
        String frames = "\n\tffffffff821eb0e7 clear_page_erms\n\t    7fd6c6d18ad7 main\n\n";
        Reading read = Reading.of((head + frames).repeat(2));
        assertThat(read.format()).isEqualTo(TextFormat.PERF_SCRIPT);
        assertThat(read.rows()).hasSize(2);
        Row row = read.rows().get(1);
        assertThat(row.pid()).isEqualTo(pid);
        assertThat(row.tid()).isEqualTo(tid);
        assertThat(row.cpu()).isEqualTo(cpu);
        assertThat(row.time()).isEqualTo(time);
        assertThat(row.weight()).isEqualTo(weight);
        assertThat(row.event()).isEqualTo(event);
        assertThat(row.chain()).containsExactly("clear_page_erms", "main");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "sched:sched_wakeup: comm=a pid=18",
                "            perf sched:sched_wakeup: comm=a pid=18",
                "[001] sched:sched_wakeup: comm=a pid=18",
                "73251.021938: sched:sched_wakeup: comm=a pid=18",
                "            perf 73251.021938: sched:sched_wakeup: comm=a pid=18",
                "26505 [000] 73251.021938: sched:sched_wakeup: comm=a pid=18",
            })
    void tracepointsOfOtherFields(String line) throws Exception {
        Reading read = Reading.of((line + "\n").repeat(3));
        assertThat(read.events()).hasSize(3).containsOnly("sched:sched_wakeup");
        assertThat(read.rows()).extracting(row -> row.field("pid")).containsOnly(18L);
        boolean named = line.contains("perf");
        assertThat(read.comms().values())
                .containsExactly(named ? new String[] {"perf"} : new String[0]);
    }

    @Test
    void linesOfTheSourceBetweenFrames() throws Exception {
        String frames = "\tffffffff821eb0e7 a\n  a.c:12\n\t    7fd6c6d18ad7 b\n  b.c:3\n\n";
        Reading read = Reading.of(("sh \n" + frames).repeat(2));
        assertThat(read.rows()).extracting(Row::chain).containsOnly(List.of("a", "b"));
    }

    @Test
    void chainsAlone() throws Exception {
        String text = "\t  ffff81 a (/x)\n\t  ffff82 b (/x)\n\n\t  ffff81 a (/x)\n";
        Reading read = Reading.of(text);
        assertThat(read.rows()).extracting(row -> row.chain().size()).containsExactly(2, 1);
        assertThat(read.events()).containsOnly("profile:samples");
    }

    @Test
    void aThreadThatChangesItsName() throws Exception {
        String text =
                "perf 7 [000] 1.000001: 1 cycles: \n\t ff a (/x)\n\n"
                        + "ls 7 [000] 1.000002: 1 cycles: \n\t ff a (/x)\n\n";
        Reading read = Reading.of(text);
        assertThat(read.events()).containsExactly("perf:cycles", "perf_record:comm", "perf:cycles");
        assertThat(read.rows().get(1).field("comm")).isEqualTo("ls");
        assertThat(read.comms()).containsEntry(7, "perf");
    }

    @Test
    void recordsOfPerfItself() throws Exception {
        String text =
                "sh 7 [000] 1.000001: PERF_RECORD_COMM exec: a:b:7/8\n"
                        + "sh 7 [000] 1.000002: PERF_RECORD_FORK(9:9):(7:8)\n"
                        + "sh 7 [000] 1.000003: PERF_RECORD_LOST lost 5\n"
                        + "sh 7 [000] 1.000004: PERF_RECORD_MMAP2 7/7: [0x1(0x2) @ 0 ...]: r-xp /x\n";
        Reading read = Reading.of(text);
        assertThat(read.rows().get(0).fields())
                .containsEntry("comm", "a:b")
                .containsEntry("tid", 8L)
                .containsEntry("misc", 1L << 13);
        assertThat(read.rows().get(1).fields())
                .containsEntry("pid", 9L)
                .containsEntry("ppid", 7L)
                .containsEntry("ptid", 8L);
        assertThat(read.rows().get(2).event()).isEqualTo("notice:lost");
        assertThat(read.rows().get(2).weight()).isEqualTo(5);
        assertThat(read.rows()).hasSize(4);
    }

    @Test
    void foldedStacksAreRowsWithWeights() throws Exception {
        Reading read = Reading.of(TraceTexts.FOLDED);
        assertThat(read.rows()).extracting(Row::weight).containsExactly(31L, 6L, 1L);
        assertThat(read.rows().get(0).chain())
                .containsExactly("do_syscall_64", "run", "[libjvm.so]", "start_thread");
        assertThat(read.rows()).extracting(Row::tid).containsExactly(1, 1, 2);
        assertThat(read.comms()).containsEntry(1, "java").containsEntry(2, "sh");
        assertThat(read.rows().get(2).chain()).containsExactly("a b(c)", "main");
    }

    @Test
    void blocksOfFramesEndInTheirCount() throws Exception {
        Reading read = Reading.of(TraceTexts.BLOCKS);
        assertThat(read.rows()).extracting(Row::weight).containsExactly(3L, 12L);
        assertThat(read.rows().get(0).chain()).containsExactly("kmem_cache_free", "sys_syscall");
    }
}
