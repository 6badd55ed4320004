package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.testkit.Clang;

/** Objects of clang given to {@code sonde bpf}, beside bpftool where it has the same. */
@Tag("kernel")
final class BpfObjectsKernelTest {
    private static final String HEAD =
            """
            #include <linux/bpf.h>
            #include <bpf/bpf_helpers.h>
            #include <bpf/bpf_tracing.h>
            char LICENSE[] SEC("license") = "GPL";
            """;

    private static final String FAULTS =
            HEAD
                    + """
                    struct {
                        __uint(type, BPF_MAP_TYPE_HASH);
                        __uint(max_entries, 4);
                        __type(key, __u32);
                        __type(value, __u64);
                    } counts SEC(".maps");
                    static __attribute__((noinline)) void bump(__u64 *n)
                    {
                        *n += 1;
                    }
                    SEC("xdp")
                    int good(struct xdp_md *c)
                    {
                        return XDP_PASS;
                    }
                    SEC("xdp")
                    int unchecked(struct xdp_md *c)
                    {
                        __u32 key = 1;
                        __u64 *n = bpf_map_lookup_elem(&counts, &key);
                        bump(n);
                        return XDP_PASS;
                    }
                    """;

    private static final String SHOWN =
            HEAD
                    + """
                    enum color { RED, GREEN = 5 };
                    struct part {
                        char name[8];
                        enum color color;
                        signed char below;
                        __u64 all;
                    };
                    struct part one = {"part", GREEN, -3, ~0ull};
                    char odd[4] = {1, 2, 3, 4};
                    struct {
                        __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
                        __uint(max_entries, 2);
                        __type(key, __u32);
                        __array(values, int (void *));
                    } jumps SEC(".maps") = {.values = {0, 0}};
                    struct {
                        __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
                        __uint(key_size, 4);
                        __uint(value_size, 4);
                    } events SEC(".maps");
                    SEC("raw_tp/sys_enter")
                    int jump(void *ctx)
                    {
                        bpf_tail_call(ctx, &jumps, 1);
                        bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, &one.all, 8);
                        odd[0] = one.name[0];
                        return 0;
                    }
                    """;

    @TempDir private static Path folder;

    private Path pins = folder;

    @BeforeEach
    void mount() throws Exception {
        Assumptions.assumeTrue(Clang.lacks().isEmpty(), () -> Clang.lacks().get());
        pins = Files.createTempDirectory(folder, "bpffs");
        execute("mount", "-t", "bpf", "bpf", pins.toString());
    }

    @AfterEach
    void unmount() throws Exception {
        if (!pins.equals(folder)) {
            execute("umount", pins.toString());
        }
    }

    private static Sonde.Outcome execute(String... command) throws Exception {
        return Sonde.in(folder).execute(List.of(command));
    }

    private static Sonde.Outcome sonde(String... words) throws Exception {
        List<String> all = new ArrayList<>(List.of("bpf"));
        all.addAll(List.of(words));
        return Sonde.in(folder).run(all.toArray(String[]::new));
    }

    private static String text(String... words) throws Exception {
        Sonde.Outcome outcome = sonde(words);
        assertThat(outcome.status()).as("%s", outcome).isZero();
        return outcome.out();
    }

    private static String object(String name, String source, String... options) throws Exception {
        Path file = Files.writeString(folder.resolve(name + ".bpf.c"), source);
        return Clang.object(file, options).toString();
    }

    @Test
    void eachProgramOfAnObjectIsVerifiedAndExplained() throws Exception {
        String object = object("faults", FAULTS);
        Sonde.Outcome outcome = sonde("verify", object);
        assertThat(outcome.status()).as("%s", outcome).isEqualTo(1);
        assertThat(outcome.out())
                .contains(
                        "good: accepted as xdp",
                        "unchecked: refused\nr1 (what bpf_map_lookup_elem returned) may be null",
                        "faults.bpf.c:13: *n += 1;",
                        "what helps: compare r1 with 0 first")
                .doesNotContain("processed ");
        assertThat(sonde("verify", object, "--only", "good").status()).isZero();
        assertThat(sonde("verify", object, "--log", "--json").out())
                .contains("\"id\":\"null-pointer\"", "processed ");
        Sonde.Outcome load = sonde("load", object);
        assertThat(load.status()).isEqualTo(3);
        assertThat(load.err())
                .contains("program unchecked refused", "faults.bpf.c:13", "what helps: compare r1");
        assertThat(text("disasm", object))
                .contains("xdp, unchecked:\n", "; map counts\n", "; call bump\n");
        assertThat(sonde("disasm", object, "--json").out()).contains("\"name\": \"unchecked\"");
    }

