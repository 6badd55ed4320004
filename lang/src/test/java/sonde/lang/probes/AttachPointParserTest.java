package sonde.lang.probes;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.lang.probes.AttachPoint.AttachTarget;
import sonde.lang.probes.AttachPoint.AttachTarget.CounterPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.EventPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.IteratorPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.KernelFunctionPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.MarkerPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.MemoryPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.NamedPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.NoPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.SignalPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.SourceLinePlace;
import sonde.lang.probes.AttachPoint.AttachTarget.TimePlace;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.source.CompilerDiagnostics;

/** Every form of attach points, and what is said of those that are none. */
final class AttachPointParserTest {
    private static final ParseSettings UNSAFE =
            new ParseSettings(List.of(), OptionalInt.empty(), true);

    @Test
    void kindsByAllTheirNames() {
        for (Kind kind : Kind.values()) {
            assertThat(Kind.of(kind.longName())).isEqualTo(kind);
            assertThat(Kind.of(kind.shortName())).isEqualTo(kind);
            for (String name : kind.names()) {
                assertThat(Kind.of(name)).isEqualTo(kind);
            }
        }
        assertThat(Kind.of("BEGIN")).isEqualTo(Kind.BEGIN);
        assertThat(Kind.of("End")).isEqualTo(Kind.END);
        assertThat(Kind.of("KProbe")).isEqualTo(Kind.KPROBE);
        assertThat(Kind.of("u")).isEqualTo(Kind.UPROBE);
        assertThat(Kind.of("U")).isEqualTo(Kind.USDT);
        assertThat(Kind.of("kretfunc")).isEqualTo(Kind.FEXIT);
        assertThat(Kind.of("kp")).isNull();
    }

    @Test
    void everyKindIsInTheTableOfTheGuide() throws IOException {
        Path guide = Path.of(System.getProperty("sonde.root", ".."), "docs", "language.md");
        String rows =
                Files.readAllLines(guide).stream()
                        .filter(line -> line.startsWith("| `"))
                        .collect(Collectors.joining("\n"));
        assertThat(Kind.values())
                .filteredOn(kind -> !rows.contains("`" + kind.longName()))
                .as("kinds of probes that docs/language.md lacks in its table")
                .isEmpty();
    }

    @Test
    void thoseThatTheTracerRuns() {
        assertThat(Points.parse("BEGIN").place()).isEqualTo(new NoPlace());
        assertThat(Points.parse("end:*").kind()).isEqualTo(Kind.END);
        assertThat(Points.parse("self:signal:SIGUSR1").place())
                .isEqualTo(new SignalPlace("SIGUSR1"));
        assertThat(Points.parse("test:okay").place()).isEqualTo(new NamedPlace("okay"));
        assertThat(Points.parse("BENCH:\"a:b\"").place()).isEqualTo(new NamedPlace("a:b"));
    }

    @ParameterizedTest
    @CsvSource({
        "interval:s:1, s, 1, 1000000000",
        "i:ms:100, ms, 100, 100000000",
        "interval:us:5, us, 5, 5000",
        "interval:1s, us, 1000000, 1000000000",
        "interval:100ms, us, 100000, 100000000",
        "interval:1000000000, us, 1000000, 1000000000",
        "p:hz:99, hz, 99, 0",
        "profile:s:1e1, s, 10, 10000000000",
        "profile:1us, us, 1, 1000",
    })
    void clocks(String text, String unit, long count, long nanos) {
        AttachTarget place = Points.parse(text).place();
        assertThat(place).isEqualTo(new TimePlace(unit, count));
        assertThat(((TimePlace) place).nanos()).isEqualTo(nanos);
    }

    @Test
    void counters() {
        assertThat(Points.parse("software:faults:100").place())
                .isEqualTo(new CounterPlace("faults", 100));
        assertThat(Points.parse("s:cpu-clock").place()).isEqualTo(new CounterPlace("cpu-clock", 0));
        assertThat(Points.parse("hardware:cache-misses:1e6").place())
                .isEqualTo(new CounterPlace("cache-misses", 1_000_000));
        assertThat(Points.parse("h:cycles:*").place()).isEqualTo(new CounterPlace("cycles", 0));
    }

