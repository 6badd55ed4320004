package sonde.tools.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ToolWordsTest {
    private static ToolWords words(String line) throws ToolUseException {
        List<String> words = List.of(line.split(" "));
        ScriptTool tool = ScriptTool.find(words.getFirst()).orElseThrow();
        return ToolWords.of(tool, words.subList(1, words.size()));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "runqslower --min 1ms | -- --min=1000000",
                "runqslower --min=1.5us | -- --min=1500",
                "runqslower --min 1000 | -- --min=1000000",
                "runqlat --interval 5 | -- --interval=5000000000",
                "runqlat --interval 1m | -- --interval=60000000000",
                "biosnoop --slower 5ms | -- --slower=5000000",
                "biosnoop --slower 5 | -- --slower=5000000",
                "killsnoop --signal KILL | -- --signal=9",
                "sigsnoop --signal sigsegv | -- --signal=11",
                "argdist libc:malloc --of arg1 | uprobe:libc:malloc -- --of=arg1",
                "argdist libc:malloc --of retval | uretprobe:libc:malloc -- --of=retval",
                "funccount vfs_* --pid 12 | kprobe:vfs_* -- --pid=12",
                "stackcount /tmp/x:f -p12 | uprobe:/tmp/x:f -- --pid=12",
                "stackcount tracepoint:sched:* | tracepoint:sched:* --",
                "funclatency uprobe:libc:malloc | libc:malloc --",
                "funclatency vfs_read | vfs_read --",
                "profile -p 12 | 99 -- --pid=12",
                "opensnoop -xTu 0 -n cat | -- --failed --time --uid=0 --name=cat",
                "syscount -i5 -L | -- --interval=5000000000 --latency",
                "profile -F 49 | 49 -- --frequency=49",
            })
    void theScriptGetsItsOwnUnits(String line, String parameters) throws Exception {
        assertThat(String.join(" ", words(line).parameters())).isEqualTo(parameters);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "runqlat 1 3 | unexpected word '1'; did you mean --interval 1 --duration 3s?",
                "runqlat 2 | unexpected word '2'; did you mean --interval 2?",
                "opensnoop 1234 | did you mean -p 1234 or --duration 1234s?",
                "runqlen x | unexpected word 'x'",
                "funccount | usage: sonde tool funccount PROBE [options]",
                "funclatency --min 1 | usage: sonde tool funclatency FUNCTION [options]",
                "funccount a b | unexpected word 'b'",
                "funclatency tracepoint:a:b | is no function",
                "argdist f --of nothing | --of: 'nothing' is none of arg0, arg1",
                "runqlat --interval 0 | --interval 0: it counts whole seconds, 1s and more",
                "runqlat --interval 500ms | --interval 500ms: it counts whole seconds",
                "runqlat --interval=-1 | --interval: '-1' is no time; write 5s or 1m",
                "runqslower --min soon | --min: 'soon' is no time; write 500us, 10ms or 2s",
                "runqslower --min 99999999h | --min 99999999h: that is longer than a year",
                "killsnoop --signal NONE | 'NONE' is no signal",
                "opensnoop --top 5 | unknown option --top",
                "syscount --top many | --top: 'many' is no number",
                "syscount --top | --top needs a value",
                "runqlen -p 1 | -p: a run queue belongs to a CPU",
                "opensnoop -p 0 | -p 0 is no process",
                "opensnoop -p 1 -c true | -c and -p exclude each other",
                "profile -F 0 | -F 0 is not within",
                "opensnoop -F 9 | unknown option -F",
            })
    void whatItDoesNotTakeIsToldInOneLine(String line, String message) {
        assertThatThrownBy(() -> words(line))
                .isInstanceOf(ToolUseException.class)
                .hasMessageContaining(message)
                .hasMessageNotContaining("\n");
    }

    @Test
    void theProcessIsTheScriptsAffairWhereItSaysSo() throws Exception {
        assertThat(words("runqlat -p 12").tracerKeepsToPid()).isFalse();
        assertThat(words("opensnoop -p 12").tracerKeepsToPid()).isTrue();
        assertThat(words("opensnoop -p 12").parameters()).containsExactly("--");
        assertThat(words("funccount f -p 12").tracerKeepsToPid()).isTrue();
        assertThat(words("opensnoop --pid=12").pid()).hasValue(12);
    }

    @Test
    void functionsOfProgramsAndOfTheKernelHaveScriptsOfTheirOwn() throws Exception {
        assertThat(words("funclatency /tmp/x:f").variants())
                .extracting(ScriptTool.Variant::name)
                .containsExactly("funclatency.bt");
        assertThat(words("funclatency kprobe:f").variants())
                .extracting(ScriptTool.Variant::name)
                .containsExactly("funclatency.fentry.bt", "funclatency.kprobe.bt");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            nullValues = "none",
            value = {
                "funclatency /tmp/x:f | /tmp/x",
                "funccount uprobe:/tmp/x:cpp:f | /tmp/x",
                "funccount uretprobe:/tmp/*/x:f | none",
                "funccount libc:malloc | none",
                "funccount tracepoint:a:b | none",
                "runqlat | none",
            })
    void theProgramIsKnownToBeLookedFor(String line, @Nullable String program) throws Exception {
        assertThat(words(line).program().map(Path::toString).orElse(null)).isEqualTo(program);
    }

    @Test
    void helpSaysWhatAValueIs() {
        ScriptTool tool = ScriptTool.find("runqslower").orElseThrow();
        assertThat(ToolOptions.lines(tool))
                .containsExactly(
                        new ToolOptions.Line(
                                "--min TIME",
                                "only waits that long and longer (default 10ms, a bare number is"
                                        + " us)"));
        assertThat(ToolOptions.pid(tool)).isEqualTo("only threads of this process");
    }

    @Test
    void wrongNamesHaveLikeOnes() {
        assertThat(ScriptTool.like("opensnop")).hasValue("opensnoop");
        assertThat(ScriptTool.like("runqslwoer")).hasValue("runqslower");
        assertThat(ScriptTool.like("nothing")).isEmpty();
    }

    @Test
    void aLetterIsWhatItIsInOtherTools() throws Exception {
        assertThat(words("opensnoop -d 5 -x").general()).containsExactly("--duration=5");
        assertThat(words("opensnoop -d 5 -x").parameters()).containsExactly("--", "--failed");
        assertThat(words("execsnoop -x").parameters()).containsExactly("--", "--failed");
        assertThatThrownBy(() -> words("biolatency -x")).hasMessageContaining("-x");
    }

    @Test
    void objectsHaveATime() throws Exception {
        assertThat(words("opensnoop --json").parameters()).containsExactly("--", "--time");
        assertThat(words("opensnoop -f json").parameters()).containsExactly("--", "--time");
        assertThat(words("opensnoop -f text").parameters()).containsExactly("--");
        assertThat(words("exitsnoop --json").parameters()).containsExactly("--");
    }

    /** An interrupt that comes while a thread of the tracer runs is no affair of the tracer. */
    @ParameterizedTest
    @CsvSource({
        "funccount libc:malloc, true",
        "funccount tracepoint:syscalls:sys_enter_read, true",
        "funccount tracepoint:irq:*, false",
        "stackcount vfs_read, false",
        "funclatency vfs_read, false",
        "opensnoop, true",
        "opensnoop --include-self, false",
    })
    void theTracerIsLeftOutWhereAProcessIsKnown(String line, boolean leftOut) throws Exception {
        assertThat(!words(line).general().contains("--include-self")).isEqualTo(leftOut);
    }

    @Test
    void listsAreInTheOrderOfAColumn() throws Exception {
        assertThat(words("filetop --rows 5").sortedBy()).containsExactly("R_KIB", "W_KIB");
        assertThat(words("filetop --rows 5").rows()).isEqualTo(5);
        assertThat(words("biotop --sort avg").sortedBy()).containsExactly("AVG(ms)");
        assertThat(words("opensnoop").sortedBy()).isEmpty();
        assertThatThrownBy(() -> words("filetop --sort size"))
                .hasMessage("--sort: there is no column size");
    }
}
