package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pictures of the documentation show what sonde shows today; docs/pictures/make renews them.
 */
@Tag("product")
@Tag("tracefs")
class PicturesTest {
    private static final Path PICTURES = Sonde.ROOT.resolve("docs/pictures");
    private static final int MOST_BYTES = 200_000;

    @TempDir Path folder;

    private static List<String> linesOf(String name) throws Exception {
        String svg = Files.readString(PICTURES.resolve(name));
        Matcher text = Pattern.compile("(?m)^<text [^>]*>(.*)</text>$").matcher(svg);
        return text.results()
                .map(line -> line.group(1).replaceAll("<[^>]*>", ""))
                .map(line -> line.replace("&gt;", ">").replace("&lt;", "<").replace("&amp;", "&"))
                .toList();
    }

    @Test
    void eachIsSmallAndShown() throws Exception {
        String pages =
                Files.readString(Sonde.ROOT.resolve("README.md"))
                        + Files.readString(Sonde.ROOT.resolve("docs/explain.md"))
                        + Files.readString(Sonde.ROOT.resolve("docs/index.md"));
        try (Stream<Path> files = Files.list(PICTURES)) {
            List<Path> pictures = files.filter(file -> !file.toString().endsWith("make")).toList();
            assertThat(pictures).hasSizeGreaterThan(3);
            for (Path picture : pictures) {
                assertThat(Files.size(picture)).as(picture.toString()).isLessThan(MOST_BYTES);
                assertThat(pages).contains("pictures/" + picture.getFileName());
            }
        }
    }

    @Test
    void theExplanationIsThatOfTheExample() throws Exception {
        String page = Files.readString(Sonde.ROOT.resolve("docs/first/kernel.md"));
        Matcher log = Pattern.compile("(?s)`oops\\.txt`:\n\n```text\n(.*?)```").matcher(page);
        assertThat(log.find()).isTrue();
        Files.writeString(folder.resolve("oops.txt"), log.group(1));
        String out =
                Sonde.in(folder).with(Map.of("COLUMNS", "100")).run("explain", "oops.txt").out();
        List<String> shown = linesOf("explain.svg");
        assertThat(shown.getFirst()).isEqualTo("$ sonde explain oops.txt");
        assertThat(String.join("\n", shown.subList(1, shown.size())).strip())
                .isEqualTo(out.strip());
    }

    @Test
    void headingsAndSectionsAreThoseOfARecording() throws Exception {
        assumeTrue(Files.isWritable(Path.of("/proc/1/oom_score_adj")), "needs root");
        Sonde.Outcome recorded =
                Sonde.in(folder).run("record", "-o", "r", "--", "sh", "-c", "ls -R /etc | wc");
        // Titles have no number and are not indented.
        List<String> titles =
                linesOf("record.svg").stream()
                        .filter(line -> line.matches("[a-z][A-Za-z ]*") && line.contains(" "))
                        .toList();
        assertThat(titles).contains("where the time went", "off CPU");
        assertThat(recorded.err().lines()).as(recorded.toString()).containsAll(titles);
        String json = Sonde.in(folder).run("report", "r.sonde", "--json").out();
        byte[] png = Files.readAllBytes(PICTURES.resolve("page.png"));
        String head = new String(png, 0, 1000, StandardCharsets.ISO_8859_1);
        Matcher comment = Pattern.compile("tEXtComment\0([\\w/, .-]+)").matcher(head);
        assertThat(comment.find()).isTrue();
        assertThat(comment.group(1)).contains("where the time went");
        for (String title : List.of("on CPU", "off CPU", "system calls", "files and peers")) {
            assertThat(comment.group(1)).contains(title);
            assertThat(json).contains("\"title\":\"" + title + "\"");
        }
        String histogram = String.join("\n", linesOf("runqlat.svg"));
        assertThat(histogram).contains("Measuring waits for a CPU (us)", "|@");
        assertThat(Sonde.in(folder).run("tool", "runqlat", "--script").out())
                .contains("Measuring waits for a CPU (us)");
    }
}
