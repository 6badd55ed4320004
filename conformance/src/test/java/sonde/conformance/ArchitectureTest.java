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
        rule.allowEmptyShould(true).check(SONDE);
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

    @Test
    void rawMemoryStaysBelowTheAccessors() {
        check(
                noClasses()
                        .that()
                        .resideInAnyPackage("sonde.analysis..", "sonde.view..")
                        .should()
                        .dependOnClassesThat()
                        .haveFullyQualifiedName("java.lang.foreign.ValueLayout"));
    }

    @Test
    void noProcessBuilderForTargets() {
        check(
                noClasses()
                        .that()
                        .resideInAPackage("sonde..")
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
    }

    private static DescribedPredicate<JavaClass> named(String name) {
        return DescribedPredicate.describe(name, type -> type.getFullName().equals(name));
    }
}
