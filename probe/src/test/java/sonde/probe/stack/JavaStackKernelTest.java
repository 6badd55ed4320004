package sonde.probe.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.probe.jvm.JavaTarget;
import sonde.probe.stack.UserStackKernelTest.Stack;

/** User stacks of HotSpot's interpreted and compiled code. */
@Tag("kernel")
final class JavaStackKernelTest {
    private static final int SAMPLES = 1000;

    /** Samples that come until the JVM's tables are read. */
    private static final int EARLY = 300;

    @TempDir Path folder;

    @BeforeEach
    void onlyAsRoot() {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
    }

    static List<Path> launchers() throws Exception {
        return JavaTarget.launchers();
    }

    @ParameterizedTest
    @MethodSource("launchers")
    void compiledCode(Path java) throws Exception {
        stacksAreWhole(java);
    }

    @ParameterizedTest
    @MethodSource("launchers")
    void interpretedCode(Path java) throws Exception {
        stacksAreWhole(java, "-Xint");
    }

    private void stacksAreWhole(Path java, String... options) throws Exception {
        try (JavaTarget target = JavaTarget.start(folder, java, options)) {
            List<Stack> stacks =
                    UserStackKernelTest.sample(target.pid(), target.busy(), SAMPLES + EARLY);
            List<Stack> later = stacks.subList(EARLY, stacks.size());
            assertThat(later.stream().filter(JavaStackKernelTest::isWhole).count())
                    .isGreaterThan(later.size() * 99L / 100);
        }
    }

    private static boolean isWhole(Stack stack) {
        return stack.end() == UserStackEnd.OUTERMOST && stack.guessed() == 0;
    }
}
