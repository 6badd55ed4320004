package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Functions and tracepoints by the function tracer. Runs in the guest that has it. */
@Tag("kernel")
final class FunctionTracerKernelTest {
    @BeforeEach
    void needsTheFunctionTracer() throws Exception {
        Assumptions.assumeTrue(
                TraceText.isThere() && NamedProbes.open().kinds().fprobes(),
                "this kernel has no probes by the function tracer");
    }

    private static List<Map<String, String>> recorded(
            UnaryOperator<ProbeDefiner> how, List<String> specs, String... command)
            throws Exception {
        return KernelProbes.recorded(KernelProbes::kernel, how, specs, List.of(command));
    }

    @Test
    void entriesAndReturnsWithArguments() throws Exception {
        List<Map<String, String>> seen =
                recorded(
                        ProbeDefiner::byFunctionTracer,
                        List.of(
                                "vfs_open name=path->dentry->d_name.name:string $arg2:x64"
                                        + " same=%si:x64 stack=$stack0:x64 $comm",
                                "vfs_open%return r=$retval file->f_flags path"),
                        "/bin/cat",
                        "/proc/version");
        assertThat(seen)
                .anySatisfy(one ->
                        assertThat(one)
                                .containsEntry("event", "vfs_open")
                                .containsEntry("name", "version")
                                .containsEntry("comm", "cat")
                                .containsEntry("same", one.get("arg2")));
        assertThat(seen)
                .anySatisfy(one ->
                        assertThat(one)
                                .containsEntry("event", "vfs_open__return")
                                .containsEntry("r", "0")
                                .containsKeys("f_flags", "path"));
    }

    @Test
    void argumentsOfTracepoints() throws Exception {
        List<Map<String, String>> seen =
                recorded(
                        UnaryOperator.identity(),
                        List.of(
                                "tracepoint:sched_process_exec p->pid old_pid bprm->filename:string"),
                        "/bin/cat",
                        "/proc/version");
        assertThat(seen)
                .anySatisfy(one ->
                        assertThat(one)
                                .containsEntry("filename", "/bin/cat")
                                .containsEntry("pid", one.get("tid"))
                                .containsEntry("old_pid", one.get("tid")));
    }

    /** Also chosen by itself where there are no kprobes. */
    @Test
    void whatItCannotDoIsSaid() throws Exception {
        ProbeKinds kinds = new ProbeKinds(false, true, true, true, true);
        try (ProbedObject kernel = KernelProbes.kernel()) {
            ProbeDefiner chosen = new ProbeDefiner(kernel).choosing(kinds);
            assertThat(chosen.define(PointSpec.parse("vfs_open%return $retval")))
                    .extracting(ProbeDefinition::text)
                    .containsExactly("f:probe/vfs_open__return vfs_open%return retval=$retval:s32");
            assertThat(chosen.define(PointSpec.parse("vfs_open+4")))
                    .extracting(ProbeDefinition::kind)
                    .containsExactly('p');
            ProbeDefiner definer = new ProbeDefiner(kernel).byFunctionTracer();
            assertThatThrownBy(() -> definer.define(PointSpec.parse("vfs_open+4")))
                    .hasMessageContaining("functions as a whole");
            assertThatThrownBy(() -> definer.define(PointSpec.parse("vfs_open %bx")))
                    .hasMessageContaining("register bx is not known");
            assertThatThrownBy(() -> definer.define(PointSpec.parse("tracepoint:sched_swich")))
                    .hasMessageContaining("did you mean sched_switch");
            List<ProbeDefinition> hidden = definer.define(PointSpec.parse("exc_page_fault"));
            assertThatThrownBy(() -> NamedProbes.open().add(kernel, hidden))
                    .hasMessageContaining("available_filter_functions");
        }
    }
}
