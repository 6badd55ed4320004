package sonde.tools.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.lang.bpftrace.syntax.ScriptParser;
import sonde.lang.source.CompilerDiagnostics;
import sonde.tools.option.OptionModel;
import sonde.tools.script.ScriptTool.ToolVariant;

class ScriptToolTest {
    @Test
    void unknownNamesAreNoTools() {
        assertThat(ScriptTool.find("nosuchtool")).isEmpty();
        assertThat(ScriptTool.find("../../script/opensnoop")).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("sonde.tools.script.ScriptTool#names")
    void everyToolSaysWhatItIsAndParses(String name) {
        ScriptTool tool = ScriptTool.find(name).orElseThrow();
        assertThat(tool.summary()).isNotEmpty().hasSizeLessThan(80);
        assertThat(tool.examples()).isNotEmpty().allMatch(one -> one.startsWith(name));
        for (ToolVariant variant : tool.variants()) {
            CompilerDiagnostics diagnostics = new CompilerDiagnostics();
            ScriptParser.parse(variant.source(), diagnostics);
            assertThat(diagnostics.all()).as(variant.name()).isEmpty();
        }
        assertThat(tool.options()).allMatch(option -> !option.help().isEmpty());
    }

    @ParameterizedTest
    @MethodSource("sonde.tools.script.ScriptTool#names")
    void everyToolHasAPageWithItsOptions(String name) throws Exception {
        Path page = Path.of("../docs/tools/" + name + ".md");
        String text = Files.readString(page);
        assertThat(text)
                .startsWith("# " + name + ": ")
                .contains("## Columns", "## Options", "## Example", "## How it works");
        for (OptionModel option : ToolModel.own(ScriptTool.find(name).orElseThrow())) {
            assertThat(text).contains(option.head().replaceFirst("^(-., )+", "| `"), option.help());
        }
    }

    /** A conversion without {@code l} cuts counts, sectors, sizes and addresses to 32 bits. */
    @ParameterizedTest
    @MethodSource("sonde.tools.script.ScriptTool#names")
    void noToolCutsNumbersTo32Bits(String name) {
        for (ToolVariant variant : ScriptTool.find(name).orElseThrow().variants()) {
            assertThat(variant.text()).doesNotContainPattern("(?<!%)%[-#0 +]*[0-9]*[dixu]");
        }
    }

    /** What came after the last interval is shown at the end. */
    @ParameterizedTest
    @MethodSource("sonde.tools.script.ScriptTool#names")
    void toolsOfIntervalsShowTheirLast(String name) {
        for (ToolVariant variant : ScriptTool.find(name).orElseThrow().variants()) {
            boolean lists = variant.text().contains("due(@");
            boolean shows = variant.text().matches("(?s).*\\n(END|end) \\{[^}]*unlisted\\(@.*");
            assertThat(shows).as(name).isEqualTo(lists);
        }
    }

    /** Whoever prints headings prints rows, and says so. */
    @ParameterizedTest
    @MethodSource("sonde.tools.script.ScriptTool#names")
    void toolsOfRowsAreKnown(String name) {
        ScriptTool tool = ScriptTool.find(name).orElseThrow();
        boolean headings = tool.variants().getFirst().text().matches("(?s).*\"[A-Z]{3,}\", \"?.*");
        assertThat(tool.rules().rows()).isEqualTo(headings);
    }

    /** The tracer is left out, and {@code -c} holds, wherever there are processes. */
    @ParameterizedTest
    @MethodSource("sonde.tools.script.ScriptTool#names")
    void toolsOfProcessesAskWhomTheyWatch(String name) {
        ScriptTool tool = ScriptTool.find(name).orElseThrow();
        boolean ofProcesses = tool.rules().withoutPid().isEmpty();
        for (ToolVariant variant : tool.variants()) {
            assertThat(variant.text().contains("watched(")).isEqualTo(ofProcesses);
        }
    }
}
