package sonde.tools.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.tools.option.OptionException;
import sonde.tools.script.ScriptTool.ToolVariant;

class ToolArgumentsTest {
    private static ToolArguments words(String line) {
        List<String> words = List.of(line.split(" "));
        ScriptTool tool = ScriptTool.find(words.getFirst()).orElseThrow();
        return ToolArguments.of(tool, words.subList(1, words.size()));
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
                "funccount c:malloc | uprobe:c:malloc --",
                "funccount p:c:malloc | uprobe:c:malloc --",
                "funccount r:c:malloc | uretprobe:c:malloc --",
                "funccount p::vfs_read | kprobe:vfs_read --",
                "funccount r:vfs_read | kretprobe:vfs_read --",
                "funccount p:hz:99 | p:hz:99 --",
                "funccount t:sched:sched_switch | t:sched:sched_switch --",
                "funclatency p:/tmp/x:f | /tmp/x:f --",
                "argdist r:c:malloc | uretprobe:c:malloc -- --of=retval",
                "bindsnoop -EtwP 80 | -- --port=80",
                "funccount vfs_* --pid 12 | kprobe:vfs_* -- --pid=12",
                "stackcount /tmp/x:f -p12 | uprobe:/tmp/x:f -- --pid=12",
                "stackcount tracepoint:sched:* | tracepoint:sched:* --",
                "funclatency uprobe:libc:malloc | libc:malloc --",
                "funclatency vfs_read | vfs_read --",
                "profile -p 12 | 99 -- --pid=12",
                "opensnoop -xTu 0 -n cat | -- --failed --uid=0 --name=cat",
                "opensnoop -u root -t 12 | -- --uid=0 --tid=12",
                "opensnoop --flag O_WRONLY,O_TRUNC | -- --flag=513",
                "opensnoop --flag creat | -- --flag=64",
                "execsnoop -xl cc --max-args 3 | -- --failed --line=cc --max-args=3",
                "killsnoop -x -T 12 -s KILL | -- --failed --target=12 --signal=9",
                "syscount -e ENOENT -T 5 | -- --errno=2 --top=5",
                "syscount --syscall read -P | -- --syscall=0 --processes",
                "tcplife -4 -L 80 -D 443 | -- --ipv4 --lport=80 --rport=443",
                "tcpconnect -6 -P 80,443 | -- --ipv6 --port=80",
                "offcputime -m 10 -M 1s --state D | -- --min=10000 --max=1000000000 --state=2",
                "offcputime -K -u | -- --kernel --user-threads",
                "runqlat -PT 1 3 | -- --processes --interval=1000000000 --lists=3",
                "runqlat -mL | -- --threads",
                "runqslower 100 | -- --min=100000",
                "fileslower -a 5 | -- --all --slower=5000000",
                "runqlen -OC | -- --occupancy --cpus",
                "biotop -C -r 5 2 | -- --rows=5 --interval=2000000000",
                "memleak -z 16 -Z 64 -s 10 -T 3 5 2 | -- --least=16 --most=64 --sample=10 --top=3"
                        + " --interval=5000000000 --lists=2",
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
                "runqlat 1 3 5 | unexpected word '5'",
                "runqlat --lists 5 | --lists needs --interval: the time between two lists",
                "opensnoop -u nobody-has-this-name | is no user; write 1000 or a name",
                "syscount -e ENOTHING | 'ENOTHING' is no errno; write 2 or ENOENT",
                "syscount --syscall nothing | 'nothing' is no syscall; write 0 or read",
                "opensnoop -f O_WRONLY | -f O_WRONLY: it is the format, text, csv or json; --flag",
                "profile -f 5 | -f 5: it is the format, text, csv, json or folded; --folded folds",
                "runqlat --map-keys 0 | --map-keys 0 is not within 1..",
                "opensnoop -m | unknown option -m",
                "tcpconnect -P 80,x | --port: '80,x' is not a number, and no list like 80,443",
                "tcpconnect -c | -c needs a value; --count counts",
                "execsnoop -p 5,6 | -p: execsnoop takes one process",
                "profile -p 5,x | -p 5,x is not a process",
                "biosnoop -d sda | -d sda: that is not a time; --disk is a disk",
                "hardirqs -d | -d needs a value; --histograms shows them",
                "opensnoop 1234 | did you mean -p 1234 or --duration 1234s?",
                "runqlen x | unexpected word 'x'",
                "funccount | usage: sonde tool funccount PROBE [options]",
                "funclatency --min 1 | usage: sonde tool funclatency FUNCTION [options]",
                "funccount a b | unexpected word 'b'",
                "funclatency tracepoint:a:b | is not a function",
                "argdist f --of nothing | --of: 'nothing' is none of arg0, arg1",
                "runqlat --interval 0 | --interval 0: it counts whole seconds, 1s and more",
                "runqlat --interval 500ms | --interval 500ms: it counts whole seconds",
                "runqlat --interval=-1 | --interval: '-1' is not a time; write 5s or 1m",
                "runqslower --min soon | --min: 'soon' is not a time; write 500us, 10ms or 2s",
                "runqslower --min 99999999h | --min 99999999h: that is longer than a year",
                "killsnoop --signal NONE | 'NONE' is no signal",
                "funccount -r ^vfs | unknown option -r; patterns have *: 'vfs_*'",
                "tcplife -s | unknown option -s; -f csv separates by commas",
                "biolatency -j | unknown option -j; --json writes objects",
                "opensnoop --faild | unknown option --faild; did you mean '--failed'?",
                "opensnoop --verbos | unknown option --verbos; did you mean '--verbose'?",
                "profile -c 1000 | -c 1000: that is no command; --frequency N says how often",
                "stackcount f -c 1 | -c 1: that is no command; --cpu N is a CPU",
                "tcpconnect -c -d 3 | -c -d: that is no command; --count counts",
                "memleak -o 500 | -o 500: it is the file to print to; --older 500ms is an age",
                "memleak -o -p 5 | -o -p: that is not a file; --older TIME is an age",
                "tcpconnect -P 70000 | --port 70000: the greatest there can be is 65535",
                "tcplife -D 80,65536 | --rport 80,65536: the greatest there can be is 65535",
                "bindsnoop --port 99999 | --port 99999: the greatest there can be is 65535",
                "opensnoop --top 5 | unknown option --top",
                "syscount --top many | --top: 'many' is not a number",
                "syscount --top | --top needs a value",
                "runqlen -p 1 | -p: a run queue belongs to a CPU",
                "opensnoop -p 0 | -p 0 is not a process",
                "opensnoop -p 1 -c true | -c and -p exclude each other",
                "profile -F 0 | -F 0 is not within",
                "opensnoop -F 9 | unknown option -F",
                "opensnoop --duration soon | --duration: 'soon' is not a time",
                "opensnoop --format yaml | --format: 'yaml' is none of text, csv, json",
                "opensnoop --json=5 | --json takes no value",
            })
    void whatItDoesNotTakeIsToldInOneLine(String line, String message) {
        assertThatThrownBy(() -> words(line))
                .isInstanceOf(OptionException.class)
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
                .extracting(ToolVariant::name)
                .containsExactly("funclatency.bt");
        assertThat(words("funclatency kprobe:f").variants())
                .extracting(ToolVariant::name)
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
        assertThat(options(tool))
                .contains(
                        "--min TIME | show only waits of at least this time (default 10ms, a bare number"
                                + " is us)",
                        "-t, --tid N,... | show only this thread");
        assertThat(ToolModel.pid(tool)).isEqualTo("show only threads of this process");
        assertThat(options(ScriptTool.find("opensnoop").orElseThrow()))
                .contains(
                        "-u, --uid USER | show only this user, by number or name",
                        "-U, --print-uid | show the user number");
    }

    private static List<String> options(ScriptTool tool) {
        return ToolModel.own(tool).stream().map(one -> one.head() + " | " + one.help()).toList();
    }

    @Test
    void wrongNamesHaveLikeOnes() {
        assertThat(ScriptTool.like("opensnop")).hasValue("opensnoop");
        assertThat(ScriptTool.like("runqslwoer")).hasValue("runqslower");
        assertThat(ScriptTool.like("nothing")).isEmpty();
    }

    @Test
    void aLetterIsWhatItIsInOtherTools() throws Exception {
        assertThat(words("opensnoop -d 5 -x").general().texts("--duration")).containsExactly("5");
        assertThat(words("opensnoop -d 5 -x").parameters()).containsExactly("--", "--failed");
        assertThat(words("execsnoop -x").parameters()).containsExactly("--", "--failed");
        assertThatThrownBy(() -> words("biolatency -x")).hasMessageContaining("-x");
    }

    @Test
    void columnsAreShownWhenTheyAreAskedFor() throws Exception {
        assertThat(words("opensnoop").rowStyle().hidden())
                .containsExactlyInAnyOrder("TIME", "UID", "TID", "FLAGS");
        assertThat(words("opensnoop -eTU").rowStyle().hidden()).containsExactly("TID");
        assertThat(words("opensnoop --time").parameters()).containsExactly("--");
        assertThat(words("exitsnoop -t").rowStyle().hidden()).isEmpty();
    }

    @Test
    void aListTakesThePlaceOfAnother() throws Exception {
        assertThat(words("biotop").rowStyle().clears()).isTrue();
        assertThat(words("biotop -C").rowStyle().clears()).isFalse();
        assertThat(words("syscount").rowStyle().clears()).isFalse();
    }

    /** The script of another unit says so itself. */
    @Test
    void timesAreInTheUnitAskedFor() throws Exception {
        assertThat(words("runqlat -m").variants().getFirst().text())
                .contains("(ms)", "@ms_of", "/ 1ms")
                .doesNotContain("@us", "(us)");
        assertThat(words("softirqs -N").rowStyle().sortedBy()).containsExactly("TOTAL(ns)");
        assertThat(words("funclatency f -u").variants().getFirst().text()).contains("@us", "/ 1us");
    }

    @Test
    void severalNumbersAreAskedFor() throws Exception {
        assertThat(words("tcplife -D 80,443").variants().getFirst().text())
                .contains("(remote == 80 || remote == 443)", "remote == getopt(\"port\", 0)");
        assertThat(words("runqlat -t 5,6").variants().getFirst().text())
                .contains("($task.pid == 5 || $task.pid == 6)");
        ToolArguments profile = words("profile -p 5,6");
        assertThat(profile.pids()).containsExactly(5, 6);
        assertThat(profile.pid()).as("it ends with none of them").isEmpty();
        assertThat(profile.variants().getFirst().text()).contains("(pid == 5 || pid == 6)");
        assertThat(words("runqlat -p 5,6").variants().getFirst().text())
                .contains("($task.tgid == 5 || $task.tgid == 6)");
        assertThat(words("tcplife -p 5,6").variants().getFirst().text())
                .contains("($who.0 == 5 || $who.0 == 6)");
        assertThat(words("biopattern -p 5,6").variants().getFirst().text())
                .contains("has_cpid || (pid == 5 || pid == 6))/");
        assertThat(words("profile -p 5").pid()).hasValue(5);
    }

    @Test
    void wordsWithoutAnOptionAreTheUsualOnes() throws Exception {
        assertThat(words("profile -F 49 10").general().texts("--duration")).containsExactly("10");
        assertThat(words("stackcount f -D 3").general().texts("--duration")).contains("3");
        assertThat(ToolModel.words(ScriptTool.find("runqlat").orElseThrow()))
                .isEqualTo(" [INTERVAL [LISTS]]");
        assertThat(words("memleak --map-keys 100").mapKeys()).hasValue(100);
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
        assertThat(!words(line).general().has("--include-self")).isEqualTo(leftOut);
    }

    @Test
    void listsAreInTheOrderOfAColumn() throws Exception {
        assertThat(words("filetop --rows 5").rowStyle().sortedBy())
                .containsExactly("R_KIB", "W_KIB");
        assertThat(words("filetop --rows 5").rowStyle().rows()).isEqualTo(5);
        assertThat(words("stackcount f --sort -value").general().text("--sort"))
                .isEqualTo("-value");
        assertThat(words("biotop --sort avg").general().has("--sort")).isFalse();
        assertThat(words("biotop --sort avg").rowStyle().sortedBy()).containsExactly("AVG(ms)");
        assertThat(words("opensnoop").rowStyle().sortedBy()).isEmpty();
        assertThatThrownBy(() -> words("filetop --sort size"))
                .hasMessage(
                        "--sort: there is no column size; there are time, pid, comm, reads,"
                                + " writes, r_kib, w_kib, file");
    }
}
