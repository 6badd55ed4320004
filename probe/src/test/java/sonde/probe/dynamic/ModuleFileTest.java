package sonde.probe.dynamic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import sonde.probe.dynamic.SourceView.ViewedLine;
import sonde.probe.dynamic.VariableView.ViewedVariable;
import sonde.symbol.files.GivenPlaces;

/** The file of a kernel module with debugging information, by its path: as perf probe answers. */
final class ModuleFileTest {
    private static ProbedObject module(String name) throws IOException {
        Path file =
                Path.of(System.getProperty("sonde.corpus", "/nowhere"))
                        .resolve("kernel/dbg61/modules/" + name);
        Assumptions.assumeTrue(Files.isRegularFile(file), "the corpus has no modules");
        return ProbedObject.module(file.toString(), GivenPlaces.NONE);
    }

    private static List<String> made(ProbedObject module, String text) throws IOException {
        return new ProbeDefiner(module)
                .define(PointSpec.parse(text)).stream().map(ProbeDefinition::text).toList();
    }

    @Test
    void placesCountFromSymbolsOfTheModule() throws IOException {
        try (ProbedObject module = module("sondebug.ko")) {
            assertThat(made(module, "deep n"))
                    .containsExactly("p:probe/deep sondebug:deep.constprop.0 n=%di:s32");
            assertThat(made(module, "kt_wait%return $retval"))
                    .containsExactly("r:probe/kt_wait__return sondebug:kt_wait retval=$retval:s32");
        }
    }

    @Test
    void linesAndVariables() throws IOException {
        try (ProbedObject module = module("lkdtm.ko")) {
            SourceView view = SourceView.of(module, "direct_entry", List.of()).getFirst();
            assertThat(view.file()).endsWith("drivers/misc/lkdtm/core.c");
            TreeSet<Integer> lines = new TreeSet<>();
            view.rows().stream()
                    .filter(ViewedLine::hasCode)
                    .forEach(row -> lines.add(row.number() - view.base()));
            assertThat(lines).contains(0, 2, 8, 11, 31).doesNotContain(5, 7, 10);
            VariableView entry = VariableView.of(module, "direct_entry").getFirst();
            assertThat(entry.code()).isEqualTo("direct_entry");
            assertThat(entry.rows())
                    .contains(new ViewedVariable("f", "struct file *", "%di", true, true));
        }
    }

    @Test
    void codeOfAnotherKernelIsNotProbed() throws IOException {
        try (ProbedObject module = module("sondebug.ko")) {
            List<ProbeDefinition> all = new ProbeDefiner(module).define(PointSpec.parse("kt_wait"));
            assertThat(all)
                    .extracting(ProbeDefinition::note)
                    .containsExactly("begins when sondebug is loaded");
            assertThatThrownBy(() -> ProbeCheck.check(module))
                    .hasMessageContaining("is of kernel 6.1.192-sonde-dbg");
            ProbeDefiner tracer = new ProbeDefiner(module).byFunctionTracer();
            assertThatThrownBy(() -> tracer.define(PointSpec.parse("kt_wait")))
                    .hasMessageContaining("is not loaded");
            assertThatThrownBy(() -> made(module, "kt_wat"))
                    .hasMessageContaining("did you mean kt_wait");
        }
    }
}
