package sonde.tools.script;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tools for processes see what happens to the processes of this test. */
@Tag("kernel")
class ProcessToolsKernelTest {
    @TempDir Path folder;

    @Test
    void execsnoopShowsTheArguments() throws Exception {
        ToolRun.see(
                "execsnoop",
                "(?m)^[0-9]+ +[0-9]+ +sh +0 /bin/echo one two$",
                () -> ToolRun.shell("/bin/echo one two; true"));
        ToolRun.see(
                "execsnoop",
                "(?m)^[0-9:]+ +0 [0-9]+ +[0-9]+ +sh +-2 /no/such a$",
                () -> ToolRun.shell("/bin/echo one two; exec /no/such a b"),
                "-xTU",
                "--max-args=1",
                "-l",
                "such");
    }

    /**
     * Whoever starts a program has not touched the words that he gives, as constants of its own.
     */
    @Test
    void execsnoopShowsArgumentsThatWereNotInMemory() throws Exception {
        Path words = folder.resolve("words");
        Files.writeString(words, "echo\0one\0two three\0/no/such\0");
        Path source = folder.resolve("start.c");
        Files.writeString(
                source,
                """
                #include <fcntl.h>
                #include <sys/mman.h>
                #include <unistd.h>
                int main(int count, char **arguments) {
                    int fd = open(arguments[1], O_RDONLY);
                    char *at = mmap(0, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
                    char *words[] = {at, at + 5, at + 9, 0};
                    return execv(count > 2 ? at + 19 : "/bin/echo", words);
                }
                """);
        ToolRun.shell("gcc -o " + folder + "/start " + source);
        ToolRun.see(
                "execsnoop",
                "(?m)^[0-9]+ +[0-9]+ +start +0 echo one two three$",
                () -> ToolRun.shell(folder + "/start " + words));
        ToolRun.see(
                "execsnoop",
                "(?m)^[0-9]+ +[0-9]+ +start +-2 /no/such *$",
                () -> ToolRun.shell(folder + "/start " + words + " x"),
                "-x");
    }

    @Test
    void exitsnoopShowsCodeAndSignal() throws Exception {
        ToolRun.see("exitsnoop", "sh +[0-9]+\\.[0-9]{3} +42 +0", () -> ToolRun.shell("exit 42"));
        ToolRun.see(
                "exitsnoop",
                "sh +[0-9]+\\.[0-9]{3} +0 +9",
                () -> ToolRun.shell("kill -9 $$"),
                "--failed");
    }

    @Test
    void killsnoopShowsTheTargetAndTheError() throws Exception {
        ToolRun.see(
                "killsnoop",
                "sh +kill +9 4194000 +3",
                () -> ToolRun.shell("kill -9 4194000"),
                "-xs9",
                "-T",
                "4194000");
    }

    @Test
    void sigsnoopShowsWhoIsTold() throws Exception {
        ToolRun.see(
                "sigsnoop",
                "sh +10 +[0-9]+ +sh +0 ",
                () -> ToolRun.shell("trap : USR1; kill -USR1 $$"));
    }

    @Test
    void threadsnoopShowsANewThread() throws Exception {
        long pid = ProcessHandle.current().pid();
        ToolRun.see(
                "threadsnoop",
                pid + " +[0-9]+ +[0-9]+ +\\S.* +thread",
                () -> {
                    Thread thread = new Thread(() -> {});
                    thread.start();
                    thread.join();
                });
    }

    @Test
    void bindsnoopShowsThePort() throws Exception {
        try (ServerSocket socket = new ServerSocket()) {
            ToolRun.see(
                    "bindsnoop",
                    "0 +inet6? +[0-9]+ (::ffff:)?127\\.0\\.0\\.1",
                    () ->
                            socket.bind(
                                    new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0)));
        }
    }

    @Test
    void mountsnoopShowsBothEnds() throws Exception {
        ToolRun.see(
                "mountsnoop",
                "umount +0 .*-> " + folder,
                () -> ToolRun.shell("mount -t tmpfs sonde " + folder + "; umount " + folder));
    }

    @Test
    void shmsnoopShowsAnAnswer() throws Exception {
        ToolRun.see(
                "shmsnoop",
                "shmget +[0-9]+ key: 0x[0-9a-f]+, size: 4096",
                () -> ToolRun.shell("ipcrm -m $(ipcmk -M 4096 | grep -o '[0-9]*$')"));
    }

    @Test
    void bashreadlineShowsTheLine() throws Exception {
        Path lines = Files.writeString(folder.resolve("lines"), "echo typed\nexit\n");
        ToolRun.see(
                "bashreadline",
                "[0-9]+ +echo typed",
                () -> ToolRun.shell("bash --norc -i < " + lines));
    }

    @Test
    void gethostlatencyShowsTheHost() throws Exception {
        ToolRun.see(
                "gethostlatency",
                "getent +[0-9]+\\.[0-9]{3} localhost",
                () -> ToolRun.shell("getent ahosts localhost"));
    }

    /** {@code -c}: what it starts belongs to it, also what its children start. */
    @Test
    void theCommandAndWhatItStartsAreSeenAndNothingElse() throws Exception {
        String printed =
                ToolRun.seeCommand(
                        "exitsnoop", "sh -c 'sh -c \"exit 42\"; exit 43'; exit 44", "--failed");
        assertThat(printed.strip().lines().skip(1)).hasSize(3);
        assertThat(printed).containsSubsequence(" 42 ", " 43 ", " 44 ");
    }

    @Test
    void theTracerIsLeftOut() throws Exception {
        long own = ProcessHandle.current().pid();
        Path file = Files.writeString(folder.resolve("opened"), "");
        String printed =
                ToolRun.seeWithout(
                        (int) own,
                        "opensnoop",
                        "cat +[0-9]+ +0 " + file,
                        () -> {
                            Files.readString(file);
                            ToolRun.shell("cat " + file);
                        });
        assertThat(printed).doesNotContainPattern("(?m)^" + own + " ");
    }
}
