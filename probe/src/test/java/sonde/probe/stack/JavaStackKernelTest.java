package sonde.probe.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.event.result.Frame;
import sonde.probe.jvm.CompiledCode;
import sonde.probe.jvm.HotSpotNames;
import sonde.probe.jvm.JavaMethod;
import sonde.probe.jvm.JavaTarget;
import sonde.probe.stack.UserStackKernelTest.Stack;

/** User stacks of HotSpot's interpreted and compiled code. */
@Tag("kernel")
final class JavaStackKernelTest {
    private static final int SAMPLES = 1000;

    /** Samples that come until the JVM's tables are read. */
    private static final int EARLY = 300;

    private static final String CLASS = "Target.";
    private static final List<String> CALLS = List.of("leaf", "inner", "middle", "outer", "run");

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
        try (JavaTarget target = JavaTarget.start(folder, java, options);
                HotSpotNames names = HotSpotNames.open(target.pid())) {
            List<Stack> stacks =
                    UserStackKernelTest.sample(target.pid(), target.busy(), SAMPLES + EARLY);
            List<Stack> later = stacks.subList(EARLY, stacks.size());
            assertThat(later.stream().filter(JavaStackKernelTest::isWhole).count())
                    .isGreaterThan(later.size() * 99L / 100);
            Map<List<String>, Integer> wrong = new HashMap<>();
            for (Stack stack : later) {
                List<String> own = own(stack, names);
                if (!isChain(own)) {
                    wrong.merge(own, 1, Integer::sum);
                }
            }
            assertThat(wrong.values().stream().mapToInt(count -> count).sum())
                    .as("%s", wrong)
                    .isLessThanOrEqualTo(later.size() / 100);
        }
    }

    private static boolean isWhole(Stack stack) {
        return stack.end() == UserStackEnd.OUTERMOST && stack.guessed() == 0;
    }

    /** The program's own methods in a stack, innermost first, but those that javac made. */
    private static List<String> own(Stack stack, HotSpotNames names) {
        List<String> own = new ArrayList<>();
        for (long word : stack.frames()) {
            for (Frame frame : RuntimeWord.is(word) ? frames(word, names) : List.<Frame>of()) {
                String name = frame.name();
                if (name.startsWith(CLASS) && name.indexOf('$') < 0) {
                    own.add(name.substring(CLASS.length()));
                }
            }
        }
        return own;
    }

    private static List<Frame> frames(long word, HotSpotNames names) {
        long object = RuntimeWord.object(word) << 3;
        int position = RuntimeWord.position(word);
        if (RuntimeWord.kind(word) == RuntimeWord.JAVA) {
            JavaMethod method = names.method(object);
            return method == null ? List.of() : List.of(method.frame(position, false));
        }
        CompiledCode code = names.code(object);
        return code == null ? List.of() : code.frames(position);
    }

    /** Nothing is left out but what has not been entered yet. */
    private static boolean isChain(List<String> own) {
        return !own.isEmpty()
                && own.size() <= CALLS.size()
                && own.equals(CALLS.subList(CALLS.size() - own.size(), CALLS.size()));
    }
}
