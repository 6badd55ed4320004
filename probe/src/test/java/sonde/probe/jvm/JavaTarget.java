package sonde.probe.jvm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * A Java program that runs in a JDK of this machine until it is closed. Its thread {@code busy} is
 * in {@code Target.leaf} nearly all the time, called by {@code inner}, {@code middle}, {@code
 * outer}, {@code run}; half of the calls go through an interface and a lambda.
 *
 * @param process the JVM
 */
public record JavaTarget(Process process) implements AutoCloseable {
    private static final Path JDKS = Path.of("/usr/lib/jvm");
    private static final String SOURCE =
            """
            import java.util.function.IntUnaryOperator;

            public class Target implements Runnable {
                static volatile long sink;
                static int leaf(int n) {
                    long sum = 0;
                    for (int i = 0; i < 20_000 + (n & 7); i++) {
                        sum += sum ^ i * 31;
                    }
                    sink += sum;
                    return (int) sum;
                }
                static int inner(int n) {
                    int r = leaf(n) + 1;
                    sink++;
                    return r;
                }
                static int middle(IntUnaryOperator f, int n) {
                    int r = f.applyAsInt(n) + 1;
                    sink++;
                    return r;
                }
                static int outer(int n) {
                    IntUnaryOperator f = n % 2 == 0 ? Target::inner : x -> inner(x) + 1;
                    int r = middle(f, n) + 1;
                    sink++;
                    return r;
                }
                public void run() {
                    for (int i = 0; ; i++) {
                        outer(i);
                        if (i == 3000) {
                            System.out.println("compiled");
                        }
                    }
                }
                public static void main(String[] args) throws Exception {
                    Thread busy = new Thread(new Target(), "busy");
                    busy.start();
                    busy.join();
                }
            }
            """;

    /** The launchers of the JDKs of this machine. */
    public static List<Path> launchers() throws IOException {
        try (Stream<Path> homes = Files.list(JDKS)) {
            return homes.filter(home -> !Files.isSymbolicLink(home))
                    .map(home -> home.resolve("bin/java"))
                    .filter(Files::isExecutable)
                    .toList();
        }
    }

    /** Compiles and starts it, and waits until its code is compiled. */
    public static JavaTarget start(Path folder, Path java, String... options) throws Exception {
        Path source = Files.writeString(folder.resolve("Target.java"), SOURCE);
        String compiler = Path.of(System.getProperty("java.home"), "bin/javac").toString();
        int status =
                new ProcessBuilder(
                                compiler,
                                "--release",
                                "17",
                                "-d",
                                folder.toString(),
                                source.toString())
                        .inheritIO()
                        .start()
                        .waitFor();
        assertThat(status).isZero();
        List<String> words = new ArrayList<>(List.of(java.toString()));
        words.addAll(List.of(options));
        words.addAll(List.of("-Xmx64m", "-cp", folder.toString(), "Target"));
        Process process = new ProcessBuilder(words).redirectErrorStream(true).start();
        BufferedReader said = process.inputReader(StandardCharsets.UTF_8);
        assertThat(said.readLine()).isEqualTo("compiled");
        return new JavaTarget(process);
    }

    /** Kernel pid of the process. */
    public int pid() {
        return (int) process.pid();
    }

    /** Kernel pid of the thread that is busy. */
    public int busy() throws IOException {
        try (Stream<Path> tasks = Files.list(Path.of("/proc", "" + pid(), "task"))) {
            for (Path task : tasks.toList()) {
                if (Files.readString(task.resolve("comm")).equals("busy\n")) {
                    return Integer.parseInt(task.getFileName().toString());
                }
            }
        }
        throw new IOException("no thread is busy");
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
