package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.symbol.files.GivenPlaces;

/**
 * Kernel functions with the types of BTF alone: arguments at entry, members, containers, returns.
 * Runs in the guests, whose kernels have kprobes.
 */
@Tag("kernel")
final class DeadlineTimerKernelTest {
    @BeforeEach
    void needsKernelProbes() {
        Assumptions.assumeTrue(TraceText.hasKernelProbes(), "this kernel has no kprobes");
    }

    private static List<Map<String, String>> recorded(List<String> specs, List<String> command)
            throws Exception {
        return KernelProbes.recorded(
                KernelProbes::kernel, UnaryOperator.identity(), specs, command);
    }

    @Test
    void membersAndTextsOfArguments() throws Exception {
        // vfs_open(const struct path *path, struct file *file)
        List<Map<String, String>> seen =
                recorded(
                        List.of(
                                "vfs_open name=path->dentry->d_name.name:string" + " file->f_flags",
                                "vfs_open%return r=$retval"),
                        List.of("/bin/cat", "/proc/version"));
        assertThat(seen)
                .anySatisfy(one ->
                        assertThat(one)
                                .containsEntry("event", "vfs_open")
                                .containsEntry("name", "version"));
        assertThat(seen)
                .anySatisfy(one ->
                        assertThat(one)
                                .containsEntry("event", "vfs_open__return")
                                .containsEntry("r", "0"));
    }

    @Test
    void containerOfFindsTheProcess() throws Exception {
        // pid through a member's address is the pid through the structure's.
        List<Map<String, String>> seen =
                recorded(
                        List.of(
                                "wake_up_new_task p->pid usage=p->usage.refs.counter"
                                        + " again=container_of(&p->dl, struct task_struct, dl)->pid"
                                        + " comm=p->comm"),
                        List.of("/bin/sh", "-c", "/bin/true; /bin/true"));
        assertThat(seen)
                .isNotEmpty()
                .allSatisfy(one -> {
                    assertThat(one.get("pid")).isEqualTo(one.get("again"));
                    assertThat(Integer.parseInt(one.get("pid"))).isPositive();
                    assertThat(Integer.parseInt(one.get("usage"))).isPositive();
                });
    }

    @Test
    void theTimerOfTheDeadlineScheduler() throws Exception {
        // 6.1: start_dl_timer(struct task_struct *p); since 6.8: (struct sched_dl_entity *dl_se)
        String release =
                java.nio.file.Files.readString(java.nio.file.Path.of("/proc/sys/kernel/osrelease"));
        boolean old = release.startsWith("6.1.");
        String entity = old ? "(&p->dl)" : "dl_se";
        List<Map<String, String>> seen =
                recorded(
                        List.of(
                                "start_dl_timer function="
                                        + entity
                                        + "->dl_timer.function:symbol"
                                        + " pid=container_of("
                                        + entity
                                        + ", struct task_struct, dl)->pid"
                                        + " usage=container_of("
                                        + entity
                                        + ", struct task_struct, dl)->usage.refs.counter"),
                        List.of(
                                "/bin/sh",
                                "-c",
                                "chrt -d -T 1000000 -D 5000000 -P 5000000 0 sh -c"
                                        + " 'i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done'"
                                        + " || true"));
        Assumptions.assumeFalse(seen.isEmpty(), "nothing ran under the deadline scheduler");
        assertThat(seen)
                .allSatisfy(one -> assertThat(one.get("function")).startsWith("dl_task_timer"));
        assertThat(seen).anySatisfy(one -> assertThat(one.get("pid")).isEqualTo(one.get("tid")));
    }

    @Test
    void whatIsNotThereIsSaid() throws IOException {
        try (ProbedObject kernel = ProbedObject.kernel(GivenPlaces.NONE)) {
            ProbeDefiner definer = new ProbeDefiner(kernel);
            assertThatThrownBy(() -> definer.define(PointSpec.parse("wake_up_new_task p->pidd")))
                    .hasMessageContaining("did you mean pid?");
            assertThatThrownBy(() -> definer.define(PointSpec.parse("wake_up_new_task q")))
                    .hasMessageContaining("no parameter 'q'; did you mean p");
            assertThatThrownBy(() -> definer.define(PointSpec.parse("wake_up_new_tas")))
                    .hasMessageContaining("wake_up_new_task");
            assertThatThrownBy(() -> definer.define(PointSpec.parse("wake_up_new_task:3")))
                    .hasMessageContaining("no debugging information");
        }
    }
}
