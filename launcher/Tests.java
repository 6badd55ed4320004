import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What {@code ./test} runs after {@code ./sonde} has compiled the main classes: it compiles the
 * tests with plain javac, and runs those of a ring, of a module or of single classes in one JVM per
 * module.
 *
 * <pre>
 * build/classpaths      the jars that each module's tests use, from Maven once per change of a pom
 * build/tests/MODULE    test classes; of testkit its main classes too
 * build/reports         a file of JUnit's XML for each class, from its last run
 * build/ring.times      seconds of each class at its last run, slowest first
 * </pre>
 */
public final class Tests {
    private static final String TESTKIT = "testkit";

    /** The rings that need more than a JVM; a class of them runs only when it is named. */
    private static final String OTHER_RINGS = "kernel,guest,inguest,product,page,bench";

    private static final int SLOWEST = 10;
    private static final Pattern SUITE =
            Pattern.compile("<testsuite name=\"([^\"]*)\" .*?time=\"([0-9.]*)\"");

    private final Path root;
    private final Path out;
    private final Path reports;
    private final List<String> options;
    private final Map<String, List<String>> classpaths = new TreeMap<>();

    private Tests(Path root, List<String> options) {
        this.root = root;
        this.out = root.resolve("build");
        this.reports = out.resolve("reports");
        this.options = options;
    }

    /**
     * Runs.
     *
     * @param args the checkout, {@code quick} or the name of a ring, options of the tests' JVM, and
     *     for {@code quick} modules and classes ({@code Foo}, {@code Foo#method})
     */
    public static void main(String[] args) throws Exception {
        List<String> words = List.of(args).subList(2, args.length);
        Map<Boolean, List<String>> parts =
                words.stream().collect(Collectors.partitioningBy(word -> word.startsWith("-")));
        Tests tests = new Tests(Path.of(args[0]).toAbsolutePath(), parts.get(true));
        try {
            System.exit(tests.run(args[1], parts.get(false)));
        } catch (IOException e) {
            System.err.println("./test " + args[1] + ": " + e.getMessage());
            System.exit(2);
        }
    }

    /** What runs in the JVM of one module. */
    private record Run(String module, List<String> words) {}

    private int run(String ring, List<String> words) throws Exception {
        readClasspaths();
        boolean isQuick = ring.equals("quick");
        List<Run> runs = new ArrayList<>();
        if (isQuick) {
            choose(words).forEach((module, classes) ->
                    runs.add(new Run(module, classes.isEmpty() ? all("fast", module) : classes)));
        } else {
            classpaths.keySet().forEach(module -> runs.add(new Run(module, all(ring, module))));
        }
        Map<String, ClassFacts> used = new TreeMap<>(new Build(root).compile().facts());
        used.putAll(
                compile(
                        TESTKIT,
                        root.resolve(TESTKIT + "/src/main"),
                        out.resolve("tests/testkit-main"),
                        Map.of()));
        runs.removeIf(run -> !Files.isDirectory(root.resolve(run.module() + "/src/test/java")));
        for (Run run : runs) {
            Path sources = root.resolve(run.module() + "/src/test");
            compile(run.module(), sources, out.resolve("tests/" + run.module()), used);
        }
        Files.createDirectories(reports);
        long begin = System.currentTimeMillis();
        long[] counts = run(runs, ring.equals("fast") ? 2 : 1);
        reportTimes(begin, isQuick ? 0 : SLOWEST);
        String line = counts[0] + " passed, " + counts[1] + " failed, " + counts[2] + " skipped";
        if (isQuick) {
            System.out.println(line);
        }
        Files.writeString(out.resolve("ring." + ring.replace('|', '-')), line + "\n");
        return counts[1] > 0 ? 1 : 0;
    }

    private List<String> all(String ring, String module) {
        String classes = out.resolve("tests/" + module).toString();
        return ring.equals("fast")
                ? List.of("--without", OTHER_RINGS, classes)
                : List.of("--with", ring, classes);
    }

    /** Runs so many JVMs side by side, the ones that took longest first. */
    private long[] run(List<Run> runs, int width) throws Exception {
        Map<String, Double> times = new TreeMap<>();
        if (width > 1) {
            for (var one : readTimes(0).entrySet()) {
                for (Run run : runs) {
                    String file = one.getKey().replace('.', '/') + ".class";
                    if (Files.exists(out.resolve("tests/" + run.module()).resolve(file))) {
                        times.merge(run.module(), one.getValue(), Double::sum);
                    }
                }
            }
            runs.sort(Comparator.comparingDouble(run -> -times.getOrDefault(run.module(), 0.0)));
        }
        long[] sum = new long[3];
        try (ExecutorService jvms = Executors.newFixedThreadPool(width)) {
            List<Future<long[]>> results = new ArrayList<>();
            for (Run run : runs) {
                results.add(jvms.submit(() -> test(run)));
            }
            for (Future<long[]> result : results) {
                for (int i = 0; i < sum.length; i++) {
                    sum[i] += result.get()[i];
                }
            }
        }
        return sum;
    }

