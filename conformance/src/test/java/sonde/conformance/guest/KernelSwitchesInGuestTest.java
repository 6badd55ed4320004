package sonde.conformance.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TextLayout;
import sonde.probe.printk.PrintLease;
import sonde.tools.kernel.DebugFeatures;
import sonde.tools.kernel.DynamicDebugRecipe;
import sonde.tools.kernel.DynamicDebugRecipe.PrintRequest;
import sonde.tools.kernel.KernelFiles;
import sonde.tools.kernel.SetupCheck;
import sonde.tools.kernel.SysrqRecipe;
import sonde.view.JsonRenderer;

/** {@code sonde kernel} on kernels that have dynamic debug and magic SysRq. */
@Tag("inguest")
final class KernelSwitchesInGuestTest {
    private static final Path CONTROL = Path.of("/proc/dynamic_debug/control");

    /** Called for each write to a file uevent below /sys/class. */
    private static final List<String> UEVENT = List.of("func", "kobject_uevent_env");

    private static final Path TRIGGER = Path.of("/sys/class/mem/null/uevent");

    private static String control() throws IOException {
        return Files.readString(CONTROL);
    }

    private static long on(String control) {
        return control.lines().filter(line -> line.contains("]kobject_uevent_env =p ")).count();
    }

    /** The program with its own process, as it is killed here. */
    private static Process sonde(String... words) throws IOException {
        List<String> command =
                new ArrayList<>(
                        List.of(
                                ProcessHandle.current().info().command().orElseThrow(),
                                "--enable-native-access=ALL-UNNAMED",
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                System.getProperty("java.class.path"),
                                "sonde.cli.Main",
                                "kernel"));
        command.addAll(List.of(words));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.sleep(20);
        }
    }

    private static boolean isOn() {
        try {
            return on(control()) > 0;
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void messagesAreSwitchedOnAndOff() throws Exception {
        String before = control();
        long all = before.lines().filter(line -> line.contains("]kobject_uevent_env =_")).count();
        assertThat(all).isGreaterThan(3);
        try {
            var shown = DynamicDebugRecipe.set(new PrintRequest(UEVENT, true, "p"), false);
            assertThat(shown.found()).isTrue();
            assertThat(on(control())).isEqualTo(all);
        } finally {
            DynamicDebugRecipe.set(new PrintRequest(UEVENT, false, "p"), false);
        }
        assertThat(control()).isEqualTo(before);
        var dry = DynamicDebugRecipe.set(new PrintRequest(List.of("module", "*"), true, "p"), true);
        assertThat(dry.found()).isTrue();
        assertThat(control()).isEqualTo(before);
        assertThat(DynamicDebugRecipe.list(List.of("module", "no_such")).found()).isFalse();
    }

    /** All messages at once are more than one write, and those of one line are several. */
    @Test
    void allMessagesAreSwitchedAndWhatWasOnBeforeStays() throws Exception {
        String before = control();
        Process child =
                sonde(
                        "dyndbg",
                        "on",
                        "module",
                        "*",
                        "--flags",
                        "f",
                        "--while",
                        "cat " + CONTROL + " > /tmp/while; exit 7");
        String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor()).as(output).isEqualTo(7);
        List<String> meanwhile =
                Files.readAllLines(Path.of("/tmp/while")).stream()
                        .filter(line -> !line.startsWith("#"))
                        .toList();
        assertThat(meanwhile).hasSizeGreaterThan(1000);
        assertThat(meanwhile).allMatch(line -> line.matches(".* =p?f .*"));
        assertThat(control()).isEqualTo(before);
    }

    @Test
    void messagesArePrintedWhileACommandRuns() throws Exception {
        String before = control();
        Process child =
                sonde(
                        "dyndbg",
                        "on",
                        "func",
                        "kobject_uevent_env",
                        "--json",
                        "--while",
                        "echo change > " + TRIGGER);
        String output = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor()).as(output).isZero();
        assertThat(output).contains("kobject: 'null'").contains("\"time_us\":");
        assertThat(control()).isEqualTo(before);
    }

    @Test
    void aSignalSwitchesThemBack() throws Exception {
        String before = control();
        Process child = sonde("dyndbg", "on", "func", "kobject_uevent_env", "--for", "100s");
        await(KernelSwitchesInGuestTest::isOn);
        child.destroy(); // SIGTERM
        assertThat(child.waitFor(30, TimeUnit.SECONDS)).isTrue();
        assertThat(control()).isEqualTo(before);
    }

    @Test
    void theNextCommandSwitchesThemBackAfterAKill() throws Exception {
        String before = control();
        Process child = sonde("dyndbg", "on", "func", "kobject_uevent_env", "--for", "100s");
        await(KernelSwitchesInGuestTest::isOn);
        assertThat(PrintLease.removeLeftovers()).isEmpty(); // its process lives
        assertThat(isOn()).isTrue();
        child.destroyForcibly().waitFor();
        assertThat(isOn()).isTrue();
        assertThat(PrintLease.removeLeftovers()).hasSize(1);
        assertThat(control()).isEqualTo(before);
        assertThat(PrintLease.removeLeftovers()).isEmpty();
    }

    private static String json(Result result) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new JsonRenderer().render(result, out);
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void theAnswersOfSysrqAreCollected() throws Exception {
        assertThat(json(SysrqRecipe.press("h", false))).contains("show-blocked-tasks");
        assertThat(json(SysrqRecipe.press("m", false)))
                .contains("sysrq: Show Memory", "Mem-Info:", "pages RAM");
        assertThat(json(SysrqRecipe.press("l", false)))
                .contains("NMI backtrace for cpu 0", "NMI backtrace for cpu 1");
        String tasks = json(SysrqRecipe.press("t", false));
        assertThat(tasks).contains("task:kthreadd", "sysrq: Show State");
        assertThat(tasks).contains("kernel.sysrq = 438 forbids this key at a keyboard");
        // lockdep's key is not in these kernels.
        assertThat(json(SysrqRecipe.press("d", false))).contains("does not have the key");
    }

    @Test
    void featuresOfDebiansKernelsAreFound() {
        Report report = DebugFeatures.examine(KernelFiles.HERE);
        Table table = (Table) report.sections().getFirst();
        assertThat(table.rows())
                .anyMatch(row -> row.subList(0, 2).equals(List.of("dynamic debug", "on")))
                .anyMatch(row -> row.subList(0, 2).equals(List.of("KASAN", "absent")))
                .anyMatch(row -> row.subList(0, 2).equals(List.of("lockdep", "absent")))
                .anyMatch(row -> row.subList(0, 2).equals(List.of("kmemleak", "absent")))
                .anyMatch(row -> row.subList(0, 2).equals(List.of("magic SysRq", "on")))
                .anyMatch(row -> row.subList(0, 2).equals(List.of("soft lockups", "on")))
                .anyMatch(row -> row.subList(0, 2).equals(List.of("UBSAN", "unknown")))
                .anyMatch(row -> row.get(0).equals("fentry") && row.get(1).equals("built in"))
                .anyMatch(row ->
                        row.get(0).equals("tracer function_graph")
                                && row.get(1).equals("built in"));
    }

    @Test
    void theSetupOfAGuestIsChecked() throws IOException {
        SetupCheck check = SetupCheck.of(KernelFiles.HERE);
        assertThat(check.hasProblems()).isTrue();
        Table table = (Table) ((TextLayout) check.result()).values();
        assertThat(table.rows())
                .anyMatch(row -> row.subList(0, 2).equals(List.of("crash kernel", "not reserved")))
                .anyMatch(row -> row.subList(0, 2).equals(List.of("consoles", "ttyS0")))
                .anyMatch(row -> row.get(1).equals("4 4 1 7"))
                .anyMatch(row -> row.get(0).equals("boot command line") && row.get(2).equals("ok"))
                .anyMatch(row ->
                        row.get(0).equals("reboot after a panic (kernel.panic)")
                                && row.get(1).equals("-1"));
    }
}
