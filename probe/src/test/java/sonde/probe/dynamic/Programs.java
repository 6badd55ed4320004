package sonde.probe.dynamic;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Builds programs whose output says what is true, and runs them under probes. */
final class Programs {
    private Programs() {}

    /** A compiler with its options. */
    record Build(String compiler, List<String> options) {
        static Build of(String words) {
            List<String> all = List.of(words.split(" "));
            return new Build(all.getFirst(), all.subList(1, all.size()));
        }

        boolean isThere() {
            return List.of("/usr/bin/", "/usr/local/bin/").stream()
                    .anyMatch(folder -> Files.isExecutable(Path.of(folder + compiler)));
        }
    }

    static Path build(Path folder, String name, String source, Build build)
            throws IOException, InterruptedException {
        Path text = Files.writeString(folder.resolve(name), source);
        Path program = folder.resolve(name.replaceAll("\\W", "_"));
        List<String> command = new ArrayList<>(List.of(build.compiler()));
        command.addAll(build.options());
        command.addAll(List.of("-o", program.toString(), text.toString()));
        run(command);
        return program;
    }

    static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes());
        if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException(command + ": " + out);
        }
        return out;
    }

    /** Line of the source with a mark, from 1. */
    static int line(String source, String mark) {
        List<String> lines = source.lines().toList();
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).contains(mark)) {
                return i + 1;
            }
        }
        throw new IllegalArgumentException(mark);
    }

    /** {@code key=value} pairs of a line; a value in quotes is without them. */
    static Map<String, String> pairs(String line) {
        Map<String, String> found = new TreeMap<>();
        Matcher matcher = Pattern.compile("(\\w+)=(\"[^\"]*\"|\\{[^}]*\\}|\\S+)").matcher(line);
        while (matcher.find()) {
            found.put(matcher.group(1), matcher.group(2).replace("\"", ""));
        }
        return found;
    }
}
