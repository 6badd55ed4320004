package sonde.recording.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Test;
import sonde.binary.Input;
import sonde.event.Batch;
import sonde.event.Lane;
import sonde.event.Source;
import sonde.recording.ftrace.FieldText;
import sonde.recording.ftrace.RowText;
import sonde.recording.ftrace.TextBuffer;
import sonde.recording.ftrace.ThreadNames;
import sonde.recording.text.Reading.Row;
import sonde.testkit.TraceTexts;

class FtraceTextTest {
    @Test
    void linesBecomeTypedFields() throws Exception {
        Reading read = Reading.of(TraceTexts.TRACE);
        assertThat(read.events())
                .containsExactly(
                        "sched:sched_switch",
                        "sched:sched_waking",
                        "notice:lost",
                        "kmem:kmalloc",
                        "ftrace:kernel_stack",
                        "ftrace:print");
        Row switched = read.rows().get(0);
        assertThat(switched.time()).isEqualTo(231_159_254_000L);
        assertThat(switched.cpu()).isEqualTo(1);
        assertThat(switched.tid()).isEqualTo(115);
        assertThat(switched.fields())
                .containsEntry("prev_comm", "sh")
                .containsEntry("prev_state", 1L)
                .containsEntry("next_comm", "a b")
                .containsEntry("next_pid", 7L)
                // TRACE_FLAG_IRQS_OFF, NEED_RESCHED and PREEMPT_RESCHED, HARDIRQ
                .containsEntry("common_flags", 0x01L | 0x04 | 0x20 | 0x08)
                .containsEntry("common_preempt_count", 2L);
        assertThat(read.rows().get(2).weight()).isEqualTo(12);
        assertThat(read.rows().get(2).cpu()).isEqualTo(1);
        assertThat(read.rows().get(3).fields())
                .containsEntry("call_site", "f+0x1/0x2")
                .containsEntry("ptr", 0xabcdef01L)
                .containsEntry("node", -1L)
                .containsEntry("gfp_flags", "GFP_KERNEL|__GFP_ZERO");
        assertThat(read.rows().get(3).tid()).isEqualTo(7);
        assertThat(read.rows().get(4).chain()).containsExactly("kmalloc", "do_syscall_64");
        assertThat(read.rows().get(5).field("buf")).isEqualTo("B|7|draw");
        assertThat(read.comms()).containsEntry(115, "sh").containsEntry(7, "my-comm");
        assertThat(read.notes()).anyMatch(note -> note.startsWith("5 older events"));
    }

    @Test
    void latencyTracersCountFromTheirStart() throws Exception {
        Reading read = Reading.of(TraceTexts.LATENCY);
        assertThat(read.rows()).extracting(Row::time).containsExactly(0L, 0L, 259_000L, 306_000L);
        assertThat(read.rows()).extracting(Row::cpu).containsExactly(2, 2, 3, 2);
        assertThat(read.rows().get(0).event()).isEqualTo("ftrace:latency");
        assertThat(read.rows().get(0).fields())
                .containsEntry("latency_us", 259L)
                .containsEntry("entries", 3L)
                .containsEntry("written", 4L)
                .containsEntry("task", "my task")
                .containsEntry("task_pid", 6143L)
                .containsEntry("nice", -5L)
                .containsEntry("policy", "SCHED_FIFO")
                .containsEntry("rt_prio", 40L)
                .containsEntry("started_at", "__lock_task_sighand")
                .containsEntry("ended_at", "_raw_spin_unlock");
        assertThat(read.notes())
                .contains(
                        "Latency 259 us on CPU 2, task my task-6143 (SCHED_FIFO nice -5 rt_prio"
                                + " 40), started at __lock_task_sighand, ended at"
                                + " _raw_spin_unlock.");
        assertThat(read.rows().get(1).fields())
                .containsEntry("ip", "trace_hardirqs_off")
                .containsEntry("parent_ip", "__lock_task_sighand");
        assertThat(read.rows().get(3).chain()).hasSize(2);
        assertThat(read.comms()).containsOnlyKeys(6143);
    }

