package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import sonde.testkit.Shard;

/**
 * The builder of {@code ./sonde} compiles few sources, and what it leaves is what compiling all of
 * them anew would leave.
 */
@ResourceLock(Resources.SYSTEM_ERR)
@ResourceLock(Resources.SYSTEM_ERR)
class CompilationTest {
    /** The builder's classes have no package, so that only one without a package reaches them. */
    private static final String DRIVER =
            """
            import java.nio.file.Path;
            import java.util.List;

            public class Driver {
                public static int run(Path kept, Path sources, Path classes) throws Exception {
                    List<String> options =
                            List.of("-implicit:none", "-cp", classes.toString(),
                                    "-d", classes.toString());
                    var units = List.of(new Compilation.Unit(sources, classes));
                    return new Compilation(kept, "1", units, options).run(files -> {});
                }
            }
            """;

    /** Each may come and go; some combinations do not compile. */
    private static final Map<String, List<String>> VARIANTS =
            new TreeMap<>(
                    Map.of(
                            "Base",
                            List.of(
                                    "public class Base { public String of(Object o) { return \"o\"; } }",
                                    "public class Base { public String of(Object o) { return \"o\"; }"
                                            + " public String of(String s) { return \"s\"; } }",
                                    "public abstract class Base { public String of(Object o)"
                                            + " { return \"body\"; } }"),
                            "Sub",
                            List.of(
                                    "public class Sub extends Base {}",
                                    "public class Sub extends Base { class Inner {} }",
                                    "public class Sub { public String of(Object o) { return \"\"; } }"),
                            "User",
                            List.of(
                                    "class User { String s = new Sub().of(\"x\"); }",
                                    "class User { Object s = new Base().of(Limits.MOST);"
                                            + " Runnable r = () -> {}; }"),
                            "Limits",
                            List.of(
                                    "class Limits { static final int MOST = 3; }",
                                    "class Limits { static final int MOST = 4; int more; }",
                                    "class Limits { static final long MOST = 3; }"),
                            "Derived",
                            List.of(
                                    "class Derived { static final long TWICE = 2 * Limits.MOST; }",
                                    "class Derived { static final int TWICE = 7; }"),
                            "Third",
                            List.of("class Third { long all() { return Derived.TWICE; } }"),
                            "Shape",
                            List.of(
                                    "sealed interface Shape { record A(int a) implements Shape {}"
                                            + " record B(int b) implements Shape {} }",
                                    "sealed interface Shape { record A(int a) implements Shape {} }"),
                            "Area",
                            List.of(
                                    "class Area { int of(Shape s) { return switch (s) {"
                                            + " case Shape.A(int a) -> a; case Shape.B b -> 1; }; } }",
                                    "class Area { int of(Shape s) { return switch (s) {"
                                            + " case Shape.A(var a) -> a; }; } }"),
                            "Runnable",
                            List.of("interface Runnable { void run(); }")));

    private static URLClassLoader builder;
    private static Method driver;

    @TempDir Path folder;

    private Path sources;
    private Path classes;

    @BeforeAll
    static void compileTheBuilder(@TempDir Path made) throws Exception {
        Path file = Files.writeString(made.resolve("Driver.java"), DRIVER);
        List<String> args = new ArrayList<>(List.of("-d", made.toString(), file.toString()));
        try (Stream<Path> files = Files.list(Sonde.ROOT.resolve("launcher"))) {
            files.filter(one -> one.toString().endsWith(".java"))
                    .forEach(one -> args.add(one.toString()));
        }
        assertThat(javac(args)).isZero();
        builder = new URLClassLoader(new URL[] {made.toUri().toURL()});
        driver = builder.loadClass("Driver").getMethod("run", Path.class, Path.class, Path.class);
    }

    @AfterAll
    static void close() throws IOException {
        builder.close();
    }

    @BeforeEach
    void begin() throws IOException {
        sources = Files.createDirectory(folder.resolve("sources"));
        classes = folder.resolve("classes");
    }

    private static int javac(List<String> args) {
        OutputStream nowhere = OutputStream.nullOutputStream();
        return ToolProvider.getSystemJavaCompiler()
                .run(null, nowhere, nowhere, args.toArray(String[]::new));
    }

    private void write(String type, String text) throws IOException {
        Path file = sources.resolve("sonde/a/" + type + ".java");
        Files.createDirectories(file.getParent());
        Files.writeString(file, "package sonde.a; " + text + "\n");
    }

    private void delete(String type) throws IOException {
        Files.deleteIfExists(sources.resolve("sonde/a/" + type + ".java"));
    }

    private int build() throws Exception {
        PrintStream before = System.err;
        System.setErr(new PrintStream(OutputStream.nullOutputStream()));
        try {
            return (int) driver.invoke(null, folder.resolve("state"), sources, classes);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof IOException io ? io : e;
        } finally {
            System.setErr(before);
        }
    }