    private long[] test(Run run) throws Exception {
        Path counts = Files.createTempFile(out, "run", ".counts");
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin/java").toString());
        // As the surefire configuration of pom.xml has it.
        command.addAll(
                List.of(
                        "-ea",
                        "--enable-native-access=ALL-UNNAMED",
                        "-Xmx1500m",
                        "-XX:+UseSerialGC",
                        "-Dsonde.root=" + root,
                        "-Dslf4j.internal.verbosity=ERROR",
                        "-Djunit.jupiter.testclass.order.default="
                                + "org.junit.jupiter.api.ClassOrderer$ClassName"));
        command.addAll(options);
        String classpath = classpath(run.module(), out.resolve("tests/" + run.module()));
        command.addAll(List.of("-cp", classpath, "sonde.testkit.TestRun", reports.toString()));
        command.add(counts.toString());
        command.addAll(run.words());
        Process jvm =
                new ProcessBuilder(command)
                        .directory(root.resolve(run.module()).toFile())
                        .inheritIO()
                        .start();
        int status = jvm.waitFor();
        String line = Files.readString(counts).strip();
        Files.delete(counts);
        if (line.isEmpty()) {
            System.out.println("FAILED " + run.module() + ": its JVM ended with status " + status);
            return new long[] {0, 1, 0};
        }
        return Stream.of(line.split(" ")).mapToLong(Long::parseLong).toArray();
    }

    /** Seconds by class, of the reports written since then. */
    private Map<String, Double> readTimes(long since) throws IOException {
        Map<String, Double> times = new TreeMap<>();
        for (Path report : Compilation.list(reports, ".xml")) {
            if (Files.getLastModifiedTime(report).toMillis() >= since) {
                Matcher suite = SUITE.matcher(Files.readString(report));
                if (suite.find()) {
                    times.put(suite.group(1), Double.valueOf(suite.group(2)));
                }
            }
        }
        return times;
    }

    private static List<String> slowestFirst(Map<String, Double> times) {
        return times.entrySet().stream()
                .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                .map(one -> "%8.2f %s".formatted(one.getValue(), one.getKey()))
                .toList();
    }

    private void reportTimes(long begin, int most) throws IOException {
        Path fresh = Files.createTempFile(out, "ring", ".times");
        Files.write(fresh, slowestFirst(readTimes(0)));
        Files.move(fresh, out.resolve("ring.times"), StandardCopyOption.REPLACE_EXISTING);
        List<String> slowest = slowestFirst(readTimes(begin));
        if (most > 0 && !slowest.isEmpty()) {
            System.out.println("slowest classes, seconds:");
            slowest.stream().limit(most).forEach(System.out::println);
        }
    }

    /** For each module the classes of it that run; an empty list means all of the fast ring. */
    private Map<String, List<String>> choose(List<String> words) throws Exception {
        Map<String, List<String>> chosen = new LinkedHashMap<>();
        List<String> modules = words.stream().filter(classpaths::containsKey).toList();
        modules.forEach(module -> chosen.put(module, new ArrayList<>()));
        for (String word : words) {
            if (classpaths.containsKey(word)) {
                continue;
            }
            String[] parts = word.split("#", 2);
            List<String[]> found = find(parts[0], modules.isEmpty() ? classpaths.keySet().stream().toList() : modules);
            if (found.isEmpty()) {
                throw new IOException(
                        "'" + word + "' is neither a module nor a test class"
                                + (modules.isEmpty() ? "" : " of " + String.join(", ", modules)));
            }
            for (String[] one : found) {
                chosen.computeIfAbsent(one[0], module -> new ArrayList<>())
                        .add(one[1] + (parts.length > 1 ? "#" + parts[1] : ""));
            }
        }
        if (words.isEmpty()) {
            for (String module : changed()) {
                chosen.put(module, List.of());
            }
            if (chosen.isEmpty()) {
                throw new IOException("git shows no change in a module; name a MODULE or a CLASS");
            }
        }
        return chosen;
    }

    /** Pairs of module and class name, for a simple or a full name. */
    private List<String[]> find(String name, List<String> modules) throws IOException {
        List<String[]> found = new ArrayList<>();
        String file = "/" + name.replace('.', '/') + ".java";
        for (String module : modules) {
            Path sources = root.resolve(module + "/src/test/java");
            for (Path source : Compilation.list(sources, ".java")) {
                String path = "/" + sources.relativize(source);
                if (path.endsWith(file)) {
                    found.add(new String[] {module, path.substring(1, path.length() - 5).replace('/', '.')});
                }
            }
        }
        return found;
    }