    @Test
    void placesInTheKernel() {
        assertThat(Points.parse("t:syscalls:sys_enter_*").place())
                .isEqualTo(new EventPlace("syscalls", "sys_enter_*"));
        assertThat(Points.parse("tracepoint:*open*").place())
                .isEqualTo(new EventPlace("*", "*open*"));
        assertThat(Points.parse("rt:sys_exit").place())
                .isEqualTo(new AttachTarget.RawEvent("*", "sys_exit"));
        assertThat(Points.parse("rawtracepoint:vmlinux:sys_exit").place())
                .isEqualTo(new AttachTarget.RawEvent("vmlinux", "sys_exit"));
        assertThat(Points.parse("kprobe:vfs_read+0x10").place())
                .isEqualTo(new KernelFunctionPlace("", "vfs_read", 16, 0));
        assertThat(Points.parse("k:kvm:x86_emulate_insn").place())
                .isEqualTo(new KernelFunctionPlace("kvm", "x86_emulate_insn", 0, 0));
        assertThat(Points.parse("kprobe:0x12345678", UNSAFE).place())
                .isEqualTo(new KernelFunctionPlace("", "", 0, 0x12345678));
        assertThat(Points.parse("kfunc:tcp_reset").place())
                .isEqualTo(new KernelFunctionPlace("", "tcp_reset", 0, 0));
        assertThat(Points.parse("fr:bpf:name").place())
                .isEqualTo(new AttachTarget.BpfFunction(0, "name"));
        assertThat(Points.parse("f:bpf:12:name*").place())
                .isEqualTo(new AttachTarget.BpfFunction(12, "name*"));
        assertThat(Points.parse("it:task").place()).isEqualTo(new IteratorPlace("task", ""));
        assertThat(Points.parse("iter:task_file:/sys/fs/bpf/files").place())
                .isEqualTo(new IteratorPlace("task_file", "/sys/fs/bpf/files"));
        assertThat(Points.parse("w:0x1000:8:wr").place())
                .isEqualTo(new MemoryPlace(0x1000, 8, "rw"));
    }

    @Test
    void placesInFiles() {
        assertThat(Points.parse("uprobe:/bin/bash:\"echo_builtin\"+8").place())
                .isEqualTo(new AttachTarget.UserFunction("/bin/bash", false, "echo_builtin", 8, 0));
        assertThat(Points.parse("u:libc:0x1234").place())
                .isEqualTo(new AttachTarget.UserFunction("libc", false, "", 0, 0x1234));
        assertThat(Points.parse("uprobe:/x:cpp:\"a::b(int)\"").place())
                .isEqualTo(new AttachTarget.UserFunction("/x", true, "a::b(int)", 0, 0));
        assertThat(Points.parse("uprobe:/x:cpp:\"a::operator+(a)\"").place())
                .isEqualTo(new AttachTarget.UserFunction("/x", true, "a::operator+(a)", 0, 0));
        assertThat(Points.parse("uprobe:/bin/bash@readline.c:362").place())
                .isEqualTo(new SourceLinePlace("/bin/bash", "readline.c", 362, 0));
        assertThat(Points.parse("uprobe:\"/bin/bash\"@\"d/e.c\":\"362\":5").place())
                .isEqualTo(new SourceLinePlace("/bin/bash", "d/e.c", 362, 5));
        assertThat(Points.parse("usdt:/root/tick:loop").place())
                .isEqualTo(new MarkerPlace("/root/tick", "", "loop"));
        assertThat(Points.parse("usdt:./x:test:\"\\\"probe1\\\"\"").place())
                .isEqualTo(new MarkerPlace("./x", "test", "\"probe1\""));
        assertThat(Points.parse("usdt::tracetest:*").place())
                .isEqualTo(new MarkerPlace("", "tracetest", "*"));
    }

    @Test
    void aProcessStandsForItsFile() {
        ParseSettings process = new ParseSettings(List.of(), OptionalInt.of(7), false);
        assertThat(Points.parse("uprobe:main", process).place())
                .isEqualTo(new AttachTarget.UserFunction("/proc/7/exe", false, "main", 0, 0));
        assertThat(Points.parse("uprobe:cpp:main", process).place())
                .isEqualTo(new AttachTarget.UserFunction("/proc/7/exe", true, "main", 0, 0));
        assertThat(Points.parse("usdt:*", process).place()).isEqualTo(new MarkerPlace("", "", "*"));
    }

