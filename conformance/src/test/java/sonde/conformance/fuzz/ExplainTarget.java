package sonde.conformance.fuzz;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import sonde.event.result.Listing.ListingForm;
import sonde.testkit.Json;
import sonde.tools.explain.ExplainRecipe;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.explain.ExplainRecipe.LogSource;
import sonde.tools.explain.IncidentFilter;
import sonde.tools.explain.IncidentPage;
import sonde.view.HtmlRenderer;

/**
 * What a fuzzer calls: bytes are a kernel's log, which is explained as JSON, as text and as a page.
 * A log cannot be refused, so every exception is a defect; so is a line of JSON that is none, and
 * another number of incidents in another form.
 */
public final class ExplainTarget {
    private static final ExplainOptions ALL =
            new ExplainOptions(
                    true, true, false, false, false, false, false, IncidentFilter.ALL, null);

    private ExplainTarget() {}

    private static final ExplainRecipe JSON = new ExplainRecipe(ALL, null);
    private static final ExplainRecipe TEXT = new ExplainRecipe(ALL.ofSyzkaller(), null);
    private static final ExplainRecipe PAGE = new ExplainRecipe(ALL, null);

    /** Jazzer's entry. */
    public static void fuzzerTestOneInput(byte[] bytes) throws IOException {
        ByteArrayOutputStream json = new ByteArrayOutputStream();
        int before = count(JSON);
        JSON.of(log(bytes)).rows().writeTo(json, ListingForm.JSON_LINES);
        int incidents = count(JSON) - before;
        List<String> lines = json.toString(StandardCharsets.UTF_8).lines().toList();
        check(lines.size(), incidents);
        lines.forEach(Json::parse);
        before = count(TEXT);
        TEXT.of(log(bytes)).rows().writeTo(OutputStream.nullOutputStream(), ListingForm.TEXT);
        check(count(TEXT) - before, incidents);
        before = count(PAGE);
        IncidentPage page = PAGE.page(log(bytes));
        new HtmlRenderer().write(page.report(), page.timeline(), OutputStream.nullOutputStream());
        check(count(PAGE) - before, incidents);
    }

    private static int count(ExplainRecipe recipe) {
        return recipe.faults() + recipe.notices();
    }

    private static void check(int found, int expected) {
        if (found != expected) {
            throw new IllegalStateException(found + " incidents, " + expected + " as JSON");
        }
    }

    private static List<LogSource> log(byte[] bytes) {
        return List.of(new LogSource("log", null, new ByteArrayInputStream(bytes)));
    }
}
