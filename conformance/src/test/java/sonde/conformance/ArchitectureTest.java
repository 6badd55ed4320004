package sonde.conformance;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructorCall;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import sonde.event.Recording;

/** The rules of ARCHITECTURE.md that neither the module system nor Checkstyle can hold. */
class ArchitectureTest {
    /** In the direction of "requires": each may use those before it. */
    private static final List<String> MODULES =
            List.of(
                    "event",
                    "sys",
                    "binary",
                    "recording",
                    "exchange",
                    "symbol",
                    "bpf",
                    "probe",
                    "analysis",
                    "lang",
                    "store",
                    "open",
                    "assets",
                    "view",
                    "tools",
                    "cli");

    private static final JavaClasses SONDE =
            new ClassFileImporter().importPaths(MODULES.stream().flatMap(m -> places(m)).toList());

    /** The folders with a module's classes, from the class path: libraries are not looked into. */
    private static Stream<Path> places(String module) {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(place -> Path.of(place, "sonde", module))
                .filter(Files::isDirectory);
    }

    private static void check(ArchRule rule) {
        rule.check(SONDE);
    }

    @Test
    void modulesRequireOnlyThoseBeforeThem() {
        for (int i = 0; i < MODULES.size(); i++) {
            String[] later =
                    MODULES.subList(i + 1, MODULES.size()).stream()
                            .map(m -> "sonde." + m + "..")
                            .toArray(String[]::new);
            if (later.length > 0) {
                check(
                        noClasses()
                                .that()
                                .resideInAPackage("sonde." + MODULES.get(i) + "..")
                                .should()
                                .dependOnClassesThat()
                                .resideInAnyPackage(later));
            }
        }
    }

    @Test
    void packagesHaveNoCycles() {
        slices().matching("sonde.(**)").should().beFreeOfCycles().check(SONDE);
    }

    @Test
    void onlyTheCommandLineUsesTheStandardStreams() {
        check(
                noClasses()
                        .that()
                        .resideOutsideOfPackage("sonde.cli..")
                        .should()
                        .accessField(System.class, "out")
                        .orShould()
                        .accessField(System.class, "err")
                        .orShould()
                        .callMethod(System.class, "exit", int.class));
    }

    /** Commands whose output is no result: bytes that others made, and what is to follow. */
    private static final Map<String, String> PRINT_OTHERWISE =
            Map.ofEntries(
                    entry("ResultPrinter", "writes results, and raw bytes"),
                    entry("Main", "the version, the overview and help"),
                    entry("RecordCommand", "--print-path: one line for scripts"),
                    entry("ConvertCommand", "a recording into a pipe"));

    /** Commands that write raw bytes by {@code ResultPrinter.bytes}. */
    private static final Map<String, String> RAW_BYTES =
            Map.of(
                    "BpfAsmCommand", "--to raw: the instructions themselves",
                    "BpfIterCommand", "run: what a program writes through a kernel's iterator",
                    "TraceCommand", "the line by which bpftrace's tests see that probes are there");

    @Test
    void commandsPrintResults() {
        assertThat(users(ArchitectureTest::isStream)).isEqualTo(PRINT_OTHERWISE.keySet());
        assertThat(
                        users(access ->
                                access.getName().equals("bytes")
                                        && access.getTargetOwner()
                                                .getFullName()
                                                .equals("sonde.cli.ResultPrinter")))
                .isEqualTo(RAW_BYTES.keySet());
    }

    private static boolean isStream(JavaAccess<?> access) {
        String owner = access.getTargetOwner().getFullName();
        return switch (owner) {
            case "java.lang.System", "java.io.FileDescriptor" ->
                    access.getName().equals("out"); // notes and progress go to standard error
            case "sonde.cli.ResultPrinter$StandardOutput" -> access instanceof JavaConstructorCall;
            case "sonde.cli.CommandCall" ->
                    access instanceof JavaMethodCall && access.getName().equals("out");
            default -> false;
        };
    }

    /** The outermost classes of the command line with such an access. */
    private static Set<String> users(Predicate<JavaAccess<?>> wanted) {
        Set<String> users = new TreeSet<>();
        for (JavaClass type : SONDE) {
            boolean uses = type.getAccessesFromSelf().stream().anyMatch(wanted);
            if (uses
                    && type.getPackageName().equals("sonde.cli")
                    && !type.getSimpleName().equals("StandardOutput")) {
                String name = type.getFullName().substring("sonde.cli.".length());
                users.add(name.replaceFirst("\\$.*", ""));
            }
        }
        return users;
    }

    @Test
    void onlySysCallsDown() {
        check(
                noClasses()
                        .that()
                        .resideOutsideOfPackage("sonde.sys..")
                        .should()
                        .dependOnClassesThat()
                        .haveFullyQualifiedName("java.lang.foreign.Linker"));
    }

    /**
     * Modules that define layouts of bytes read memory themselves; all others use Batch of event,
     * the accessor. The tables of symbol.line are a mapped cache.
     */
    @Test
    void rawMemoryStaysBelowTheAccessors() {
        check(
                noClasses()
                        .that()
                        .resideOutsideOfPackages(
                                "sonde.sys..",
                                "sonde.binary..",
                                "sonde.recording..",
                                "sonde.exchange..",
                                "sonde.bpf..",
                                "sonde.probe..",
                                "sonde.store..",
                                "sonde.symbol.line..")
                        .and(DescribedPredicate.not(within("sonde.event.Batch")))
                        .should()
                        .dependOnClassesThat()
                        .resideInAPackage("java.lang.foreign"));
    }

