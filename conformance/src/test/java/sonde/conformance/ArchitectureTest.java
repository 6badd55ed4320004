package sonde.conformance;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The rules of ARCHITECTURE.md that neither the module system nor Checkstyle can hold. */
class ArchitectureTest {
    /** In the direction of "requires": each may use those before it. */
    private static final List<String> MODULES =
            List.of(
                    "event",
                    "sys",
                    "format",
                    "symbol",
                    "bpf",
                    "probe",
                    "analysis",
                    "lang",
                    "store",
                    "assets",
                    "view",
                    "tools",
                    "cli");

    private static final JavaClasses SONDE =
            new ClassFileImporter()
                    .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                    .importPackages(MODULES.stream().map(m -> "sonde." + m).toArray(String[]::new));

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
     * Batch, the accessor, lies in event; DESIGN and STYLE name the modules below it. The tables of
     * symbol.line are a mapped cache.
     */
    @Test
    void rawMemoryStaysBelowTheAccessors() {
        check(
                noClasses()
                        .that()
                        .resideOutsideOfPackages(
                                "sonde.sys..",
                                "sonde.format..",
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
                        .and(DescribedPredicate.not(named("sonde.lang.bpftrace.run.Actions")))
                        // clang compiles a file; it is nobody's target.
                        .and(DescribedPredicate.not(named("sonde.lang.bpftrace.code.Clang")))
                        // objdump reads a file; it is nobody's target.
                        .and(DescribedPredicate.not(named("sonde.tools.elf.DisassemblyPage")))
                        .should()
                        .dependOnClassesThat(named("java.lang.ProcessBuilder"))
                        .because("the JDK's reaper takes a target's stops and exit status"));
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
                        .resideOutsideOfPackage("sonde.format.ftrace")
                        .and(DescribedPredicate.not(SPEC_WORDS))
                        .should()
                        .haveNameNotMatching(".*(Info|Data)"));
    }

    /** perf.data's header features HEADER_TRACING_DATA and HEADER_CLOCK_DATA. */
    private static final DescribedPredicate<JavaClass> SPEC_WORDS =
            DescribedPredicate.describe(
                    "words of a specification",
                    type -> List.of("TracingData", "ClockData").contains(type.getSimpleName()));

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
