package sonde.lang.bpftrace.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.lang.bpftrace.ahead.AotReader;
import sonde.lang.bpftrace.expand.ScriptParameters;
import sonde.lang.source.CompilerDiagnostics;
import sonde.lang.source.SourceDiagnostic;
import sonde.lang.source.SourceText;

/** Scripts that went through a file do what they do without. */
@Tag("kernel")
final class AheadScriptKernelTest {
    private static final String TASK = "$t = (struct task_struct *)curtask; ";

    private static String both(String script) throws Exception {
        String direct;
        try (Traced traced = Traced.attach(script)) {
            direct = traced.end();
        }
        try (Traced traced = Traced.attach(Traced.compiled(script))) {
            assertThat(traced.end()).as(script).isEqualTo(direct);
        }
        return direct;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "begin { printf(\"%s %d %s\\n\", \"text\", 42, (1, \"two\")); }",
                "begin { @[comm] = count(); @h = hist(5); @l = lhist(5, 0, 10, 1); @s = stats(3);"
                        + " @t = (1, (2, \"x\")); @a[1, \"k\"] = avg(7); print(@t); }",
                "struct pair { int a; char b[4]; }; begin { printf(\"%d\\n\","
                        + " sizeof(struct pair)); for ($i : 0..5) { @m[$i] = $i; }"
                        + " for ($kv : @m) { @sum += $kv.1; } clear(@m); }",
                "begin { "
                        + TASK
                        + "print(($t.tgid == pid, $t->group_leader->comm, $t.comm));"
                        + " print(str($t.fs.root.dentry.d_name.name)); print(sizeof(*$t) > 9); }",
                "begin { "
                        + TASK
                        + "print((ppid == $t.real_parent.tgid, $t.prio, $t.policy));"
                        + " print($t.nsproxy.pid_ns_for_children.level); print($t.exit_state);"
                        + " print(offsetof(struct task_struct, pid) > 0); }",
                "begin { "
                        + TASK
                        + "print($t.sched_reset_on_fork); print($t.in_iowait);"
                        + " print($t.mm.mm_users.counter > 0); print($t.cred.uid.val);"
                        + " print($t.signal.rlim[7].rlim_cur > 0); }",
                "begin { "
                        + TASK
                        + "$p = $t; $q = $p++; print(($q == $t, $p == $t + 1));"
                        + " print((uint64)$p - (uint64)$t == sizeof(struct task_struct));"
                        + " --$p; print($p == $t); }",
                "begin { print(ncpus); print(has_cpid); errorf(\"at %d\", 1); exit(0); }",
                "begin { $x = (1, \"a\", (uint8)3); @big[\"k\"] = (str_concat(\"a\", \"b\"), $x); }",
            })
    void printsTheSame(String script) throws Exception {
        both(script);
    }

    /** Of a file that was compiled without options. */
    private static String withOptions(byte[] file, String... words) throws Exception {
        ScriptParameters parameters = ScriptParameters.of(List.of(words));
        Optional<ScriptParameters.Problem> problem =
                AheadScript.problem(AotReader.read("test.sbt", file), parameters);
        if (problem.isPresent()) {
            return problem.get().message();
        }
        try (Traced traced = Traced.attach(file, parameters)) {
            return traced.end();
        }
    }

    @Test
    void optionsAreGivenToTheFile() throws Exception {
        byte[] file =
                Traced.compiled(
                        "begin { $n = getopt(\"n\", 3);"
                                + " print(($n, getopt(\"all\"), getopt(\"off\", -1)));"
                                + " if ($n > 5) { print(\"many\"); }"
                                + " @[1] = 1; print(@, getopt(\"top\", 2));"
                                + " print(getopt(\"name\", \"x\")); clear(@); }");
        assertThat(withOptions(file)).startsWith("(3, false, -1)\n@[1]: 1\nx");
        assertThat(withOptions(file, "--", "--n=0x10", "--all", "--off=-70000000000"))
                .startsWith("(16, true, -70000000000)\nmany\n");
        assertThat(withOptions(file, "--", "--n=many")).contains("--n invalid integer");
        assertThat(withOptions(file, "--", "--top=1")).contains("--top was fixed to 2");
        assertThat(withOptions(file, "--", "--name=y")).contains("--name was fixed to x");
        assertThat(withOptions(file, "--", "--no")).contains("unexpected", "--no");
        assertThat(withOptions(file, "7")).contains("parameters");
    }

    @Test
    void tracepointsByTheirFields() throws Exception {
        byte[] file =
                Traced.compiled(
                        "tracepoint:syscalls:sys_enter_openat /comm == \"cat\"/ {"
                                + " @[str(args.filename)] = 1; }"
                                + " tracepoint:sched:sched_process_exec {"
                                + " @exec[str(args.filename), args.pid == pid] = 1; }"
                                + " rawtracepoint:sched_process_exec {"
                                + " @raw[str(args.bprm.filename)] = 1; }"
                                + " uprobe:libc:getppid { @u[comm] = 1; }");
        try (Traced traced = Traced.attach(file)) {
            Process cat =
                    new ProcessBuilder("/bin/sh", "-c", "/bin/cat /proc/self/comm >/dev/null; :")
                            .start();
            assertThat(cat.waitFor()).isZero();
            assertThat(traced.end())
                    .contains("@[/proc/self/comm]: 1")
                    .containsPattern("@exec\\[/bin/cat, (true|false)\\]: 1")
                    .contains("@raw[/bin/cat]: 1")
                    .contains("@u[sh]: 1");
        }
    }

    private static byte[] renamed(byte[] file, String from, String to) {
        String text = new String(file, StandardCharsets.ISO_8859_1);
        assertThat(text).contains(from);
        return text.replace(from, to).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String refused(byte[] file) throws Exception {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        Traced.prepared(file, diagnostics);
        assertThat(diagnostics.hasErrors()).isTrue();
        return diagnostics.all().getFirst().render();
    }

    @Test
    void whatIsMissingIsNamedAtItsPlace() throws Exception {
        byte[] member = Traced.compiled("begin {\n " + TASK + " print($t.real_parent.pid); }");
        assertThat(refused(renamed(member, "real_parent\0", "unreal_pare\0")))
                .startsWith("test:2:")
                .contains("this kernel has no struct task_struct.unreal_pare");
        byte[] field = Traced.compiled("tracepoint:sched:sched_switch {\n @ = args.prev_state; }");
        assertThat(refused(renamed(field, "\0\0\0prev_state", "\0\0\0prev_stale")))
                .startsWith("test:2:")
                .contains("tracepoint:sched:sched_switch has no field 'prev_stale'");
        byte[] event = Traced.compiled("tracepoint:sched:sched_switch { @ = count(); }");
        assertThat(refused(renamed(event, "sched_switch", "sched_swotch"))).startsWith("test:1:");
    }

    @Test
    void pointersStepByTheSizeThatIsThere() throws Exception {
        byte[] file = Traced.compiled("begin { " + TASK + "$t++; print($t); }");
        assertThat(new String(file, StandardCharsets.ISO_8859_1)).contains("\0task_struct\0");
    }

    @Test
    void whatOnlyThisMachineKnowsIsRefused() throws Exception {
        for (Map.Entry<String, String> one :
                Map.of(
                                "begin { $t = (struct task_struct *)curtask; @x = *$t; }",
                                "which only this kernel lays out so",
                                "begin { @p = (struct task_struct *)curtask; @p++; }",
                                "this steps by the size",
                                "uprobe:libc:getppid { print(uaddr(\"environ\")); }",
                                "only this machine knows")
                        .entrySet()) {
            CompilerDiagnostics diagnostics = new CompilerDiagnostics();
            Compilation.portable(
                    new SourceText("test", one.getKey()),
                    options(false),
                    TargetMachine.here(),
                    diagnostics);
            assertThat(diagnostics.all().stream().map(SourceDiagnostic::message))
                    .as(one.getKey())
                    .anyMatch(message -> message.contains(one.getValue()));
        }
    }

    private static TraceOptions options(boolean unsafe) {
        return TraceOptions.USUAL.unsafe(unsafe);
    }

    @Test
    void unsafeFilesNeedLeaveToo() throws Exception {
        SourceText text = new SourceText("test", "begin { system(\"true\"); }");
        Compilation compiled =
                Compilation.portable(
                        text, options(true), TargetMachine.here(), new CompilerDiagnostics());
        byte[] file =
                sonde.lang.bpftrace.ahead.FileWriter.bytes(
                        PortabilityPass.file(Objects.requireNonNull(compiled), text));
        assertThat(refused(file)).contains("unsafe");
    }
}