    private List<String> changed() throws Exception {
        Process git =
                new ProcessBuilder("git", "status", "--porcelain", "-uall")
                        .directory(root.toFile())
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        TreeSet<String> modules = new TreeSet<>();
        for (String line : new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines().toList()) {
            String path = line.substring(line.lastIndexOf(' ') + 1);
            String module = path.substring(0, Math.max(0, path.indexOf('/')));
            if (classpaths.containsKey(module)) {
                modules.add(module);
            }
        }
        return List.copyOf(modules);
    }

    /** What Maven says the tests of each module use, kept until a pom changes. */
    private void readClasspaths() throws Exception {
        Path kept = out.resolve("classpaths");
        List<Path> poms = new ArrayList<>();
        try (Stream<Path> folders = Files.list(root)) {
            folders.map(folder -> folder.resolve("pom.xml")).filter(Files::exists).forEach(poms::add);
        }
        poms.add(root.resolve("pom.xml"));
        boolean old = !Files.exists(kept);
        for (Path pom : poms) {
            old |= !old && Files.getLastModifiedTime(pom).compareTo(Files.getLastModifiedTime(kept)) > 0;
        }
        if (old) {
            System.err.println("./test: asking Maven for the class paths (once per change of a pom)");
            askMaven(kept);
        }
        for (String line : Files.readAllLines(kept)) {
            List<String> parts = List.of(line.split("\t"));
            classpaths.put(parts.getFirst(), parts.subList(1, parts.size()));
        }
        for (List<String> classpath : classpaths.values()) {
            if (classpath.stream().anyMatch(place -> place.endsWith(".jar") && !Files.exists(Path.of(place)))) {
                Files.delete(kept);
                throw new IOException("a library of " + kept + " is gone; start again");
            }
        }
    }

    private void askMaven(Path kept) throws Exception {
        Path log = out.resolve("classpath.log");
        ProcessBuilder maven =
                new ProcessBuilder(
                                "mvn", "-q", "-B", "-ntp", "compile", "dependency:build-classpath",
                                "-Dmaven.main.skip", "-Dmaven.resources.skip", "-Dspotless.check.skip",
                                "-Dcheckstyle.skip", "-Dmdep.outputFile=target/classpath")
                        .directory(root.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(log.toFile());
        maven.environment().put("JAVA_HOME", System.getProperty("java.home"));
        if (maven.start().waitFor() != 0) {
            throw new IOException("Maven could not name the class paths; see " + log);
        }
        StringBuilder text = new StringBuilder();
        try (Stream<Path> folders = Files.list(root)) {
            for (Path folder : folders.sorted().toList()) {
                Path named = folder.resolve("target/classpath");
                if (Files.exists(named)) {
                    text.append(folder.getFileName());
                    for (String place : Files.readString(named).strip().split(":")) {
                        text.append('\t').append(ours(place));
                    }
                    text.append('\n');
                    Files.delete(named);
                }
            }
        }
        Path fresh = out.resolve("classpath.new");
        Files.writeString(fresh, text);
        Files.move(fresh, kept, StandardCopyOption.REPLACE_EXISTING);
    }

    /** A module of ours by its name alone: a copy of this folder has its own classes. */
    private static String ours(String place) {
        return place.endsWith("/target/classes")
                ? Path.of(place).getParent().getParent().getFileName().toString()
                : place;
    }

    /** The folders of a module: classes as ./sonde builds them, and resources in place. */
    private String places(String module) {
        Path classes = module.equals(TESTKIT) ? out.resolve("tests/testkit-main") : out.resolve("classes/sonde." + module);
        return classes + "\t" + root.resolve(module + "/src/main/resources");
    }

    private String classpath(String module, Path classes) {
        List<String> places = new ArrayList<>();
        places.add(classes.toString());
        places.add(root.resolve(module + "/src/test/resources").toString());
        places.addAll(List.of(places(module).split("\t")));
        for (String place : classpaths.get(module)) {
            places.addAll(List.of(place.endsWith(".jar") ? new String[] {place} : places(place).split("\t")));
        }
        return String.join(":", places);
    }

    /**
     * Compiles a module's tests, or the main classes of testkit.
     *
     * @param used the classes of other folders that they use
     */
    private Map<String, ClassFacts> compile(
            String module, Path sources, Path classes, Map<String, ClassFacts> used)
            throws Exception {
        String classpath = classpath(module, classes);
        List<String> options = new ArrayList<>(Build.JAVAC);
        options.addAll(List.of("-cp", classpath, "-d", classes.toString()));
        String version = options + Build.digest(Compilation.list(root.resolve("launcher"), ".java"));
        Compilation compilation =
                new Compilation(
                        Path.of(classes + ".state"),
                        version,
                        List.of(new Compilation.Unit(sources.resolve("java"), classes)),
                        options);
        List<Path> places =
                Stream.of(classpath.split(":"))
                        .map(Path::of)
                        .filter(place -> place.startsWith(out) && !place.equals(classes))
                        .toList();
        compilation.uses(used, places);
        compilation.run(files -> {});
        return compilation.facts();
    }
}