    @Test
    void namesAndParameters() {
        AttachPoint named = Points.parse("mine=kprobe:f");
        assertThat(named.userName()).isEqualTo("mine");
        assertThat(named.kind()).isEqualTo(Kind.KPROBE);
        ParseSettings two =
                new ParseSettings(List.of("vfs_read", "/bin/sh:main"), OptionalInt.empty(), false);
        assertThat(Points.parse("kprobe:$1", two).place())
                .isEqualTo(new KernelFunctionPlace("", "vfs_read", 0, 0));
        assertThat(Points.parse("uprobe:$2", two).place())
                .isEqualTo(new AttachTarget.UserFunction("/bin/sh", false, "main", 0, 0));
        assertThat(Points.parse("kprobe:\"$1\"", two).place())
                .isEqualTo(new KernelFunctionPlace("", "$1", 0, 0));
        assertThat(Points.error("kprobe:f$x", two))
                .isEqualTo(
                        "invalid trailing character for positional param: x. Try quoting this"
                                + " entire part if this is intentional e.g. \"$x\".");
        ParseSettings loop = new ParseSettings(List.of("$1"), OptionalInt.empty(), false);
        assertThat(Points.error("kprobe:$1", loop))
                .isEqualTo("positional parameter is not valid: 1");
    }

