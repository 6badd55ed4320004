package sonde.view;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.event.result.Report;
import sonde.event.result.Timeline;
import sonde.testkit.Browser;

@Tag("page")
class HtmlPageTest {
    @TempDir static Path folder;
    private static Browser browser;
    private static Path page;

    @BeforeAll
    static void start() throws IOException {
        Assumptions.assumeTrue(Browser.isPresent(), "no chromium here");
        page = write("page.html", Workload.report(), Workload.timeline(14, 4000, 5000));
        browser = Browser.start(1440, 1000);
    }

    @AfterAll
    static void stop() throws IOException {
        if (browser != null) {
            browser.close();
        }
    }

    private static Path write(String name, Report report, Timeline timeline) throws IOException {
        Path file = folder.resolve(name);
        try (OutputStream out = Files.newOutputStream(file)) {
            new HtmlRenderer().write(report, timeline, out);
        }
        return file;
    }

    @Test
    void looks() throws IOException {
        Path shots = Path.of(System.getProperty("sonde.shots", folder.toString()));
        for (String scheme : new String[] {"light", "dark"}) {
            browser.colourScheme(scheme);
            browser.open(page.toUri());
            browser.await("globalThis.sonde");
            browser.frame();
            browser.screenshot(shots.resolve(scheme + ".png"));
        }
        assertThat(browser.errors()).isEmpty();
        assertThat(browser.requests()).containsExactly(page.toUri().toString());
    }
}
