package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import sonde.event.result.Listing.ListingForm;
import sonde.tools.explain.ExplainRecipe;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.explain.ExplainRecipe.LogSource;

/**
 * Scores {@code sonde explain} on labelled logs of the fuzzer syzkaller (its pkg/report/testdata).
 * Each bar is what was reached; it only goes up.
 */
class ExplainCorpusTest {
    private static Path folder(String name) {
        String told = System.getProperty("sonde.corpus", System.getenv("SONDE_CORPUS"));
        Path corpus =
                told != null
                        ? Path.of(told)
                        : Path.of(System.getProperty("sonde.root", "."), "../shared/corpus");
        Path folder = corpus.resolve("crashlogs/syzkaller/pkg/report/testdata/linux").resolve(name);
        assumeTrue(Files.isDirectory(folder), "no corpus at " + folder);
        return folder;
    }

    /** A log and what its file says of it. */
    private record Labelled(
            String name,
            String title,
            Set<String> alt,
            String type,
            boolean corrupted,
            String log) {
        static Labelled read(Path path) throws IOException {
            String text = Files.readString(path, StandardCharsets.ISO_8859_1).replace("\r\n", "\n");
            int end = text.indexOf("\n\n");
            String title = "";
            String type = "";
            boolean corrupted = false;
            Set<String> alt = new HashSet<>();
            for (String line : text.substring(0, Math.max(end, 0)).split("\n")) {
                String value = line.substring(line.indexOf(' ') + 1).strip();
                switch (line.split(":")[0]) {
                    case "TITLE" -> title = line.equals("TITLE:") ? "" : value;
                    case "ALT" -> alt.add(value);
                    case "TYPE" -> type = value;
                    case "CORRUPTED" -> corrupted = value.equals("Y");
                    default -> {}
                }
            }
            int report = text.indexOf("\n\nREPORT:");
            String log = text.substring(end + 2, report < 0 ? text.length() : report + 1);
            return new Labelled(path.getFileName().toString(), title, alt, type, corrupted, log);
        }
    }

    private static List<Labelled> logs() throws IOException {
        List<Labelled> logs = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder("report"))) {
            for (Path file : files.sorted().toList()) {
                logs.add(Labelled.read(file));
            }
        }
        return logs;
    }

    static List<Json> incidents(String log) throws IOException {
        byte[] bytes = log.getBytes(StandardCharsets.ISO_8859_1);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        new ExplainRecipe(ExplainOptions.USUAL.ofSyzkaller(), null)
                .of(List.of(new LogSource("log", null, new ByteArrayInputStream(bytes))))
                .rows()
                .writeTo(out, ListingForm.JSON_LINES);
        List<Json> incidents = new ArrayList<>();
        for (String line : out.toString(StandardCharsets.UTF_8).lines().toList()) {
            Json incident = Json.parse(line);
            if (!incident.text("severity").equals("notice")) {
                incidents.add(incident);
            }
        }
        return incidents;
    }

    private record Answer(Labelled log, String identity) {}

    @Test
    void labelledLogsAreClassified() throws IOException {
        int crashes = 0;
        int found = 0;
        int quiet = 0;
        int wrong = 0;
        int typed = 0;
        int types = 0;
        int titles = 0;
        int corrupted = 0;
        List<Answer> answers = new ArrayList<>();
        for (Labelled log : logs()) {
            List<Json> incidents = incidents(log.log());
            if (log.title().isEmpty()) {
                quiet++;
                wrong += incidents.isEmpty() ? 0 : 1;
                continue;
            }
            crashes++;
            typed += log.type().isEmpty() ? 0 : 1;
            if (incidents.isEmpty()) {
                continue;
            }
            Json first = incidents.getFirst();
            found++;
            types += !log.type().isEmpty() && log.type().equals(first.text("type")) ? 1 : 0;
            titles += log.title().equals(first.text("identity")) ? 1 : 0;
            boolean isCorrupted = first.text("corrupted").equals("true");
            corrupted += isCorrupted == log.corrupted() ? 1 : 0;
            answers.add(new Answer(log, first.text("identity")));
        }
        System.out.printf(
                "crashes found %d of %d, quiet logs called a crash %d of %d, TYPE %d of %d,"
                        + " exact TITLE %d, corrupted flag %d, pairs %.4f%n",
                found, crashes, wrong, quiet, types, typed, titles, corrupted, pairs(answers));
        assertThat(found).isGreaterThanOrEqualTo(crashes * 995 / 1000);
        assertThat(wrong).isZero();
        assertThat(types).isGreaterThanOrEqualTo(typed * 98 / 100);
        assertThat(titles).isGreaterThanOrEqualTo(crashes * 89 / 100);
        assertThat(corrupted).isGreaterThanOrEqualTo(crashes * 965 / 1000);
        assertThat(pairs(answers)).isGreaterThan(0.98);
    }

    /**
     * The share of right pairs, where logs of one fault are as important as logs of different ones:
     * those with a title or other title in common have one identity, all others have two.
     */
    private static double pairs(List<Answer> answers) {
        int[] same = {0, 0};
        int[] different = {0, 0};
        for (int i = 0; i < answers.size(); i++) {
            for (int j = i + 1; j < answers.size(); j++) {
                Answer a = answers.get(i);
                Answer b = answers.get(j);
                boolean equal = a.identity().equals(b.identity());
                if (a.log().title().equals(b.log().title())) {
                    boolean isKnown = !a.log().title().endsWith(" in corrupted");
                    same[equal ? 1 : 0] += isKnown ? 1 : 0;
                } else if (!a.log().alt().stream().anyMatch(b.log().alt()::contains)) {
                    different[equal ? 0 : 1]++;
                }
            }
        }
        double ofSame = (double) same[1] / (same[0] + same[1]);
        double ofDifferent = (double) different[1] / (different[0] + different[1]);
        System.out.printf("pairs: same %.3f, different %.5f%n", ofSame, ofDifferent);
        return (ofSame + ofDifferent) / 2;
    }

    @Test
    void theFileToBlameIsFound() throws IOException {
        int right = 0;
        List<String> wrong = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder("guilty"))) {
            for (Path path : files.sorted().toList()) {
                String text = Files.readString(path, StandardCharsets.ISO_8859_1);
                String expected = text.substring("FILE: ".length(), text.indexOf('\n')).strip();
                List<Json> incidents = incidents(text.substring(text.indexOf("\n\n") + 2));
                String file = incidents.isEmpty() ? "-" : incidents.getFirst().text("file");
                if (file.equals(expected)) {
                    right++;
                } else {
                    wrong.add(path.getFileName() + ": " + file + " for " + expected);
                }
            }
        }
        System.out.println("file to blame: " + right + " right; " + wrong);
        assertThat(right).isGreaterThanOrEqualTo(44);
    }

    /** CR2 has the address that the processor computed from the operands of the instruction. */
    @Test
    void theInstructionAccessesTheAddressOfTheFault() throws IOException {
        int same = 0;
        List<String> other = new ArrayList<>();
        for (Labelled log : logs()) {
            for (Json incident : incidents(log.log())) {
                String details = incident.text("details");
                if (details.contains("the address of the fault")) {
                    same++;
                } else if (details.contains("the instruction at")
                        && details.contains("; it ")
                        && details.contains("page fault: ")) {
                    other.add(log.name() + ": " + details);
                }
            }
        }
        System.out.println("address of the fault computed: " + same + "; not: " + other);
        assertThat(same).isGreaterThan(30);
        assertThat(other).hasSizeLessThanOrEqualTo(same / 20);
    }
}
