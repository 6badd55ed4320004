package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Package pages name types and packages that exist, and lists of proofs tests that exist. */
class PackagePagesTest {
    private static final Pattern DECLARED =
            Pattern.compile("\\b(?:class|interface|enum|record)\\s+([A-Z]\\w*)");
    private static final Pattern EXAMPLE =
            Pattern.compile("(?s)\\{@snippet :(.*?)\\n \\* \\}|<pre>\\{@code(.*?)</pre>");
    private static final Pattern TYPE = Pattern.compile("(?<![\\w.@])([A-Z][a-z]\\w*)");

    private static final Pattern NAMED =
            Pattern.compile("\\{@code\\s+(?:sonde\\.)?([a-z]+(?:\\.[a-z]+)+)(?:\\.[A-Z]\\w*)?\\}");

    /** Packages of the JDK whose types examples use. */
    private static final List<String> JDK =
            List.of(
                    "java.lang",
                    "java.util",
                    "java.nio",
                    "java.nio.file",
                    "java.lang.foreign",
                    "java.io",
                    "java.time");

    private static List<Path> sources() throws IOException {
        try (Stream<Path> modules = Files.list(Sonde.ROOT)) {
            List<Path> all = new ArrayList<>();
            for (Path module : modules.sorted().toList()) {
                Path folder = module.resolve("src/main/java");
                if (Files.isDirectory(folder)) {
                    try (Stream<Path> walk = Files.walk(folder)) {
                        walk.filter(file -> file.toString().endsWith(".java")).forEach(all::add);
                    }
                }
            }
            return all;
        }
    }

    private static boolean isElsewhere(String name) {
        return name.equals("Assumptions") // JUnit's
                || JDK.stream()
                        .anyMatch(folder -> {
                            try {
                                Class.forName(folder + "." + name, false, null);
                                return true;
                            } catch (ClassNotFoundException e) {
                                return false;
                            }
                        });
    }

    @Test
    void examplesNameTypesThatExist() throws IOException {
        Set<String> types = new TreeSet<>();
        List<Path> pages = new ArrayList<>();
        for (Path source : sources()) {
            Matcher declared = DECLARED.matcher(Files.readString(source));
            types.addAll(declared.results().map(one -> one.group(1)).collect(Collectors.toSet()));
            if (source.endsWith("package-info.java")) {
                pages.add(source);
            }
        }
        assertThat(pages).hasSizeGreaterThan(50);
        List<String> missing = new ArrayList<>();
        for (Path page : pages) {
            String text = Files.readString(page).replaceAll("\"[^\"\\n]*\"|//[^\\n]*", "");
            Matcher example = EXAMPLE.matcher(text);
            while (example.find()) {
                TYPE.matcher(example.group())
                        .results()
                        .map(one -> one.group(1))
                        .filter(name -> !types.contains(name) && !isElsewhere(name))
                        .forEach(name -> missing.add(Sonde.ROOT.relativize(page) + ": " + name));
            }
        }
        assertThat(missing).isEmpty();
    }

    /**
     * Texts name packages without {@code sonde.}: {@code lang.type}, {@code binary.btf.CHeader}.
     */
    @Test
    void textsNamePackagesThatExist() throws IOException {
        List<Path> sources = sources();
        Set<String> packages = new TreeSet<>();
        for (Path source : sources) {
            String folder = Sonde.ROOT.relativize(source.getParent()).toString();
            packages.add(folder.replaceFirst(".*/sonde/", "").replace('/', '.'));
        }
        Set<String> modules = new TreeSet<>(Set.of("format"));
        packages.forEach(name -> modules.add(name.replaceFirst("[.].*", "")));
        List<String> missing = new ArrayList<>();
        for (Path page :
                sources.stream().filter(one -> one.endsWith("package-info.java")).toList()) {
            String text = Files.readString(page).replaceAll("\\n \\* *", " ");
            Matcher named = NAMED.matcher(text);
            while (named.find()) {
                String name = named.group(1);
                String module = name.replaceFirst("[.].*", "");
                if (modules.contains(module) && !packages.contains(name)) {
                    missing.add(Sonde.ROOT.relativize(page) + ": " + name);
                }
            }
        }
        assertThat(missing).isEmpty();
    }

    /** What conformance/structure.md and seeds.md name as proof are test classes and methods. */
    @Test
    void testsNamedAsProofExist() throws IOException {
        Map<String, String> tests = new TreeMap<>();
        try (Stream<Path> walk = Files.walk(Sonde.ROOT, 14)) {
            for (Path file : walk.filter(one -> one.toString().endsWith("Test.java")).toList()) {
                String name = file.getFileName().toString().replace(".java", "");
                tests.put(name, Files.readString(file));
            }
        }
        List<String> missing = new ArrayList<>();
        for (String page : List.of("structure.md", "seeds.md")) {
            Matcher named =
                    Pattern.compile("`(\\w+Test)(?:#(\\w+))?`")
                            .matcher(Files.readString(Sonde.ROOT.resolve("conformance/" + page)));
            while (named.find()) {
                String method = named.group(2) == null ? "" : named.group(2) + "(";
                if (!tests.getOrDefault(named.group(1), "").contains(method)
                        || !tests.containsKey(named.group(1))) {
                    missing.add(page + ": " + named.group());
                }
            }
        }
        assertThat(missing).isEmpty();
    }
}