    @Test
    void callsOfTheGraphHaveDepthsAndDurations() throws Exception {
        Reading read = Reading.of(TraceTexts.GRAPH);
        assertThat(read.events())
                .containsExactly(
                        "ftrace:funcgraph_entry",
                        "ftrace:funcgraph_entry",
                        "ftrace:funcgraph_entry",
                        "sched:sched_wakeup",
                        "ftrace:print",
                        "ftrace:funcgraph_exit");
        assertThat(read.rows().get(4).field("buf")).isEqualTo("7 of 9 done");
        Row leaf = read.rows().get(1);
        assertThat(leaf.fields())
                .containsEntry("func", "getname")
                .containsEntry("depth", 1L)
                .containsEntry("duration", 1382L);
        assertThat(read.rows().get(2).tid()).isEqualTo(123);
        assertThat(read.rows().get(2).cpu()).isEqualTo(1);
        Row exit = read.rows().get(5);
        assertThat(exit.field("duration")).isEqualTo(124_500L);
        assertThat(exit.time() - read.rows().get(0).time()).isEqualTo(124_500L);
        assertThat(read.notes()).anyMatch(note -> note.contains("no times"));
    }

    /** A listing shows the duration and the depth of a call, as the tracer and trace-cmd do. */
    @Test
    void listingsOfTheGraphKeepDurationsAndIndentation() throws Exception {
        assertThat(listed(TraceTexts.GRAPH))
                .contains(
                        "funcgraph_entry:                     |  sys_open() {",
                        "funcgraph_entry:         1.382 us    |    getname();",
                        "print:                7 of 9 done",
                        "funcgraph_exit:        ! 124.500 us  |  } /* sys_open */");
        assertThat(
                        listed(
                                "   a-1 [000] 5.000001: funcgraph_entry:                   |  f() {\n"
                                        + "   a-1 [000] 5.000002: funcgraph_entry:        2.343 us   |    g();\n"))
                .contains(
                        "funcgraph_entry:                   |  f() {",
                        "funcgraph_entry:        2.343 us   |    g();");
    }

    /** The lines of a listing from the event's name on. */
    private static List<String> listed(String text) throws Exception {
        Input input = Reading.input(text.getBytes(StandardCharsets.UTF_8));
        try (TextRecording recording = TextRecording.open(input)) {
            Source source = recording.sources().getFirst();
            RowText rows =
                    new FieldText(
                            source,
                            ThreadNames.of(Map.of()),
                            null,
                            new TextRows(source, input.segment()));
            TextBuffer out = new TextBuffer(256);
            Lane lane = recording.lanes().getFirst();
            for (Batch batch = lane.next(); batch != null; batch = lane.next()) {
                for (int row = 0; row < batch.size(); row++) {
                    rows.append(out, batch, row, null, 0);
                }
            }
            return new String(out.since(0), StandardCharsets.UTF_8)
                    .lines()
                    .map(line -> line.replaceFirst("^.*?\\d: (?=\\w)", ""))
                    .toList();
        }
    }

    @Test
    void histogramsAreRowsOfTheirKeysAndValues() throws Exception {
        Reading read = Reading.of(TraceTexts.HIST);
        assertThat(read.events()).containsExactly("ftrace:hist", "ftrace:hist", "ftrace:hist");
        assertThat(read.rows().get(0).fields())
                .containsEntry("call_site", "[ffffffff9d9cdbe0] tracing_map_init+0x90/0x250")
                .containsEntry("pid", "a, b [5767]")
                .containsEntry("hitcount", 6144L)
                .containsEntry("bytes_req", 311296L);
        assertThat(read.rows()).extracting(Row::weight).containsExactly(6144L, 2L, 3L);
        assertThat(read.rows().get(1).fields())
                .containsEntry("call_site", "[ffffffffc03950af] p9_fcall_init+0x2f/0x80 [9pnet]")
                .containsEntry("max", 65L)
                .containsEntry("next_comm", "ksoftirqd/0")
                .containsEntry("prev_pid", 0L);
        assertThat(read.rows().get(2).field("lat")).isEqualTo("~ 2^9");
        assertThat(read.rows().get(2).chain()).containsExactly("__schedule", "p9_client_rpc");
        assertThat(read.notes())
                .anyMatch(note -> note.startsWith("hist:keys=stacktrace,lat.log2"))
                .anyMatch(note -> note.startsWith("5 hits had no room"));
    }

