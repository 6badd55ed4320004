package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sonde.testkit.Browser;

/** docs/ as pages: no link or anchor leads nowhere, and its search works without a server. */
@Tag("page")
class DocumentationSiteTest {
    @TempDir Path folder;

    private Sonde.Outcome build(Path docs) throws Exception {
        String site = folder.resolve("site").toString();
        return Sonde.in(folder)
                .execute(
                        List.of(
                                "sphinx-build",
                                "-q",
                                "-W",
                                "--keep-going",
                                "-d",
                                folder.resolve("trees").toString(),
                                "-b",
                                "html",
                                docs.toString(),
                                site));
    }

    @Test
    void searchFindsPagesFromAFile() throws Exception {
        assumeTrue(Files.exists(Path.of("/usr/bin/sphinx-build")), "Sphinx is not installed");
        Path docs = Sonde.ROOT.resolve("docs");
        Sonde.Outcome built = build(docs);
        assertThat(built.status()).as(built.toString()).isZero();
        try (Browser browser = Browser.start(1000, 800)) {
            browser.open(
                    Path.of(folder + "/site/search.html")
                            .toUri()
                            .resolve("search.html?q=execsnoop"));
            browser.await(
                    "document.getElementById('search-results').innerHTML"
                            + ".includes('tools/execsnoop.html')");
            assertThat(browser.errors()).isEmpty();
        }
    }

    @Test
    void aDeadLinkIsAnError() throws Exception {
        assumeTrue(Files.exists(Path.of("/usr/bin/sphinx-build")), "Sphinx is not installed");
        Path docs = Files.createDirectory(folder.resolve("docs"));
        Files.copy(Sonde.ROOT.resolve("docs/conf.py"), docs.resolve("conf.py"));
        Files.writeString(docs.resolve("index.md"), "# A\n\n[there](#a) and [here](gone.md)\n");
        assertThat(build(docs).err()).contains("gone.md");
        Files.writeString(docs.resolve("index.md"), "# A\n\n[there](#nowhere)\n");
        assertThat(build(docs).err()).contains("nowhere");
        Files.writeString(docs.resolve("index.md"), "# A\n\n[there](#a)\n");
        assertThat(build(docs).status()).isZero();
    }
}
