package sonde.conformance.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.testkit.guest.Guest;
import sonde.testkit.guest.GuestKernel;
import sonde.testkit.guest.Step;

/** Scripts compiled on this machine's kernel, run on those of the guests. */
@Tag("guest")
final class CompiledScriptsGuestTest {
    private static final Path ROOT =
            Path.of(System.getProperty("sonde.root", "..")).toAbsolutePath().normalize();
    private static final int SECONDS = 200;

    /** Makes the events that the scripts wait for. */
    private static final String BUSY = "/bin/sh -c 'cat /proc/self/comm; cat /proc/self/comm'";

    /** What each script reads must be what the kernel says by another way. */
    private static final Map<String, String> SCRIPTS =
            Map.of(
                    "fields",
                    """
                    tracepoint:syscalls:sys_enter_openat /comm == "cat"/ {
                        $t = (struct task_struct *)curtask;
                        @same[$t->comm == comm, $t->tgid == (int32)pid, $t->pid == (int32)tid,
                            $t->real_parent->tgid == (int32)ppid,
                            $t->group_leader->comm == "cat", $t->mm->mm_users.counter > 0,
                            $t.nsproxy.pid_ns_for_children.level] = 1;
                        @root[str($t.fs.root.dentry.d_name.name)] = 1;
                        @files[sizeof(struct task_struct) > 1000] = 1;
                    }
                    """,
                    "events",
                    """
                    tracepoint:syscalls:sys_enter_openat /comm == "cat"/ {
                        @[str(args.filename), args.flags] = 1;
                    }
                    tracepoint:sched:sched_process_exec { @exec[str(args.filename)] = 1; }
                    rawtracepoint:sched_process_exec { @raw[str(args.bprm.filename)] = 1; }
                    tracepoint:sched:sched_switch /args.prev_comm == "cat"/ {
                        @prio = args.prev_prio;
                    }
                    """,
                    "functions",
                    """
                    kprobe:do_sys_openat2 /comm == "cat"/ { @k[str(uptr(arg1))] = 1; @[probe] = 1; }
                    kretprobe:do_sys_openat2 /comm == "cat"/ { @kr[(int32)retval >= 0] = 1; }
                    fentry:vfs_open /comm == "cat"/ {
                        @f[str(args.path.dentry.d_name.name)] = 1;
                    }
                    fexit:vfs_open /comm == "cat"/ { @fr[retval] = 1; }
                    fentry:vfs_read /comm == "cat"/ {
                        @read[str(args.file.f_path.dentry.d_name.name)] = 1;
                    }
                    kprobe:vfs_rea* /comm == "cat"/ { @many[func] = 1; }
                    """,
                    "users",
                    """
                    uprobe:libc:getppid { @calls[comm, func] = count(); @pids[pid == cpid] = 1; }
                    uretprobe:libc:getppid { @result[retval == ppid] = count(); }
                    interval:ms:10 { @ticks = count(); @cpus = ncpus; @age = elapsed < 600s; }
                    """,
                    "missing",
                    """
                    tracepoint:syscalls:sys_enter_openat {
                        $v = (struct vm_area_struct *)curtask;
                        @ = $v->vm_refcnt.refs.counter;
                    }
                    """);

    private static final Map<String, Map<String, Step.Result>> RESULTS = new HashMap<>();

    @BeforeAll
    static void boot() throws Exception {
        Guest.lacks().ifPresent(Assumptions::abort);
        for (String series : List.of("6.1", "6.12")) {
            RESULTS.put(series, run(series));
        }
    }

    private static Map<String, Step.Result> run(String series)
            throws IOException, InterruptedException {
        try (Guest guest = new Guest(GuestKernel.of(series))) {
            List<Step> steps = new ArrayList<>();
            String sonde = ROOT.resolve("build/image/bin/sonde").toString();
            for (Map.Entry<String, String> script : SCRIPTS.entrySet()) {
                compile(script.getKey(), script.getValue(), guest.work());
                String file = "/mnt/" + script.getKey() + ".sbt";
                steps.add(
                        new Step(
                                script.getKey(),
                                List.of(sonde, "trace", "-c", BUSY, file),
                                SECONDS));
            }
            steps.add(
                    new Step(
                            "plan",
                            List.of(sonde, "trace", "--plan", "/mnt/functions.sbt"),
                            SECONDS));
            Map<String, Step.Result> results = new HashMap<>();
            guest.run(steps).steps().forEach(result -> results.put(result.name(), result));
            return results;
        }
    }

    private static void compile(String name, String text, Path work)
            throws IOException, InterruptedException {
        Path script = Files.writeString(work.resolve(name + ".bt"), text);
        Process process =
                new ProcessBuilder(
                                ROOT.resolve("sonde").toString(),
                                "trace",
                                "--compile",
                                script.toString(),
                                "-o",
                                work.resolve(name + ".sbt").toString())
                        .inheritIO()
                        .start();
        assertThat(process.waitFor()).as(name).isZero();
    }

    private static String output(String series, String step) {
        Step.Result result = Objects.requireNonNull(RESULTS.get(series)).get(step);
        return Objects.requireNonNull(result).output();
    }

    @ParameterizedTest
    @CsvSource({"6.1", "6.12"})
    void membersThatLieElsewhere(String series) {
        assertThat(output(series, "fields"))
                .contains("@same[true, true, true, true, true, true, 0]: 1")
                .contains("@root[/]: 1")
                .contains("@files[true]: 1")
                .doesNotContain("false");
    }

    @ParameterizedTest
    @CsvSource({"6.1", "6.12"})
    void fieldsOfTracepoints(String series) {
        assertThat(output(series, "events"))
                .contains("@[/proc/self/comm, 0]: 1")
                .containsPattern("@exec\\[(/usr)?/bin/cat\\]: 1")
                .containsPattern("@raw\\[(/usr)?/bin/cat\\]: 1")
                .contains("@prio: 120");
    }

    @ParameterizedTest
    @CsvSource({"6.1", "6.12"})
    void functionsOfTheKernel(String series) {
        assertThat(output(series, "functions"))
                .contains("@k[/proc/self/comm]: 1")
                .contains("@[kprobe:do_sys_openat2]: 1")
                .contains("@kr[true]: 1")
                .contains("@f[comm]: 1")
                .contains("@fr[0]: 1")
                .contains("@read[comm]: 1")
                .contains("@many[vfs_read]: 1");
        assertThat(output(series, "plan"))
                .contains("a trampoline in the function's entry")
                .contains("fentry:vmlinux:do_sys_openat2")
                .contains("kprobe:vfs_read");
    }

    @ParameterizedTest
    @CsvSource({"6.1", "6.12"})
    void functionsOfPrograms(String series) {
        assertThat(output(series, "users"))
                .contains("@calls[sh, getppid]: 1")
                .contains("@pids[true]: 1")
                .contains("@result[true]: 1")
                .contains("@age: true")
                .contains("@cpus: 2");
    }

    @ParameterizedTest
    @CsvSource({"6.1", "6.12"})
    void aMissingMemberIsNamedAtItsPlace(String series) {
        assertThat(output(series, "missing"))
                .contains("missing.bt:3:")
                .contains("ERROR: this kernel has no struct vm_area_struct.vm_refcnt");
    }
}
