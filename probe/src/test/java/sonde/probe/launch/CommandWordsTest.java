package sonde.probe.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandWordsTest {
    @TempDir Path folder;

    private String resolve(String name, String path) throws ExecException {
        byte[] folders = path.getBytes(StandardCharsets.UTF_8);
        return new String(CommandWords.of(name).resolve(folders), StandardCharsets.UTF_8);
    }

    @Test
    void searchesPathAsExecvpDoes() throws Exception {
        Path first = Files.createDirectory(folder.resolve("first"));
        Path second = Files.createDirectory(folder.resolve("second"));
        Files.createDirectory(first.resolve("tool"));
        Path tool = Files.createFile(second.resolve("tool"));
        Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rwxr-xr-x"));
        String path = folder.resolve("missing") + ":" + first + ":" + second;
        assertThat(resolve("tool", path)).isEqualTo(tool.toString());
        assertThat(resolve(tool.toString(), "")).isEqualTo(tool.toString());
        Files.setPosixFilePermissions(tool, PosixFilePermissions.fromString("rw-r--r--"));
        assertThatThrownBy(() -> resolve("tool", path))
                .isInstanceOfSatisfying(
                        ExecException.class, e -> assertThat(e.exitCode()).isEqualTo(126));
        assertThatThrownBy(() -> resolve("nothing", path))
                .hasMessage("nothing: command not found")
                .isInstanceOfSatisfying(
                        ExecException.class, e -> assertThat(e.exitCode()).isEqualTo(127));
        assertThatThrownBy(() -> resolve("", path)).isInstanceOf(ExecException.class);
    }

    @Test
    void usesTheSystemsFoldersWithoutPath() throws Exception {
        assertThat(CommandWords.of("sh").resolve(null)).asString().isEqualTo("/bin/sh");
    }

    @Test
    void showsItselfQuoted() {
        assertThat(CommandWords.of("dd", "bs=1", "a b", "", "it's\n"))
                .hasToString("dd bs=1 'a b' '' 'it'\\''s?'");
    }

    @Test
    void splitsAtNul() {
        assertThat(CommandWords.split(new byte[] {'a', 0, 0, (byte) 0xff, 0}))
                .containsExactly(new byte[] {'a'}, new byte[0], new byte[] {(byte) 0xff});
    }
}