    @Test
    void variablesAndSlotsAreDumpedAsBpftoolDumpsThem() throws Exception {
        text("load", object("shown", SHOWN), "--pin", pins + "/shown");
        String data = pins + "/shown/maps/shown_data";
        String mine = text("map", "dump", "pinned", data, "--json");
        assertThat(mine)
                .contains("{\"one\":{\"name\":\"part\",\"color\":\"GREEN\",\"below\":-3")
                .contains("\"all\":18446744073709551615", "{\"odd\":[1,2,3,4]}");
        assertThat(text("map", "dump", "pinned", data)).contains("\"color\":\"GREEN\"");
        String events = pins + "/shown/maps/events";
        assertThat(text("map", "dump", "pinned", events)).contains("Operation is not supported");
        String program = text("prog", "dump", "xlated", "pinned", pins + "/shown/jump");
        assertThat(program).startsWith("int jump(void *ctx):\n").contains("call bpf_tail_call#12");
        String jumps = text("map", "show", "pinned", pins + "/shown/maps/jumps", "--json");
        assertThat(jumps).contains("\"owner_prog_type\":\"raw_tracepoint\"");
        Assumptions.assumeTrue(Files.isExecutable(Path.of("/usr/sbin/bpftool")));
        assertThat(mine)
                .isEqualToIgnoringWhitespace(
                        execute("bpftool", "-j", "map", "dump", "pinned", data).out());
    }

    @Test
    void theHeaderOfTheKernelsTypesCompilesToFittingReads() throws Exception {
        String header = text("btf", "dump", "file", "/sys/kernel/btf/vmlinux", "format", "c");
        Files.writeString(folder.resolve("vmlinux.h"), header);
        String source =
                """
                #include "%s/vmlinux.h"
                #include <bpf/bpf_helpers.h>
                #include <bpf/bpf_tracing.h>
                char LICENSE[] SEC("license") = "GPL";
                int last;
                SEC("tp_btf/sched_switch")
                int BPF_PROG(see, bool preempt, struct task_struct *from, struct task_struct *to)
                {
                    last = to->pid;
                    return 0;
                }
                SEC("iter/task")
                int tasks(struct bpf_iter__task *ctx)
                {
                    struct task_struct *task = ctx->task;
                    if (task)
                        BPF_SEQ_PRINTF(ctx->meta->seq, "%%d %%s\\n", task->pid, task->comm);
                    return 0;
                }
                """
                        .formatted(folder);
        String object = object("fitting", source, "-Werror=duplicate-decl-specifier");
        // Offsets of another kernel are put in: what reads them was told to be fitted.
        String plain = text("disasm", object);
        assertThat(plain).contains("tp_btf/sched_switch, see:");
        Path other = folder.resolve("other.o");
        Files.writeString(
                folder.resolve("other.c"),
                "struct task_struct { char more[4000]; int pid; char comm[16]; };"
                        + "struct seq_file { int x; };"
                        + "struct bpf_iter_meta { struct seq_file *seq; };"
                        + "struct bpf_iter__task { struct bpf_iter_meta *meta;"
                        + " struct task_struct *task; }; struct bpf_iter__task it;"
                        + "struct task_struct task;");
        execute("clang", "-g", "-target", "bpf", "-c", "other.c", "-o", other.toString());
        Sonde.Outcome moved =
                sonde("verify", object, "--only", "see", "--btf", other.toString(), "--log");
        assertThat(moved.out()).contains("+4000)");
        String run = text("iter", "run", object);
        assertThat(run.lines().toList()).anyMatch(line -> line.matches("\\d+ \\S.*"));
        text("iter", "pin", object, pins + "/tasks");
        assertThat(Files.readString(pins.resolve("tasks")))
                .containsPattern("\\d+ kthreadd|\\d+ java");
    }

    @Test
    void jsonOfWhatNeedsNoKernel() throws Exception {
        Path text = Files.writeString(folder.resolve("six.asm"), "r0 = 6\nexit\n");
        assertThat(text("run", text.toString(), "--json"))
                .isEqualTo("{\"r0\":6,\"trace_printk\":[]}\n");
        assertThat(text("asm", text.toString(), "--json")).startsWith("[\n  {\"slot\": 0,");
        assertThat(sonde("feature", "kfunc").status()).isEqualTo(2);
    }

    @Test
    void anAttachmentThatFailsNamesItsProgram() throws Exception {
        String source = HEAD + "SEC(\"tp/sched/no_such_event\") int lost(void *c) { return 0; }";
        Sonde.Outcome outcome = sonde("attach", object("lost", source), "--for", "1ms");
        assertThat(outcome.status()).isEqualTo(3);
        assertThat(outcome.err())
                .contains("lost.bpf.o, section tp/sched/no_such_event, symbol lost: this kernel");
    }

    @Test
    void programsWithoutAPlaceAreToldWithWhatTheyNeed() throws Exception {
        String source =
                HEAD
                        + "SEC(\"xdp\") int pass(void *c) { return 2; }"
                        + "SEC(\"tc\") int look(void *c) { return 0; }";
        Sonde.Outcome outcome = sonde("attach", object("placeless", source), "--for", "1ms");
        assertThat(outcome.status()).isEqualTo(1);
        assertThat(outcome.err())
                .contains("pass (xdp): needs --dev DEVICE")
                .contains("look (tc): no section of its kind says where");
    }
}
