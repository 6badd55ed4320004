package sonde.bpf.verifier;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * A program of {@code refused.txt}.
 *
 * @param id the kind of refusal
 * @param type of the program
 * @param options lines {@code "says: ..."} before it
 * @param program the text, with holes
 */
record Refused(String id, String type, Map<String, String> options, String program) {
    /** All of them. */
    static List<Refused> all() throws IOException {
        List<Refused> all = new ArrayList<>();
        try (InputStream in =
                Objects.requireNonNull(Refused.class.getResourceAsStream("refused.txt"))) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            for (String block : text.split("\n(?=\\[)")) {
                if (block.startsWith("[")) {
                    all.add(of(block.lines().filter(line -> !line.isBlank()).toList()));
                }
            }
        }
        return all;
    }

    private static Refused of(List<String> lines) {
        String head = lines.getFirst();
        int end = head.indexOf(']');
        Map<String, String> options = new HashMap<>();
        int at = 1;
        while (lines.get(at)
                .matches("(says|hint|since|until|license|flags|attach|btf|nowhere): .*")) {
            int colon = lines.get(at).indexOf(": ");
            options.put(lines.get(at).substring(0, colon), lines.get(at).substring(colon + 2));
            at++;
        }
        return new Refused(
                head.substring(1, end),
                head.substring(end + 2),
                options,
                String.join("\n", lines.subList(at, lines.size())) + "\n");
    }

    String option(String name) {
        return options.getOrDefault(name, "");
    }

    /** Whether kernels of that release refuse it so. */
    boolean concerns(String release) {
        String since = options.getOrDefault("since", "0.0");
        String until = options.getOrDefault("until", "999.0");
        return number(since) <= number(release) && number(release) < number(until);
    }

    static int number(String release) {
        String[] parts = release.split("[.-]");
        return Integer.parseInt(parts[0]) * 1000 + Integer.parseInt(parts[1]);
    }
}
