package sonde.conformance.road;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.testkit.SchedTrace;

/**
 * How many source files of ours a newcomer opens on a road: at most seven down to the kernel call
 * or to the first byte read, six up to the first line written (DESIGN §2). {@link RoadAgent} counts
 * them on the stack, with those of the threads that started a thread.
 */
@Tag("product")
class RoadDepthTest {
    private static final int DOWN = 7;
    private static final int UP = 6;

    // Main, command, recipe, session, its set of recorders, the call of sys and its wrapper, and
    // three of the recorder: file, rings, event; for stacks: programs, task tree, link. May only
    // fall.
    private static final int DOWN_RECORD = 10;

    private static final String PERF_EVENT_OPEN = "call:298";
    private static final String PROG_LOAD = "call:321:5";
    private static final Path ROOT =
            Path.of(System.getProperty("sonde.root", "..")).toAbsolutePath();

    @TempDir static Path folder;

    @BeforeAll
    static void jars() throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().putValue("Premain-Class", RoadAgent.class.getName());
        manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
        jar("agent.jar", manifest, "RoadAgent");
        jar("stacks.jar", new Manifest(), "RoadStacks");
    }

    private static void jar(String name, Manifest manifest, String prefix) throws IOException {
        String place = RoadAgent.class.getPackageName().replace('.', '/');
        Path classes =
                Path.of(
                                RoadAgent.class
                                        .getProtectionDomain()
                                        .getCodeSource()
                                        .getLocation()
                                        .getPath())
                        .resolve(place);
        try (OutputStream file = Files.newOutputStream(folder.resolve(name));
                JarOutputStream jar = new JarOutputStream(file, manifest);
                var found = Files.newDirectoryStream(classes, prefix + "*.class")) {
            for (Path one : found) {
                jar.putNextEntry(new JarEntry(place + "/" + one.getFileName()));
                jar.write(Files.readAllBytes(one));
            }
        }
    }

    /** The points that a command reached, each with the files on its stack. */
    private static List<List<String>> road(String... words) throws Exception {
        Path points = Files.createTempFile(folder, "points", "");
        Path image = ROOT.resolve("build/image");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
        command.addAll(
                List.of(
                        "-javaagent:"
                                + folder.resolve("agent.jar")
                                + "="
                                + folder.resolve("stacks.jar"),
                        "-Dsonde.road.file=" + points,
                        "-Dsonde.home=" + image,
                        "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
                        "--enable-native-access=sonde.sys",
                        "-Xlog:disable",
                        "-XX:+UseSerialGC",
                        "-p",
                        image.resolve("app").toString(),
                        "-m",
                        "sonde.cli/sonde.cli.Main"));
        command.addAll(List.of(words));
        Process process =
                new ProcessBuilder(command)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(folder.resolve("printed").toFile())
                        .start();
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).as("%s ends", command).isTrue();
        assertThat(process.exitValue())
                .as("%s: %s", command, Files.readString(folder.resolve("printed")))
                .isZero();
        return Files.readAllLines(points).stream()
                .map(line -> Arrays.asList(line.split(" ")))
                .toList();
    }

    /** The files at the first point of that name. */
    private static List<String> at(List<List<String>> road, String point) {
        Pattern name = Pattern.compile(point);
        List<String> found =
                road.stream()
                        .filter(one -> name.matcher(one.getFirst()).matches())
                        .findFirst()
                        .orElseThrow(() -> new AssertionError("no " + point + " in " + road));
        return found.subList(1, found.size());
    }

    private static Path recording() throws IOException {
        return Files.write(
                folder.resolve("trace.dat"),
                new SchedTrace().wake(1000, 0, 7, "waker", 8).toBytes());
    }

    private static void check(List<String> files, int most) {
        assertThat(files).hasSizeLessThanOrEqualTo(most);
        // Fewer than the entry and the end would mean that nothing was counted.
        assertThat(files).hasSizeGreaterThan(2).contains("cli/Main.java");
    }

    @Test
    void reportOfEvents() throws Exception {
        List<List<String>> road = road("report", recording().toString(), "--events");
        check(at(road, "map:.*trace.dat"), DOWN);
        check(at(road, "out"), UP);
    }

    @Test
    void query() throws Exception {
        List<List<String>> road = road("query", recording().toString(), "select * from events");
        check(at(road, "map:.*trace.dat"), DOWN);
        check(at(road, "out"), UP);
    }

    @Test
    void symbolize() throws Exception {
        List<List<String>> road = road("symbolize", "-e", "/bin/ls", "0x5000");
        check(at(road, "map:.*"), DOWN);
        check(at(road, "out"), UP);
    }

    @Test
    @Tag("tracefs")
    void trace() throws Exception {
        List<List<String>> road = road("trace", "BEGIN { printf(\"hi\\n\"); exit(); }");
        check(at(road, PROG_LOAD), DOWN);
        check(at(road, "out"), UP);
    }

    @Test
    @Tag("tracefs")
    void record() throws Exception {
        String bundle = folder.resolve("road.sonde").toString();
        List<List<String>> road = road("record", "--no-summary", "-o", bundle, "--", "true");
        List<String> opened =
                road.stream()
                        .filter(one -> one.getFirst().equals(PERF_EVENT_OPEN))
                        // What only asks whether this kernel can is no recorder.
                        .filter(one -> !one.contains("probe.plan/KernelFeatureProbe.java"))
                        .max(Comparator.comparingInt(List::size))
                        .orElseThrow();
        check(opened.subList(1, opened.size()), DOWN_RECORD);
        check(at(road("report", bundle), "out"), UP);
    }
}