    private static Map<String, String> contents(Path root) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                contents.put(
                        root.relativize(file).toString(),
                        HexFormat.of().formatHex(Files.readAllBytes(file)));
            }
        }
        return contents;
    }

    /** Compiles everything into another folder; empty when that does not compile. */
    private Map<String, String> fresh() throws IOException {
        Path other = Files.createTempDirectory(folder, "fresh");
        List<String> args = new ArrayList<>(List.of("-d", other.toString()));
        try (Stream<Path> files = Files.walk(sources)) {
            files.filter(Files::isRegularFile).sorted().forEach(one -> args.add(one.toString()));
        }
        return args.size() == 2 || javac(args) != 0 ? Map.of() : contents(other);
    }

    private void writeFirst(String... types) throws IOException {
        for (String type : types) {
            write(type, VARIANTS.get(type).getFirst());
        }
    }

    @Test
    void aBodyAloneCompilesOneSource() throws Exception {
        writeFirst("Base", "Sub", "User", "Limits");
        assertThat(build()).isEqualTo(4);
        assertThat(build()).isZero();
        write("Base", VARIANTS.get("Base").getFirst().replace("\"o\"", "\"p\""));
        assertThat(build()).isEqualTo(1);
        assertThat(contents(classes)).isEqualTo(fresh());
    }

    @Test
    void aNewOverloadCompilesThoseWhoCallItThroughASubtype() throws Exception {
        writeFirst("Base", "Sub", "User", "Limits");
        build();
        write("Base", VARIANTS.get("Base").get(1));
        assertThat(build()).isEqualTo(3);
        assertThat(contents(classes)).isEqualTo(fresh());
    }

    @Test
    void aConstantCompilesThoseThatCopiedIt() throws Exception {
        writeFirst("Base", "Sub", "User", "Limits", "Derived", "Third");
        build();
        write("Limits", "class Limits { static final int MOST = 5; }");
        assertThat(build()).isEqualTo(3);
        assertThat(contents(classes)).isEqualTo(fresh());
    }

    @Test
    void aSourceThatIsGoneOrRenamedTakesItsClassesAlong() throws Exception {
        writeFirst("Base", "Sub", "Limits");
        build();
        delete("Limits");
        build();
        assertThat(contents(classes)).isEqualTo(fresh()).hasSize(2);
        delete("Sub");
        write("Other", "class Other extends Base { class Inner {} }");
        build();
        assertThat(contents(classes)).isEqualTo(fresh()).hasSize(3);
    }

    @Test
    void whatFailedOrWasInterruptedIsRepeated() throws Exception {
        writeFirst("Base", "Sub", "User");
        build();
        write("Base", VARIANTS.get("Base").get(1) + " broken");
        assertThatThrownBy(this::build).isInstanceOf(IOException.class);
        assertThatThrownBy(this::build).isInstanceOf(IOException.class);
        write("Base", VARIANTS.get("Base").get(1));
        build();
        Map<String, String> right = fresh();
        assertThat(contents(classes)).isEqualTo(right);
        Files.writeString(classes.resolve("sonde/a/Sub.class"), "half");
        Files.delete(classes.resolve("sonde/a/User.class"));
        Files.writeString(classes.resolve("sonde/a/User$1.class"), "more");
        assertThat(build()).isEqualTo(2);
        assertThat(contents(classes)).isEqualTo(right);
    }

    static List<Integer> seeds() {
        return Shard.of(List.of(13, 14, 15, 16));
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void anyRowOfChangesLeavesWhatAFreshBuildLeaves(int seed) throws Exception {
        Random random = new Random(seed);
        writeFirst(VARIANTS.keySet().toArray(String[]::new));
        build();
        List<String> types = List.copyOf(VARIANTS.keySet());
        int compared = 0;
        for (int i = 0; i < 12; i++) {
            for (int j = random.nextInt(2); j >= 0; j--) {
                String type = types.get(random.nextInt(types.size()));
                List<String> variants = VARIANTS.get(type);
                int variant = random.nextInt(variants.size() * 6 + 1);
                if (variant == 0) {
                    delete(type);
                } else {
                    write(type, variants.get(variant % variants.size()));
                }
            }
            Map<String, String> right = fresh();
            if (right.isEmpty()) {
                try {
                    build();
                    assertThat(contents(classes)).as("no source").isEmpty();
                } catch (IOException e) {
                    // As it should.
                }
            } else {
                build();
                assertThat(contents(classes)).as("change %d", i).isEqualTo(right);
                compared++;
            }
        }
        assertThat(compared).isGreaterThan(3);
    }
}