    @Test
    void aPatternOfKinds() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        String text = "*:./program:x*";
        List<AttachPoint> points =
                AttachPointParser.parseEach(
                        Points.span(text), text, ParseSettings.PLAIN, diagnostics);
        assertThat(points).extracting(AttachPoint::kind).containsExactly(Kind.UPROBE, Kind.USDT);
        String kernel = "*ware:cycles";
        assertThat(
                        AttachPointParser.parseEach(
                                Points.span(kernel),
                                kernel.replace("*", "hard*"),
                                ParseSettings.PLAIN,
                                diagnostics))
                .extracting(AttachPoint::kind)
                .containsExactly(Kind.HARDWARE);
        assertThat(diagnostics.all()).isEmpty();
    }

    @Test
    void anEmptyTextIsNothing() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        assertThat(AttachPointParser.parse(Points.span(""), "", diagnostics)).isNull();
        assertThat(diagnostics.all()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " ## ",
            quoteCharacter = '`',
            value = {
                "nope:f ## Invalid probe type: nope",
                "zz*:f ## No probe type matched for zz*",
                "vfs_* ## No probe type matched for vfs_*",
                "begin:x ## begin probe type requires 0 arguments, found 1",
                "self:signal ## self probe type requires 2 arguments, found 1",
                "self:signal:sighup ## sighup is not a supported signal",
                "self:keypress:space ## keypress is not a supported trigger",
                "test ## test probe type requires 1 arguments, found 0",
                "bench: ## bench probes must have a name",
                "kprobe ## kprobe probe type requires 1 or 2 arguments, found 0",
                "kprobe:a:b:c ## kprobe probe type requires 1 or 2 arguments, found 3",
                "kprobe: ## kprobes should be attached to a function or an address",
                "kprobe:0x12345678 ## Probing by address requires --unsafe",
                "kprobe:f+1+2 ## Cannot take more than one offset",
                "kprobe:f+ ## Invalid offset",
                "kprobe:f+x ## Invalid offset: invalid integer: x",
                "kprobe:f+1q ## Invalid offset: invalid trailing bytes: 1q",
                "kretprobe:f+1 ## Offset not allowed",
                "uretprobe:/bin/sh:f+1 ## Offset not allowed",
                "uprobe:f ## uprobe probe type requires 2 or 3 arguments, found 1",
                "uprobe::f ## uprobe should have a target",
                "uprobe:/bin/sh: ## uprobe should be attached to a function and/or address",
                "uprobe:/bin/sh:nolang:f ## unsupported language type: nolang",
                "uprobe:/bin/*:0x10 ## Cannot use wildcards with absolute address",
                "uretprobe:/bin/sh@a.c:1 ## Source code location not allowed",
                "uprobe:*@a.c:1 ## Cannot use wildcards with source code location",
                "uprobe:/bin/sh@ ## Invalid uprobe arguments, expected format:"
                        + " uprobe:TARGET@FILE:LINE[:COL]",
                "uprobe:/bin/sh@:195 ## Invalid uprobe arguments, expected format:"
                        + " uprobe:TARGET@FILE:LINE[:COL]",
                "uprobe:/bin/sh@a.c:x ## Invalid line number: invalid integer: x",
                "uprobe:/bin/sh@a.c:1: ## Invalid column number: a number is missing",
                "uprobe:@main.c:123 ## Unspecified target binary, cannot attach by source code"
                        + " location.",
                "usdt:x ## usdt probe type requires 2 or 3 arguments, found 1",
                "usdt:/bin/sh: ## usdt probe must have a target function or wildcard",
                "tracepoint:a ## tracepoint probe type requires 2 arguments, found 1",
                "tracepoint:a: ## tracepoint probe must have a target",
                "rawtracepoint ## rawtracepoint probe type requires 2 or 1 arguments, found 0",
                "rawtracepoint: ## rawtracepoint should be attached to a function",
                "profile ## profile probe type requires 1 or 2 arguments, found 0",
                "profile:hz: ## Invalid rate of profile probe: a number is missing",
                "profile:ns:1 ## ns is not an accepted unit of time; there are hz, ms, s, us",
                "interval::1 ## interval probe must have unit of time",
                "interval:s:0 ## interval frequency should be a positive integer",
                "interval:s:18446744073709551615 ## interval frequency should be a positive"
                        + " integer",
                "interval:999 ## Invalid rate of interval probe. Minimum is 1000 or 1us."
                        + " Found: 999 nanoseconds",
                "interval:1x ## Invalid rate of interval probe: invalid trailing bytes: 1x",
                "software: ## software probe must have a software event name",
                "software:nope ## nope is not a software probe",
                "software:c* ## wildcards are not allowed for software probe type",
                "software:cpu:x ## Invalid count for software probe: invalid integer: x",
                "hardware:nope:1 ## nope is not a hardware probe",
                "watchpoint:1:8 ## watchpoint probe type requires 3 arguments, found 2",
                "watchpoint:f:8:w ## Invalid function/address argument: invalid integer: f",
                "watchpoint:1:x:w ## Invalid length argument: invalid integer: x",
                "watchpoint:0x0:8:rw ## watchpoint must be attached to a non-zero address",
                "watchpoint:0x1234:9:rw ## watchpoint length must be one of (1,2,4,8)",
                "watchpoint:0x1234:8: ## watchpoint mode must be combination of (r,w,x)",
                "watchpoint:0x1234:8:b ## watchpoint mode must be combination of (r,w,x)",
                "watchpoint:0x1234:8:xx ## watchpoint modes may not be duplicated",
                "watchpoint:0x1234:8:rwx ## invalid watchpoint mode: rwx",
                "fentry ## fentry probe type requires 1 or 3 arguments, found 0",
                "fentry: ## fentry/fexit should specify a function",
                "fentry:a:b:c ## Only the 'bpf' variant of this probe supports 4 arguments",
                "fentry:bpf ## the 'bpf' variant of this probe requires a bpf program name and"
                        + " optional bpf program id",
                "fentry:bpf:x:name ## bpf program id must be a number or '*'",
                "iter ## iter probe type takes 2 arguments (1 optional)",
                "iter:task* ## iter probe type does not support wildcards",
                "iter:task:* ## iter probe type does not support wildcards",
                "iter: ## iter should specify a iterator's name",
            })
    void errors(String text, String message) {
        assertThat(Points.error(text, ParseSettings.PLAIN).strip()).isEqualTo(message.strip());
    }

    @Test
    void numbersThatAreTooLarge() {
        assertThat(Points.error("interval:18446744073709551616", ParseSettings.PLAIN))
                .isEqualTo(
                        "Invalid rate of interval probe: overflow error, maximum value is"
                                + " 18446744073709551615: 18446744073709551616");
        assertThat(AttachNumber.parse("0b101")).isEqualTo(5);
        assertThat(AttachNumber.parse("017")).isEqualTo(15);
        assertThat(AttachNumber.parse("1_000")).isEqualTo(1000);
        assertThat(AttachNumber.parse("0xffffffffffffffff")).isEqualTo(-1);
        assertThat(AttachNumber.parse("2d")).isEqualTo(2 * 86_400_000_000_000L);
    }

    @Test
    void whatPointsOfOneScriptMayNot() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        List<List<AttachPoint>> probes = new ArrayList<>();
        probes.add(List.of(Points.parse("bench:a")));
        probes.add(List.of(Points.parse("test:a")));
        probes.add(List.of(Points.parse("bench:a")));
        probes.add(List.of(Points.parse("iter:task"), Points.parse("iter:task_file")));
        AttachPointParser.checkTogether(probes, diagnostics);
        assertThat(Points.messages(diagnostics))
                .containsExactly(
                        "ERROR: \"a\" was used as the name for more than one BENCH probe",
                        "ERROR: this is the other instance",
                        "ERROR: iter probe only supports one attach point.");
    }

    @Test
    void watchpointsSayWhatThereIs() {
        CompilerDiagnostics diagnostics = new CompilerDiagnostics();
        String text = "watchpoint:0x1234:8:wx";
        assertThat(AttachPointParser.parse(Points.span(text), text, diagnostics)).isNull();
        assertThat(diagnostics.all().getFirst().hint()).endsWith("rw,w,x");
    }
}
