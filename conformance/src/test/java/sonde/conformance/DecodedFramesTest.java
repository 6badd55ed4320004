package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.Listing.ListingForm;
import sonde.symbol.line.SourceOptions;
import sonde.tools.symbolize.SymbolizeRecipe;

/**
 * Each frame of the logs of a debug kernel beside what the kernel's decode_stacktrace.sh says.
 *
 * <p>It looks up the address behind a call, which may be of the next line. Our answer for that very
 * address has to be its answer; then ours for the call is better. It takes each function of a
 * module for one of {@code .text}, so its answers for the other sections are of other functions.
 */
class DecodedFramesTest {
    private static final Pattern FRAME =
            Pattern.compile(
                    "(?<name>[A-Za-z_.$][\\w.$]*)\\+0x(?<offset>[0-9a-f]+)/0x(?<size>[0-9a-f]+)"
                            + "(?: \\((?<places>[^<>]+:\\d+(?: < [^<>]+:\\d+)*(?: or another)?)\\))?"
                            + "(?: \\[(?<module>[\\w-]+)\\])?");

    private static final Pattern DECODED =
            Pattern.compile(
                    "(?<name>[A-Za-z_.$][\\w.$]*) "
                            + "\\((?<places>(?:\\S+:[\\d?]+(?: \\(discriminator \\d+\\))? ?)+)\\)");

    private static final Pattern PLACE = Pattern.compile("\\S+:[\\d?]+");

    /** A frame, innermost place first. */
    private record Frame(String text, String name, String module, List<String> places) {}

    private static List<Frame> ours(String annotated) {
        List<Frame> frames = new ArrayList<>();
        for (String line : annotated.split("\n")) {
            Matcher frame = FRAME.matcher(line);
            if (frame.find()) {
                List<String> places = new ArrayList<>();
                String found = frame.group("places");
                for (String place : found == null ? new String[0] : found.split(" < ")) {
                    places.add(place.replace(" or another", "").replaceFirst("^.* ", ""));
                }
                String module = frame.group("module") == null ? "" : frame.group("module");
                String text =
                        "%s+0x%s/0x%s"
                                .formatted(
                                        frame.group("name"),
                                        frame.group("offset"),
                                        frame.group("size"));
                String named = module.isEmpty() ? text : text + " [" + module + "]";
                frames.add(new Frame(named, frame.group("name"), module, places));
            }
        }
        return frames;
    }

    private static List<Frame> theirs(Path decoded) throws IOException {
        List<Frame> frames = new ArrayList<>();
        for (String line : Files.readString(decoded, StandardCharsets.ISO_8859_1).split("\n")) {
            Matcher frame = DECODED.matcher(line);
            if (frame.find()) {
                List<String> places = new ArrayList<>();
                Matcher place = PLACE.matcher(frame.group("places"));
                while (place.find()) {
                    places.add(place.group());
                }
                frames.add(new Frame(line, frame.group("name"), "", places));
            }
        }
        return frames;
    }

    private static String annotated(SymbolizeRecipe image, Path modules, byte[] log)
            throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (SymbolizeRecipe.LogCopy copy = image.log(modules, SourceOptions.USUAL)) {
            InputStream in = new ByteArrayInputStream(log);
            copy.lines(in).rows().writeTo(out, ListingForm.TEXT);
        }
        return out.toString(StandardCharsets.ISO_8859_1);
    }

    private final Map<String, Integer> counts = new TreeMap<>();
    private final List<Frame[]> differing = new ArrayList<>();
    private final List<String> worse = new ArrayList<>();

    private void compare(List<Frame> ours, List<Frame> theirs) {
        int at = 0;
        for (Frame other : theirs) {
            int next = at;
            while (next < ours.size() && !ours.get(next).name().equals(other.name())) {
                next++;
            }
            assertThat(next).as("no frame for " + other.text()).isLessThan(ours.size());
            at = next + 1;
            Frame own = ours.get(next);
            boolean atEnd = own.text().matches(".*\\+(0x[0-9a-f]+)/\\1( .*)?");
            if (own.places().equals(other.places())) {
                counts.merge("equal", 1, Integer::sum);
            } else if (own.places().isEmpty() && atEnd) {
                counts.merge("better: theirs is a line of the next function", 1, Integer::sum);
            } else if (own.places().isEmpty()) {
                worse.add(own.text() + " for " + other.places());
            } else {
                differing.add(new Frame[] {own, other});
            }
        }
    }

    @Test
    void framesAreEqualToThoseOfDecodeStacktraceOrBetter(@TempDir Path folder) throws Exception {
        Path corpus =
                Path.of(System.getProperty("sonde.root", "."), "../shared/corpus/kernel/dbg61");
        Path packed = corpus.resolve("vmlinux-dwz.zst");
        assumeTrue(Files.isRegularFile(packed), "the corpus has no kernel");
        Path vmlinux = folder.resolve("vmlinux");
        Sonde.in(folder)
                .execute(List.of("zstd", "-qd", packed.toString(), "-o", vmlinux.toString()));
        assumeTrue(Files.isRegularFile(vmlinux), "there is no zstd");
        Path modules = corpus.resolve("modules");
        try (SymbolizeRecipe image = SymbolizeRecipe.open(vmlinux, SourceOptions.USUAL);
                Stream<Path> all = Files.list(corpus.resolve("decoded"))) {
            for (Path decoded : all.sorted().toList()) {
                String name = decoded.getFileName().toString().replace(".decoded", "");
                Path log =
                        name.matches("[A-G]_.*")
                                ? corpus.resolve(name.replaceFirst("_", "/"))
                                : corpus.resolve("serial").resolve(name);
                if (Files.exists(log)) {
                    String text = annotated(image, modules, Files.readAllBytes(log));
                    compare(ours(text), theirs(decoded));
                }
            }
            StringBuilder behind = new StringBuilder();
            differing.forEach(pair -> behind.append("RIP: 0010:" + pair[0].text() + "\n"));
            byte[] lines = behind.toString().getBytes(StandardCharsets.ISO_8859_1);
            List<Frame> exact = ours(annotated(image, modules, lines));
            for (int i = 0; i < differing.size(); i++) {
                Frame other = differing.get(i)[1];
                boolean isBehind = exact.get(i).places().equals(other.places());
                boolean isModule = !exact.get(i).module().isEmpty();
                if (isBehind) {
                    counts.merge("better: theirs is behind the call", 1, Integer::sum);
                } else if (isModule) {
                    counts.merge("better: theirs is of another section", 1, Integer::sum);
                } else {
                    worse.add(differing.get(i)[0] + " for " + other.places());
                }
            }
        }
        System.out.println("frames: " + counts + "; worse: " + worse);
        int sum = counts.values().stream().mapToInt(Integer::intValue).sum();
        assertThat(sum).isGreaterThan(2000);
        assertThat(worse).isEmpty();
        assertThat(counts.get("better: theirs is of another section")).isLessThan(sum / 15);
    }
}
