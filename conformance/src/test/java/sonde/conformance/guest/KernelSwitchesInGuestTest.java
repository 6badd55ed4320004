package sonde.conformance.guest;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TextLayout;
import sonde.probe.launch.EndSignals;
import sonde.probe.launch.InheritedState;
import sonde.probe.printk.DynamicDebug;
import sonde.probe.printk.PrintLease;
import sonde.probe.printk.PrintSite;
import sonde.sys.ProcessCalls;
import sonde.tools.kernel.DebugFeatures;
import sonde.tools.kernel.DynamicDebugRecipe;
import sonde.tools.kernel.DynamicDebugRecipe.PrintRequest;
import sonde.tools.kernel.DynamicDebugRecipe.PrintRun;
import sonde.tools.kernel.DynamicDebugRecipe.PrintSpan;
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

    private static final Predicate<Path> DYNDBG =
            file -> file.getFileName().toString().startsWith("dyndbg-");

    private static String control() throws IOException {
        return Files.readString(CONTROL);
    }

    private static long on(String control) {
        return control.lines().filter(line -> line.contains("]kobject_uevent_env =p ")).count();
    }

    @AfterEach
    void off() throws IOException {
        DynamicDebugRecipe.set(new PrintRequest(UEVENT, false, "p"), false);
    }

    private static PrintRun run(List<String> words, String flags, String command)
            throws IOException {
        InheritedState origin = InheritedState.capture();
        return new PrintRun(
                new PrintRequest(words, true, flags),
                new PrintSpan(TimeUnit.MINUTES.toNanos(1), command, origin));
    }

    private static String output(PrintRun run) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ((Listing) run.result()).rows().writeTo(out, ListingForm.JSON_LINES);
        return out.toString(StandardCharsets.UTF_8);
    }

    private static void await(BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(80);
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
        assertThat(control().equals(before)).isTrue();
        var dry = DynamicDebugRecipe.set(new PrintRequest(List.of("module", "*"), true, "p"), true);
        assertThat(dry.found()).isTrue();
        assertThat(control().equals(before)).isTrue();
        assertThat(DynamicDebugRecipe.list(List.of("module", "no_such")).found()).isFalse();
    }

    /** All messages at once are more than one write, and those of one line are several. */
    @Test
    void allMessagesAreSwitchedAndWhatWasOnBeforeStays() throws Exception {
        String before = control();
        Path seen = Files.createTempFile("control", "");
        PrintRun run =
                run(List.of("module", "*"), "f", "cat %s > %s; exit 7".formatted(CONTROL, seen));
        output(run);
        assertThat(run.status()).isEqualTo(7);
        List<String> meanwhile =
                Files.readAllLines(seen).stream().filter(line -> !line.startsWith("#")).toList();
        assertThat(meanwhile).hasSizeGreaterThan(1000);
        assertThat(meanwhile).allMatch(line -> line.matches(".* =p?f .*"));
        assertThat(control().equals(before)).isTrue();
    }

    @Test
    void messagesArePrintedWhileACommandRuns() throws Exception {
        String before = control();
        PrintRun run = run(UEVENT, "p", "echo change > " + TRIGGER);
        assertThat(output(run)).contains("kobject: 'null'").contains("\"time_us\":");
        assertThat(run.status()).isZero();
        assertThat(control().equals(before)).isTrue();
    }

    @Test
    void aSignalSwitchesThemBack() throws Exception {
        String before = control();
        PrintRun run = run(UEVENT, "p", "sleep 1000");
        Thread running =
                Thread.ofPlatform()
                        .start(() -> {
                            try {
                                output(run);
                            } catch (IOException e) {
                                throw new UncheckedIOException(e);
                            }
                        });
        await(KernelSwitchesInGuestTest::isOn);
        ProcessCalls.kill(ProcessCalls.getpid(), EndSignals.Kind.TERMINATE.number());
        running.join(TimeUnit.SECONDS.toMillis(30));
        assertThat(running.isAlive()).isFalse();
        assertThat(control().equals(before)).isTrue();
    }

    /** A killed process leaves its file without a lock, and its messages on. */
    @Test
    void theNextCommandSwitchesThemBackAfterAKill() throws Exception {
        String before = control();
        DynamicDebug debug = DynamicDebug.find().orElseThrow();
        List<PrintSite> sites =
                debug.sites().stream()
                        .filter(site -> site.function().equals(UEVENT.getLast()))
                        .toList();
        List<String> queries = DynamicDebug.queries(sites, true, "p");
        Path left = Path.of("/run/sonde/dyndbg-1-1");
        try (PrintLease _ = PrintLease.begin(debug, queries, DynamicDebug.undo(sites, true, "p"))) {
            assertThat(PrintLease.removeLeftovers()).isEmpty(); // its process lives
            assertThat(isOn()).isTrue();
            try (Stream<Path> files = Files.list(left.getParent())) {
                Files.copy(files.filter(DYNDBG).findFirst().orElseThrow(), left);
            }
        }
        assertThat(control().equals(before)).isTrue();
        debug.write(queries);
        assertThat(isOn()).isTrue();
        assertThat(PrintLease.removeLeftovers()).hasSize(1);
        assertThat(control().equals(before)).isTrue();
        assertThat(left).doesNotExist();
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
                // The dump of all tasks may have overwritten the beginning of the log.
                .anyMatch(row ->
                        row.get(0).equals("boot command line")
                                && List.of("ok", "unknown").contains(row.get(2)))
                .anyMatch(row ->
                        row.get(0).equals("reboot after a panic (kernel.panic)")
                                && row.get(1).equals("-1"));
    }
}
