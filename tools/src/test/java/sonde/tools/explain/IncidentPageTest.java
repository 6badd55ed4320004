package sonde.tools.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.testkit.Browser;
import sonde.tools.explain.ExplainRecipe.ExplainOptions;
import sonde.tools.explain.ExplainRecipe.LogSource;
import sonde.view.HtmlRenderer;

/** The page of a log in Chromium. */
@Tag("page")
class IncidentPageTest {
    private static final String LOG =
            """
            [   10.000001] BUG: kernel NULL pointer dereference, address: 0000000000000050
            [   10.000002] #PF: supervisor read access in kernel mode
            [   10.000003] Oops: 0000 [#1] SMP
            [   10.000004] CPU: 1 PID: 301 Comm: <b>fisher Not tainted 6.6.9-pond #1
            [   10.000005] RIP: 0010:pond_read+0x4a/0x90 [pond]
            [   10.000006] Call Trace:
            [   10.000007]  <TASK>
            [   10.000008]  pond_fill+0x1/0x2 fs/pond.c:3 [pond]
            [   10.000009]  ? old_frame+0x1/0x2
            [   10.000010]  vfs_read+0x1b1/0x710
            [   10.000011]  </TASK>
            [   10.000012] ---[ end trace 0000000000000000 ]---
            [   12.000001] ------------[ cut here ]------------
            [   12.000002] WARNING: CPU: 0 PID: 77 at drivers/reed.c:12 reed_bend+0x14/0x30 [reed]
            [   12.000003] CPU: 0 PID: 77 Comm: heron Tainted: G D 6.6.9-pond #1
            [   12.000004] Call Trace:
            [   12.000005]  reed_wave+0x14/0x30 [reed]
            [   12.000006] ---[ end trace 0000000000000000 ]---
            [   90.000000] traps: duck[5] general protection fault ip:1 sp:2 error:0 in duck[1+2]
            [    0.500000] Linux version 6.6.9-pond (x@y) #1
            [    1.000000] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [goose:9]
            [    1.000001] CPU: 0 PID: 9 Comm: goose Not tainted 6.6.9-pond #1
            [    1.000002] RIP: 0010:goose_spin+0x4/0x9
            """;

    @TempDir static Path folder;
    private static Browser browser;

    @BeforeAll
    static void start() throws IOException {
        Assumptions.assumeTrue(Browser.isPresent(), "no chromium here");
        browser = Browser.start(1280, 900);
    }

    @AfterAll
    static void stop() throws IOException {
        if (browser != null) {
            browser.close();
        }
    }

    private static Path page(String name, String log) throws IOException {
        Files.createDirectories(folder.resolve("fs"));
        Files.writeString(folder.resolve("fs/pond.c"), "one\ntwo\nreturn p->tx;\nfour\n");
        ExplainOptions options =
                new ExplainOptions(
                        false,
                        false,
                        false,
                        false,
                        false,
                        false,
                        false,
                        IncidentFilter.ALL,
                        folder);
        ByteArrayInputStream in = new ByteArrayInputStream(log.getBytes(StandardCharsets.UTF_8));
        IncidentPage page =
                new ExplainRecipe(options, null).page(List.of(new LogSource(name, null, in)));
        Path file = folder.resolve(name + ".html");
        try (OutputStream out = Files.newOutputStream(file)) {
            new HtmlRenderer().write(page.report(), page.timeline(), out);
        }
        browser.open(file.toUri());
        browser.await("globalThis.sonde");
        browser.frame();
        return file;
    }

    private static String text(String selector) {
        return (String)
                browser.evaluate(
                        "[...document.querySelectorAll('%s')].map((e) => e.textContent).join('|')"
                                .formatted(selector));
    }

    @Test
    void eachIncidentHasACardAndAMark() throws IOException {
        for (String scheme : List.of("dark", "light")) {
            browser.colourScheme(scheme);
            Path file = page("pond", LOG);
            assertThat(browser.errors()).isEmpty();
            assertThat(browser.requests()).containsExactly(file.toUri().toString());
        }
        assertThat(text(".incident h2"))
                .contains("fatal #1  BUG: unable to handle kernel NULL pointer dereference")
                .contains("error #2  WARNING in reed_bend")
                .contains("notice #3")
                .contains("warning #4  BUG: soft lockup in goose_spin");
        assertThat(text("#answer")).startsWith("#1, ");
        assertThat(text("#notes")).contains("3 faults of the kernel were found; 1 notice.");
        assertThat(text("#incident-1 .facts")).contains("<b>fisher (pid 301) on CPU 1");
        assertThat(text("#incident-1 b")).isEmpty();
        assertThat(text("#incident-1 .frames details pre")).contains(">     3  return p->tx;");
        assertThat(text("#incident-1 > details:last-child pre"))
                .contains("[   10.000003] Oops: 0000 [#1] SMP");
        assertThat(text("#incident-2 .facts a")).isEqualTo("#1");
        // The second boot has a lane of its own.
        assertThat(browser.evaluate("sonde.timeline.rows.map((row) => row.name).join()"))
                .isEqualTo("fatal,error,notice,boot 2, warning");
        assertThat(text("#tabs button")).isEqualTo("Incidents");
    }

    @Test
    void aMarkLeadsToItsCardAndARangeHidesTheOthers() throws IOException {
        page("pond", LOG);
        browser.evaluate("document.getElementById('timeline').scrollIntoView()");
        List<?> at =
                (List<?>)
                        browser.evaluate(
                                "(() => { const t = sonde.timeline;"
                                        + " const box = t.surface.canvas.getBoundingClientRect();"
                                        + " return [box.left + t.x(12.000002e9 - t.base),"
                                        + " box.top + 24 + 20 + 10]; })()");
        browser.click((Double) at.get(0), (Double) at.get(1));
        browser.frame();
        assertThat(browser.evaluate("location.hash")).isEqualTo("#incident-2");
        browser.key("n");
        assertThat(browser.evaluate("document.activeElement.id")).isEqualTo("incident-3");
        browser.key("p");
        assertThat(browser.evaluate("document.activeElement.id")).isEqualTo("incident-2");
        browser.evaluate("sonde.timeline.select([11e9 - sonde.timeline.base, 20e9])");
        browser.frame();
        assertThat(browser.evaluate("document.querySelectorAll('.incident:not([hidden])').length"))
                .isEqualTo(1.0);
        browser.key("Escape");
        browser.frame();
        assertThat(browser.evaluate("document.querySelectorAll('.incident:not([hidden])').length"))
                .isEqualTo(4.0);
        assertThat(browser.errors()).isEmpty();
    }

    @Test
    void aLogWithoutTimesHasNoTimelineAndAHealthyOneNoCards() throws IOException {
        page("timeless", LOG.replaceAll("(?m)^\\[ *[0-9.]+\\] ", ""));
        assertThat(browser.evaluate("document.getElementById('timeline-card').hidden"))
                .isEqualTo(true);
        assertThat(text("#notes")).contains("has no times since the boot");
        assertThat(text(".incident h2")).contains("#1");
        page("healthy", "[    0.500000] Linux version 6.6.9-pond (x@y) #1\n");
        assertThat(text("#notes")).isEqualTo("No fault of the kernel was found.");
        assertThat(browser.errors()).isEmpty();
    }
}