    @Test
    void noProcessBuilderForTargets() {
        check(
                noClasses()
                        .that()
                        .resideInAPackage("sonde..")
                        // system() of a script runs commands that are nobody's target.
                        .and(DescribedPredicate.not(named("sonde.lang.bpftrace.run.EventActions")))
                        // The start-up cache is made by a start of sonde itself.
                        .and(DescribedPredicate.not(named("sonde.cli.CacheTraining")))
                        // clang compiles a file; it is nobody's target.
                        .and(DescribedPredicate.not(named("sonde.lang.bpftrace.code.Clang")))
                        // objdump reads a file; it is nobody's target.
                        .and(DescribedPredicate.not(named("sonde.tools.elf.DisassemblyPage")))
                        // A command of the shell that reads the lines.
                        .and(DescribedPredicate.not(named("sonde.tools.syscalls.CallOutput")))
                        // id(1) tells a user's number.
                        .and(DescribedPredicate.not(named("sonde.tools.record.UserProcesses")))
                        .should()
                        .dependOnClassesThat(named("java.lang.ProcessBuilder"))
                        .because("the JDK's reaper takes a target's stops and exit status"));
    }

    /** What only some recordings have is a capability: nobody asks for the class of a reader. */
    @Test
    void onlyTheRegistryKnowsReaders() {
        List<JavaClass> readers =
                SONDE.stream()
                        .filter(type -> type.isAssignableTo(Recording.class) && !type.isInterface())
                        .filter(type ->
                                type.getPackageName().startsWith("sonde.recording")
                                        || type.getPackageName().startsWith("sonde.exchange"))
                        .toList();
        assertThat(readers).hasSizeGreaterThan(4);
        for (JavaClass reader : readers) {
            check(
                    noClasses()
                            .that()
                            .resideOutsideOfPackages(reader.getPackageName(), "sonde.open.format")
                            .should()
                            .dependOnClassesThat(within(reader.getFullName())));
        }
    }

    @Test
    void typeNamesSaySomething() {
        check(
                classes()
                        .that()
                        .resideInAPackage("sonde..")
                        .should()
                        .haveNameNotMatching(
                                ".*(Util|Utils|Helper|Helpers|Manager|Impl|Toolkit|Common|Base)"));
        check(
                classes()
                        .that()
                        .resideOutsideOfPackage("sonde.recording.ftrace")
                        .and(DescribedPredicate.not(SPEC_WORDS))
                        .should()
                        .haveNameNotMatching(".*(Info|Data)"));
    }

    /** perf.data's header features HEADER_TRACING_DATA and HEADER_CLOCK_DATA. */
    private static final DescribedPredicate<JavaClass> SPEC_WORDS =
            DescribedPredicate.describe(
                    "words of a specification",
                    type -> List.of("TracingData", "ClockData").contains(type.getSimpleName()));

    /**
     * Simple names that several types may have, nested ones too; docs/glossary.md explains each.
     */
    private static final int MOST_SHARED_NAMES = 15;

    @Test
    void fewTypesShareAName() throws IOException {
        Map<String, Set<String>> types = new TreeMap<>();
        for (JavaClass type : SONDE) {
            String name = type.getSimpleName();
            if (!name.isEmpty() && !name.contains("-")) {
                types.computeIfAbsent(name, key -> new TreeSet<>()).add(type.getFullName());
            }
        }
        types.values().removeIf(sharing -> sharing.size() == 1);
        Path root = Path.of(System.getProperty("sonde.root", ".."));
        String glossary = Files.readString(root.resolve("docs/glossary.md"));
        assertThat(types).hasSizeLessThanOrEqualTo(MOST_SHARED_NAMES);
        assertThat(types)
                .allSatisfy((name, sharing) ->
                        assertThat(glossary)
                                .as("%s is the name of %s", name, sharing)
                                .contains("| `" + name + "` |"));
    }

    /**
     * Adding a section means a class and a line of {@code ReportSections}, docs/extending.md: what
     * is outside their package asks that list.
     */
    @Test
    void onlyTheirListKnowsTheSectionsOfAReport() {
        check(
                noClasses()
                        .that()
                        .resideOutsideOfPackage("sonde.tools.report.section")
                        .should()
                        .dependOnClassesThat(
                                JavaClass.Predicates.implement(
                                        "sonde.tools.report.ReportSection")));
    }

    /** Arguments and exit codes, no recipes. */
    private static final int MOST_LINES_OF_COMMANDS = 5000;

    @Test
    void commandsAreThin() throws IOException {
        Path root = Path.of(System.getProperty("sonde.root", ".."));
        long lines = 0;
        try (Stream<Path> files = Files.walk(root.resolve("cli/src/main/java"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                lines += Files.readAllLines(file).size();
            }
        }
        assertThat(lines).isBetween(1000L, (long) MOST_LINES_OF_COMMANDS);
    }

    /** A class and those inside it. */
    private static DescribedPredicate<JavaClass> within(String name) {
        return DescribedPredicate.describe(
                "within " + name,
                type ->
                        type.getFullName().equals(name)
                                || type.getFullName().startsWith(name + "$"));
    }

    private static DescribedPredicate<JavaClass> named(String name) {
        return DescribedPredicate.describe(name, type -> type.getFullName().equals(name));
    }
}
