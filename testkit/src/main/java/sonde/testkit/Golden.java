package sonde.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Files of expected text beside the test that compares with them. {@code ./test quick FooTest
 * -Dsonde.golden=write} writes them anew.
 */
public final class Golden {
    /** Equal lines that are shown around a difference. */
    private static final int CONTEXT = 3;

    private final Path folder;
    private final String test;

    private Golden(Path folder, String test) {
        this.folder = folder;
        this.test = test;
    }

    /** Those of a test's package, in the resources of a module. */
    public static Golden of(String module, Class<?> test) {
        Path root = Path.of(System.getProperty("sonde.root", ".."));
        String inPackage = test.getPackageName().replace('.', '/');
        return new Golden(
                root.resolve(module + "/src/test/resources").resolve(inPackage),
                test.getSimpleName());
    }

    /**
     * Compares a text with the file of that name.
     *
     * @throws AssertionError when they differ; the message has the lines that differ and says how
     *     the file is renewed
     */
    public void check(String name, String actual) throws IOException {
        Path file = folder.resolve(name);
        if ("write".equals(System.getProperty("sonde.golden"))) {
            Files.createDirectories(folder);
            Files.writeString(file, actual);
        }
        String expected = Files.exists(file) ? Files.readString(file) : "";
        if (!expected.equals(actual)) {
            throw new AssertionError(
                    "%s\n--- expected\n+++ but was\n%s\nIf the new text is right, renew the file: %s"
                            .formatted(
                                    file,
                                    difference(expected, actual),
                                    "./test quick " + test + " -Dsonde.golden=write"));
        }
    }

    /** The lines that differ, {@code -} for those of the file and {@code +} for the new ones. */
    static String difference(String expected, String actual) {
        List<String> old = expected.lines().toList();
        List<String> now = actual.lines().toList();
        List<String> all = merged(old, now, commonLengths(old, now));
        if (all.stream().allMatch(line -> line.startsWith(" "))) {
            return "(only the ends of lines differ)";
        }
        List<String> shown = new ArrayList<>();
        int last = -1;
        for (int i = 0; i < all.size(); i++) {
            List<String> around =
                    all.subList(Math.max(0, i - CONTEXT), Math.min(all.size(), i + CONTEXT + 1));
            if (around.stream().anyMatch(line -> !line.startsWith(" "))) {
                if (i > last + 1) {
                    shown.add("@@");
                }
                shown.add(all.get(i));
                last = i;
            }
        }
        return String.join("\n", shown);
    }

    private static List<String> merged(List<String> old, List<String> now, int[][] common) {
        List<String> all = new ArrayList<>();
        int i = 0;
        int j = 0;
        while (i < old.size() || j < now.size()) {
            boolean both = i < old.size() && j < now.size();
            if (both && old.get(i).equals(now.get(j))) {
                all.add(" " + old.get(i++));
                j++;
            } else if (j == now.size() || both && common[i + 1][j] >= common[i][j + 1]) {
                all.add("-" + old.get(i++));
            } else {
                all.add("+" + now.get(j++));
            }
        }
        return all;
    }

    /** Length of the longest common sequence of lines from the i-th and the j-th line on. */
    private static int[][] commonLengths(List<String> old, List<String> now) {
        int[][] lengths = new int[old.size() + 1][now.size() + 1];
        for (int i = old.size() - 1; i >= 0; i--) {
            for (int j = now.size() - 1; j >= 0; j--) {
                lengths[i][j] =
                        old.get(i).equals(now.get(j))
                                ? lengths[i + 1][j + 1] + 1
                                : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
            }
        }
        return lengths;
    }
}
