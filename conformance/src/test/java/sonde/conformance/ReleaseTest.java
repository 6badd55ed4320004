package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./release} in a repository of its own that has the files it changes. */
@Tag("product")
class ReleaseTest {
    private static final String MAIN = "cli/src/main/java/sonde/cli/Main.java";

    @TempDir Path folder;

    @BeforeEach
    void commit() throws Exception {
        for (String name : List.of("release", "CHANGELOG.md", MAIN)) {
            Path copy = folder.resolve(name);
            Files.createDirectories(copy.getParent());
            Files.copy(Sonde.ROOT.resolve(name), copy);
        }
        // Packages are tested elsewhere: this says where they would go.
        Path pack =
                Files.writeString(folder.resolve("package"), "#!/bin/sh\necho a >\"$2/a.deb\"\n");
        assertThat(pack.toFile().setExecutable(true)).isTrue();
        shell(
                "echo /dist >.gitignore; git init -q; git config user.name a; git config user.email b");
        shell("git add -A; git commit -qm begin");
    }

    private Sonde.Outcome shell(String script) throws Exception {
        return Sonde.in(folder).execute(List.of("sh", "-c", script));
    }

    @Test
    void aReleaseDatesTheChangesTagsThemAndGoesOn() throws Exception {
        Sonde.Outcome made = shell("./release 8.0.9");
        assertThat(made.status()).as(made.toString()).isZero();
        assertThat(made.out()).contains("v8.0.9 is tagged", "git push --follow-tags");
        assertThat(shell("git show v8.0.9:" + MAIN).out()).contains("VERSION = \"8.0.9\"");
        assertThat(shell("git tag -ln9 v8.0.9").out()).contains("sonde 8.0.9", "- ");
        assertThat(shell("cat " + MAIN).out()).contains("VERSION = \"8.0.10\"");
        assertThat(shell("cat CHANGELOG.md").out())
                .containsPattern("## Unreleased\n\n## 8\\.0\\.9 \\(2\\d{3}-\\d\\d-\\d\\d\\)\n")
                .doesNotContain("Nothing has been released");
        assertThat(folder.resolve("dist/8.0.9/a.deb")).exists();
        assertThat(folder.resolve("dist/8.0.9/NOTES.md")).content().contains("- ");
        assertThat(shell("git status --porcelain").out()).isEmpty();
        // Nothing has changed since.
        assertThat(shell("./release 9.0.0").err()).contains("lists nothing under Unreleased");
        shell("sed -i 's/^## Unreleased$/&\\n\\n- x/' CHANGELOG.md; git commit -qam x");
        assertThat(shell("./release 8.0.9").err()).contains("does not come after 8.0.9");
        assertThat(shell("./release 8.0.1").err()).contains("does not come after 8.0.9");
        assertThat(shell("./release 8.0.10; cat dist/8.0.10/NOTES.md").out())
                .contains("v8.0.10 is tagged", "- x")
                .doesNotContain("sonde explain");
    }

    @Test
    void aDryRunChangesNothingHere() throws Exception {
        String before = shell("git rev-parse HEAD; git tag; cat CHANGELOG.md").out();
        Sonde.Outcome made = shell("./release 8.1.0 --dry-run; git rev-parse HEAD");
        assertThat(made.out()).contains("v8.1.0 would be tagged").doesNotContain("git push");
        assertThat(folder.resolve("dist/8.1.0-dry-run/a.deb")).exists();
        assertThat(shell("git rev-parse HEAD; git tag; cat CHANGELOG.md").out()).isEqualTo(before);
    }

    @Test
    void whatIsNoReleaseIsRefused() throws Exception {
        for (String version : List.of("", "1.2", "01.2.3", "v1.2.3", "1.2.3-rc1", "1.2.3 --push")) {
            Sonde.Outcome refused = shell("./release " + version);
            assertThat(refused.status()).as(version).isOne();
            assertThat(refused.err()).startsWith("release: ");
        }
        shell("echo x >>CHANGELOG.md");
        assertThat(shell("./release 8.0.9").err()).contains("not committed");
        assertThat(shell("git tag").out()).isEmpty();
    }
}
