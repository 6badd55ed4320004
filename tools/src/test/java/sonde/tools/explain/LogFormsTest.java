package sonde.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;
import sonde.event.result.Listing.ListingForm;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.explain.ExplainRecipe.LogSource;

/**
 * Severity, identity and function of reports as kernels 4.4 to 6.18 of eight machines print them.
 */
class LogFormsTest {
    private record Form(List<String> found, List<String> lines) {}

    private static List<Form> forms() throws IOException {
        try (InputStream in = LogFormsTest.class.getResourceAsStream("forms.txt")) {
            assertThat(in).isNotNull();
            List<Form> forms = new ArrayList<>();
            boolean isHeader = false;
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            for (String line : text.lines().toList()) {
                boolean begins = line.startsWith("== ");
                if (begins && !isHeader) {
                    forms.add(new Form(new ArrayList<>(), new ArrayList<>()));
                }
                isHeader = begins;
                if (begins) {
                    forms.getLast().found().add(line.substring(3).strip());
                } else if (!forms.isEmpty()) {
                    forms.getLast().lines().add(line);
                }
            }
            return forms;
        }
    }

    private static List<String> incidents(String log) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] bytes = log.getBytes(StandardCharsets.UTF_8);
        new ExplainRecipe(ExplainOptions.USUAL, null)
                .of(List.of(new LogSource("log", null, new ByteArrayInputStream(bytes))))
                .rows()
                .writeTo(out, ListingForm.TEXT);
        List<String> found = new ArrayList<>();
        String identity = "";
        String severity = "";
        String function = "";
        for (String line : (out.toString(StandardCharsets.UTF_8) + "#").lines().toList()) {
            if (line.startsWith("#")) {
                if (!identity.isEmpty()) {
                    found.add((severity + " | " + identity + " | " + function).strip());
                }
                identity = line.length() > 1 ? line.substring(line.indexOf(' ')).strip() : "";
                severity = "";
                function = "";
            } else if (severity.isEmpty() && !identity.isEmpty()) {
                severity = line.strip().split(",")[0];
            } else if (line.startsWith("    where    ")) {
                function = line.substring(13).split("[+ ]")[0];
            }
        }
        return found;
    }

    @Test
    void eachFormIsRecognised() throws IOException {
        SoftAssertions all = new SoftAssertions();
        List<Form> forms = forms();
        for (Form form : forms) {
            for (String prefix :
                    Arrays.asList(
                            "[%5d.%06d] ",
                            "<4>[%5d.%06d][   T77] ",
                            "Nov  4 10:00:01 pond kernel: [%5d.%06d] ",
                            "")) {
                StringBuilder log = new StringBuilder();
                for (int i = 0; i < form.lines().size(); i++) {
                    log.append(prefix.formatted(12, i)).append(form.lines().get(i)).append('\n');
                }
                all.assertThat(incidents(log.toString()))
                        .as(prefix + form.lines().getFirst())
                        .isEqualTo(form.found());
            }
        }
        assertThat(forms).hasSizeGreaterThan(40);
        all.assertAll();
    }
}
