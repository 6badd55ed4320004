package sonde.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import sonde.event.result.Listing.ListingForm;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.explain.ExplainRecipe.LogSource;

/**
 * Seven crashes of a module that was made for them, in one boot of Debian's 6.1 with
 * slub_debug=FZPU. Behind each later oops the kernel prints the registers of the first again.
 */
class PlantedCrashesTest {
    private static List<String> explained() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (InputStream in =
                Objects.requireNonNull(
                        PlantedCrashesTest.class.getResourceAsStream("anglers.txt"))) {
            new ExplainRecipe(ExplainOptions.USUAL, null)
                    .of(List.of(new LogSource("log", null, in)))
                    .rows()
                    .writeTo(out, ListingForm.TEXT);
        }
        String text = out.toString(StandardCharsets.UTF_8).replaceAll("\\s+", " ");
        return List.of(text.split("(?=#\\d (?:BUG|divide|general))"));
    }

    @Test
    void eachCrashIsThatOfItsOwnFunction() throws IOException {
        List<String> found = explained();
        assertThat(found).hasSize(7);
        assertThat(found.get(0))
                .contains("NULL pointer dereference in angler_weigh", "RDX = 0 (NULL)");
        assertThat(found.get(0).split("Call Trace:")[1]).doesNotContain("angler_weigh");
        assertThat(found.get(1)).contains("NULL pointer dereference in angler_write");
        assertThat(found.get(2))
                .contains("divide error in angler_rate", "is div %edi; EDI = 0")
                .doesNotContain("NULL)");
        assertThat(found.get(3))
                .contains("general protection fault in angler_spare", "RDX is POISON_FREE")
                .doesNotContain("bytes of the instruction");
        assertThat(found.get(4))
                .doesNotContain("angler_weigh")
                .contains(
                        "a call or jump went to 0x6b6b6b6b6b6b6b6b, where no function is:"
                                + " POISON_FREE: from freed memory of the slab; the innermost frame"
                                + " is angler_write [anglers]");
        assertThat(found.get(5))
                .contains("corrupted list in angler_enqueue", "what List_add double add: new=ff");
        assertThat(found.get(6))
                .contains("stack guard page", "angler_dive [anglers] is on the stack 30 times: it");
    }
}