    @Test
    void profilesOfProbesAreRowsOfHitsAndMisses() throws Exception {
        Reading kernel = Reading.of(TraceTexts.KPROBE_PROFILE);
        assertThat(kernel.rows().get(0).fields())
                .containsEntry("event", "myopen")
                .containsEntry("hits", 95L)
                .containsEntry("misses", 7L);
        assertThat(kernel.rows().get(1).fields()).containsEntry("hits", 2137L);
        Reading user = Reading.of(TraceTexts.UPROBE_PROFILE);
        assertThat(user.rows().get(1).fields())
                .containsEntry("file", "/opt/my app/x")
                .containsEntry("event", "f")
                .containsEntry("hits", 0L);
        assertThat(user.rows().get(0).weight()).isEqualTo(4);
    }

    @Test
    void graphLinesWithTimesAndThreads() throws Exception {
        String text =
                "# tracer: function_graph\n"
                        + "  234.556269 |   0)    wl-5745     |  d..1. |   7.331 us    |  f();\n"
                        + "  234.556272 |   0)    wl-5745     |  d..1. | + 11.387 us   |  } /* g */\n"
                        + "  234.556280 |   0)   ==========> |\n";
        Reading read = Reading.of(text);
        assertThat(read.rows()).hasSize(2);
        assertThat(read.rows().get(0).time()).isEqualTo(234_556_269_000L);
        assertThat(read.rows().get(0).tid()).isEqualTo(5745);
        assertThat(read.rows().get(1).field("func")).isEqualTo("g");
    }

    @Test
    void traceCmdsFormsOfTheScheduler() throws Exception {
        Reading read = Reading.of(TraceTexts.REPORT);
        Row switched = read.rows().get(0);
        assertThat(switched.time()).isEqualTo(106_439_675_591_000L);
        assertThat(switched.fields())
                .containsEntry("prev_comm", "trace-cmd")
                .containsEntry("prev_pid", 4734L)
                .containsEntry("prev_state", 0L)
                .containsEntry("next_comm", "migration/2")
                .containsEntry("next_prio", 0L);
        assertThat(read.rows().get(1).time()).isEqualTo(106_439_675_613_123L);
        assertThat(read.rows().get(1).fields())
                .containsEntry("comm", "sshd")
                .containsEntry("pid", 2450L)
                .containsEntry("target_cpu", 3L);
        assertThat(read.rows().get(2).weight()).isEqualTo(7);
        assertThat(read.rows().get(3).event()).isEqualTo("raw_syscalls:sys_enter");
        assertThat(read.rows().get(3).field("id")).isEqualTo(257L);
        assertThat(read.rows().get(4).field("ret")).isEqualTo(-2L);
        assertThat(read.buffers()).containsExactly("", "inst1");
        assertThat(read.rows().get(5).event()).isEqualTo("irq:irq_handler_entry");
    }

    @Test
    void tracersWithoutEventNames() throws Exception {
        String text =
                "# tracer: x\n"
                        + "  <...>-1729  [001] d...   678.473449: #1     inner/outer(us):   11/12 "
                        + "   ts:1581527483.343962693 count:6\n"
                        + "  <...>-867  [000] ....    700.029339: #1     context thread timer_latency"
                        + "     11700 ns\n"
                        + "  <...>-859  [000] ....    810.637220: 1000000        190  99.98100       9 "
                        + "    18      0   1007     18      1\n"
                        + "  <...>-0  [002] d.h4  811.000000:      0:120:R ==> [002]  5882: 94:R sl p\n"
                        + "  bash-1998  [000] d...   840.733504: sys_dup2(oldfd: a, newfd: 1)\n"
                        + "  bash-1998  [000] d...   840.733506: sys_dup2 -> 0x1\n"
                        + "  zsh-24842 [006] 258544.995456: zfree_exit:  (0x446540 <- 0x446420)"
                        + " arg1=446540 arg2=0\n";
        Reading read = Reading.of(text);
        assertThat(read.events())
                .containsExactly(
                        "ftrace:hwlat",
                        "ftrace:timerlat",
                        "ftrace:osnoise",
                        "ftrace:context_switch",
                        "syscalls:sys_enter_dup2",
                        "syscalls:sys_exit_dup2",
                        "uprobes:zfree_exit");
        assertThat(read.rows().get(0).field("outer_duration")).isEqualTo(12L);
        assertThat(read.rows().get(1).field("timer_latency")).isEqualTo(11_700L);
        assertThat(read.rows().get(2).field("noise")).isEqualTo(190L);
        assertThat(read.rows().get(3).field("next_comm")).isEqualTo("sl p");
        assertThat(read.rows().get(5).field("ret")).isEqualTo(1L);
        assertThat(read.rows().get(6).field("arg1")).isEqualTo(446_540L);
    }

