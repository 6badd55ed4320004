package sonde.probe.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A launched command on a terminal, in a shell with job control. */
@Tag("kernel")
class TerminalKernelTest {
    @TempDir Path folder;

    @BeforeEach
    void copy() throws Exception {
        assumeTrue(
                Files.isExecutable(Path.of("/usr/bin/python3"))
                        && Files.isExecutable(Path.of("/bin/bash")),
                "no python3 or bash on this machine");
        try (InputStream in =
                Objects.requireNonNull(getClass().getResourceAsStream("terminal.py"))) {
            Files.copy(in, folder.resolve("terminal.py"));
        }
        Files.writeString(folder.resolve("launch"), Shell.launch("tell") + " \"$@\"\n");
    }

    private String type(String... dialogue) throws Exception {
        List<String> command = new ArrayList<>(List.of("python3", "terminal.py"));
        command.addAll(List.of(dialogue));
        Shell.Outcome outcome = Shell.run(folder, command);
        assertThat(outcome.code()).as(outcome.output()).isZero();
        return outcome.output();
    }

    @Test
    void ctrlCEndsTheCommandAndNotTheRecorder() throws Exception {
        String screen =
                type(
                        "$ ",
                        "sh ./launch sh -c 'echo up; sleep 50'\\n",
                        "up\\r\\n",
                        "\\x03",
                        "recorded 130",
                        "");
        assertThat(screen).doesNotContain("Exception");
    }

    @Test
    void aCommandThatHandlesCtrlCGoesOn() throws Exception {
        type(
                "$ ",
                "sh ./launch bash -c 'trap \"echo caught\" INT; echo up; sleep 50; exit 5'\\n",
                "up\\r\\n",
                "\\x03",
                "caught",
                "",
                "recorded 5",
                "");
    }

    @Test
    void ctrlBackslashPrintsNoThreadsOfOurs() throws Exception {
        String screen =
                type(
                        "$ ",
                        "sh ./launch sh -c 'ulimit -c 0; echo up; exec sleep 50'\\n",
                        "up\\r\\n",
                        "\\x1c",
                        "recorded 131",
                        "");
        assertThat(screen).doesNotContain("Full thread dump");
    }

    @Test
    void ctrlZStopsBothAndFgGoesOn() throws Exception {
        String screen =
                type(
                        "$ ",
                        "sh ./launch cat\\n",
                        "./launch cat\\r\\n",
                        "one\\n",
                        "one\\r\\none\\r\\n",
                        "\\x1a",
                        "Stopped",
                        "fg\\n",
                        "fg\\r\\n",
                        "two\\n",
                        "two\\r\\ntwo\\r\\n",
                        "\\x04",
                        "recorded 0",
                        "");
        assertThat(screen).contains("sh ./launch cat");
    }

    /** Python's line editor switches the terminal to raw mode as any editor does. */
    @Test
    void anInteractiveProgramOwnsTheTerminal() throws Exception {
        type(
                "$ ",
                "sh ./launch python3 -q\\n",
                ">>> ",
                "import os, tty; tty.setraw(0); x = os.read(0, 1)\\n",
                "os.read(0, 1)",
                "q",
                ">>> ",
                "print(x, os.tcgetpgrp(0) == os.getpgrp()); os.system(\\\"stty sane\\\"); exit(3)\\n",
                "b'q' True",
                "",
                "recorded 3",
                "");
    }

    @Test
    void anEditorWritesWhatIsTyped() throws Exception {
        assumeTrue(Files.isExecutable(Path.of("/usr/bin/vi")), "no vi on this machine");
        type(
                "$ ",
                "sh ./launch vi -u NONE text\\n",
                "text\"",
                "ihello\\x1b:wq\\n",
                "recorded 0",
                "");
        assertThat(folder.resolve("text")).hasContent("hello");
    }
}
