package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.probe.dynamic.VariableView.ViewedVariable;
import sonde.symbol.files.GivenPlaces;

/**
 * The walk from a function of the deadline scheduler to its timer, process and usage count, by the
 * DWARF of a whole kernel: answers of perf probe 6.1 for the same file, and offsets of gdb.
 */
final class KernelImageTest {
    @TempDir static Path folder;

    private static @Nullable ProbedObject kernel;

    @BeforeAll
    static void open() throws IOException, InterruptedException {
        Path packed =
                Path.of(System.getProperty("sonde.corpus", "/nowhere"))
                        .resolve("kernel/dbg61/vmlinux-dwz.zst");
        Assumptions.assumeTrue(Files.isRegularFile(packed), "the corpus has no kernel");
        Path image = folder.resolve("vmlinux");
        try {
            Process zstd =
                    new ProcessBuilder("zstd", "-qd", packed.toString(), "-o", image.toString())
                            .inheritIO()
                            .start();
            Assumptions.assumeTrue(zstd.waitFor(60, TimeUnit.SECONDS) && zstd.exitValue() == 0);
        } catch (IOException e) {
            Assumptions.abort("there is no zstd");
        }
        kernel =
                ProbedObject.kernel(
                        new GivenPlaces(List.of(), Optional.of(image), Optional.empty()));
    }

    @AfterAll
    static void close() {
        if (kernel != null) {
            kernel.close();
        }
    }

    private static ProbedObject kernel() {
        return java.util.Objects.requireNonNull(kernel);
    }

    private static List<String> made(String text) throws IOException {
        return new ProbeDefiner(kernel())
                .define(PointSpec.parse(text)).stream().map(ProbeDefinition::text).toList();
    }

    @Test
    void theFunctionIsFoundByPattern() throws IOException {
        assertThat(FunctionNames.matching(kernel(), "start_dl_t*"))
                .containsExactly("start_dl_timer");
    }

    @Test
    void linesThatTakeProbes() throws IOException {
        SourceView view = SourceView.of(kernel(), "start_dl_timer", List.of()).getFirst();
        assertThat(view.file()).endsWith("kernel/sched/deadline.c");
        assertThat(view.base()).isEqualTo(1052);
        TreeSet<Integer> lines = new TreeSet<>();
        view.rows().forEach(row -> lines.add(row.number() - view.base()));
        assertThat(lines).contains(0, 2, 16, 17, 25, 37, 38, 39).doesNotContain(5, 7, 10);
    }

    @Test
    void variablesAndWhereTheyAre() throws IOException {
        VariableView view = VariableView.of(kernel(), "start_dl_timer:16").getFirst();
        assertThat(view.code()).isEqualTo("start_dl_timer+153");
        assertThat(view.rows())
                .contains(
                        new ViewedVariable(
                                "dl_se", "struct sched_dl_entity *", "= %bx + 432", false, true),
                        new ViewedVariable("rq", "struct rq *", "%bp", false, true),
                        new ViewedVariable("act", "ktime_t", "%r12", false, true),
                        new ViewedVariable("delta", "s64", "optimised away", false, false));
    }

    @Test
    void membersAndContainers() throws IOException {
        assertThat(
                        made(
                                "start_dl_timer:16 dl_se->dl_timer.function act"
                                        + " pid=container_of(dl_se, struct task_struct, dl)->pid"
                                        + " task=container_of(dl_se, struct task_struct, dl)"
                                        + " same=p->pid"))
                .singleElement()
                .satisfies(text -> {
                    assertThat(text)
                            .startsWith(
                                    "p:probe/start_dl_timer_L16 start_dl_timer+153"
                                            + " function=+560(%bx):x64 act=%r12:s64 pid=")
                            .contains(" task=%bx:x64 ");
                    String pid = text.replaceAll(".* pid=(\\S+).*", "$1");
                    String same = text.replaceAll(".* same=(\\S+).*", "$1");
                    assertThat(pid).isEqualTo(same).endsWith("(%bx):s32");
                });
    }

    @Test
    void aSumThatCannotBeHandedOutIsRefused() {
        assertThatThrownBy(() -> made("start_dl_timer:16 timer"))
                .isInstanceOf(ProbeException.class)
                .hasMessageContaining("the sum of %bx and 520");
    }

    @Test
    void entryAndReturn() throws IOException {
        assertThat(made("start_dl_timer p->pid").getFirst())
                .startsWith("p:probe/start_dl_timer start_dl_timer ")
                .contains("(%di):s32");
        assertThat(made("start_dl_timer%return $retval"))
                .containsExactly(
                        "r:probe/start_dl_timer__return start_dl_timer retval=$retval:s32");
    }

    @Test
    void staticDataIsCountedFromTheStartOfTheKernel() throws IOException {
        assertThat(made("start_dl_timer jiffies").getFirst()).contains(" jiffies=@_text+");
        assertThatThrownBy(() -> made("start_dl_timer runqueues.nr_running"))
                .hasMessageContaining("a variable of each CPU");
    }

    @Test
    void inlinedFunctionsAreProbedWhereTheyWereInlined() throws IOException {
        List<ProbeDefinition> all =
                new ProbeDefiner(kernel()).define(PointSpec.parse("mine=dl_next_period"));
        assertThat(all).isNotEmpty().allMatch(one -> one.name().equals("mine"));
        assertThat(all).anyMatch(one -> one.note().contains("inlined in start_dl_timer"));
    }

    @Test
    void anotherKernelIsCalledSo() {
        assertThat(kernel().foreign())
                .hasValueSatisfying(why ->
                        assertThat(why)
                                .contains("the vmlinux is of build ")
                                .contains("'probe add' will refuse it"));
    }

    @Test
    void namesThatAreNotThere() {
        assertThatThrownBy(() -> made("start_dl_timmer")).hasMessageContaining("start_dl_timer");
        assertThatThrownBy(() -> made("ext4_file_write_iter iocb"))
                .hasMessageContaining("there is no function ext4_file_write_iter");
        assertThatThrownBy(() -> made("start_dl_timer:5"))
                .hasMessageContaining("line 4 and line 8 have");
        assertThatThrownBy(() -> made("start_dl_timer:16 dl"))
                .hasMessageContaining("no variable 'dl'");
    }
}