    @Test
    void kindsOfFieldsAreDecidedByAllLines() throws Exception {
        String text =
                "# tracer: nop\n"
                        + "  a-1 [000] d... 1.000001: probe: mode=0 flags=8000 v=1 big=5\n"
                        + "  a-1 [000] d... 1.000002: probe: mode=1b6 flags=12 v=x y big="
                        + "18446744073709551615\n";
        Reading read = Reading.of(text);
        assertThat(read.rows().get(1).fields())
                .containsEntry("mode", 0x1b6L)
                .containsEntry("flags", 12L)
                .containsEntry("v", "x y")
                .containsEntry("big", -1L);
        assertThat(read.rows().get(0).field("v")).isEqualTo("1");
    }

    @Test
    void rowsAreSortedWhereTheTextIsNot() throws Exception {
        String text =
                "a-1 [000] 3.000000: cpu_idle: state=3 cpu_id=0\n"
                        + "a-1 [000] 1.000000: cpu_idle: state=1 cpu_id=0\n"
                        + "a-1 [001] 2.000000: cpu_idle: state=2 cpu_id=1\n"
                        + "a-1 [001] 2.000000: cpu_idle: state=9 cpu_id=1\n";
        assertThat(Reading.of(text).rows())
                .extracting(row -> row.field("state"))
                .containsExactly(1L, 2L, 9L, 3L);
    }

    @Test
    void systraceIsTheTextInThePage() throws Exception {
        Reading read = Reading.of(TraceTexts.SYSTRACE);
        assertThat(read.format()).isEqualTo(TextFormat.SYSTRACE);
        assertThat(read.events()).containsExactly("ftrace:print", "sched:sched_wakeup");
        assertThat(read.rows().get(0).pid()).isEqualTo(611);
        assertThat(read.comms()).containsEntry(1143, "RenderThread");
    }

    @Test
    void atracesDeflatedOutput() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.writeBytes("capturing trace... done\nTRACE:\n".getBytes(StandardCharsets.UTF_8));
        try (DeflaterOutputStream deflated = new DeflaterOutputStream(out)) {
            deflated.write(TraceTexts.TRACE.getBytes(StandardCharsets.UTF_8));
        }
        assertThat(Reading.of(out.toByteArray()).rows()).hasSize(6);
    }

    @Test
    void whatCannotBeReadIsCountedAndTheRestRead() throws Exception {
        String text =
                TraceTexts.TRACE_NO_HEADER + "\0\0garbage\nmore\n" + TraceTexts.TRACE_NO_HEADER;
        Reading read = Reading.of(text);
        assertThat(read.events()).filteredOn("notice:corrupt"::equals).hasSize(1);
        assertThat(read.rows()).hasSize(5);
        assertThat(read.notes()).contains("2 lines could not be read.");
    }

    @Test
    void countsOfOtherClocksAreKept() throws Exception {
        String text =
                "     rcu-15    [000]521005427147: cpu_idle: state=1 cpu_id=0\n"
                        + "     rcu-15    [000]521005427199: cpu_idle: state=2 cpu_id=0\n";
        assertThat(Reading.of(text).rows())
                .extracting(Row::time)
                .containsExactly(521_005_427_147L, 521_005_427_199L);
    }

    /** func-args (6.15), functions of modules, and files of user stacks without a name. */
    @Test
    void functionsWithArgumentsAndModules() throws Exception {
        Reading read =
                Reading.of(
                        """
                        # tracer: function
                        #
                                    sh-12  [000] .....  1.000001: read(fd=3, n=1) <-do_sys [m]
                                    sh-12  [000] .....  1.000002: own [mod] <-do_sys
                                    sh-12  [000] .....  1.000003: <user stack trace>
                         => /lib/libc.so.6[+0x12]
                        """);
        assertThat(read.rows().get(0).fields())
                .containsEntry("ip", "read")
                .containsEntry("parent_ip", "do_sys");
        assertThat(read.rows().get(1).fields()).containsEntry("ip", "own");
        assertThat(read.rows().get(2).chain()).containsExactly("/lib/libc.so.6[+0x12]");
        Reading graph =
                Reading.of(
                        """
                        # tracer: function_graph
                        #
                        # CPU  DURATION                  FUNCTION CALLS
                         0)   2.541 us    |  own [mod]();
                        """);
        assertThat(graph.rows().getFirst().fields())
                .containsEntry("func", "own")
                .containsEntry("duration", 2541L);
    }
}
