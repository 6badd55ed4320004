package sonde.bpf.object;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.bpf.map.TypedMap;
import sonde.bpf.skeleton.JavaSkeleton;

/** The generated class is compiled, loaded, and reads a variable and a map of the kernel. */
@Tag("kernel")
final class SkeletonKernelTest {
    @Test
    void theGeneratedClassWorks(@TempDir Path folder) throws Exception {
        Path compiler = Path.of(System.getProperty("java.home"), "bin/javac");
        Assumptions.assumeTrue(Files.isExecutable(compiler), "this JVM has no compiler");
        Path object = Objects.of("parts");
        ObjectFile file = ObjectFile.read(object);
        assertThat(JavaSkeleton.className(file)).isEqualTo("Parts");
        Path source = folder.resolve("Parts.java");
        Files.writeString(source, JavaSkeleton.of(file, List.of(object), "made", "Parts"));
        String classes = System.getProperty("java.class.path");
        Process javac =
                new ProcessBuilder(
                                compiler.toString(),
                                "-d",
                                folder.toString(),
                                "-cp",
                                classes,
                                source.toString())
                        .redirectErrorStream(true)
                        .start();
        String output = new String(javac.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(javac.waitFor()).as(output).isZero();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
            use(loader.loadClass("made.Parts"));
        }
    }

    private static void use(Class<?> type) throws Exception {
        ObjectFile file = (ObjectFile) type.getMethod("file").invoke(null);
        Class<?> constants = type.getClassLoader().loadClass("made.Parts$Rodata");
        Object begin = constants.getMethod("of", ObjectFile.class).invoke(null, file);
        constants.getMethod("target", int.class).invoke(begin, 9);
        try (AutoCloseable parts =
                (AutoCloseable)
                        type.getMethod("load", ObjectFile.class, LoadOptions.class)
                                .invoke(null, file, LoadOptions.USUAL)) {
            type.getMethod("attach").invoke(parts);
            for (int i = 0; i < 20; i++) {
                Files.readAllBytes(Path.of("/proc/self/comm"));
            }
            Object zeros = type.getMethod("bss").invoke(parts);
            assertThat((int) zeros.getClass().getMethod("counter").invoke(zeros)).isPositive();
            Object now = type.getMethod("rodata").invoke(parts);
            assertThat(constants.getMethod("target").invoke(now)).isEqualTo(9);
            assertThat(constants.getMethod("greeting").invoke(now)).isEqualTo("hello");
            TypedMap<?, ?> hits = (TypedMap<?, ?>) type.getMethod("hitsMap").invoke(parts);
            assertThat(hits.map().sum(0)).isPositive();
            TypedMap<?, ?> last = (TypedMap<?, ?>) type.getMethod("lastMap").invoke(parts);
            assertThat(last.map().spec().valueBytes()).isEqualTo(16);
        }
    }
}
