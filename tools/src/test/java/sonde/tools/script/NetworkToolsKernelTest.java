package sonde.tools.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tools for TCP see connections of the loopback address; oomkill sees a kill. */
@Tag("kernel")
class NetworkToolsKernelTest {
    private static final int BYTES = 50_000;

    private static String seen(String name, String pattern, String... options) throws Exception {
        try (ServerSocket server = Workload.listen(50)) {
            String port = "" + server.getLocalPort();
            return ToolRun.see(
                    name,
                    pattern.replace("PORT", port),
                    () -> Workload.talk(server, BYTES),
                    Stream.of(options)
                            .map(one -> one.replace("PORT", port))
                            .toArray(String[]::new));
        }
    }

    @Test
    void tcpconnectShowsTheConnection() throws Exception {
        String pid = "" + ProcessHandle.current().pid();
        seen(
                "tcpconnect",
                "0 +" + pid + " +\\S.* [46] +\\S*127.0.0.1 +\\S*127.0.0.1 +PORT\\n",
                "-tU");
        seen("tcpconnect", "127.0.0.1 +\\S*127.0.0.1 +PORT +1\\n", "--count", "--uid=root");
        seen("tcpconnect", " [46] +\\S*127.0.0.1 +[1-9]\\d+ +\\S*127.0.0.1 +PORT\\n", "-L");
    }

    @Test
    void tcpacceptShowsTheConnection() throws Exception {
        String pid = "" + ProcessHandle.current().pid();
        seen("tcpaccept", pid + " +\\S.* \\S*127.0.0.1 +\\d+ +\\S*127.0.0.1 +PORT\\n");
    }

    @Test
    void tcplifeShowsBytesBothWays() throws Exception {
        seen("tcplife", "127.0.0.1 +PORT +\\S*127.0.0.1 +\\d+ +48 +48 \\d+\\n", "-L", "1,PORT");
    }

    @Test
    void tcpstatesShowsTheWayOfAConnection() throws Exception {
        String printed = seen("tcpstates", "127.0.0.1 +PORT +CLOSE +SYN_SENT +0.000\\n");
        assertThat(printed).containsPattern("SYN_SENT +ESTABLISHED +\\d+");
    }

    @Test
    void tcprttMeasuresTheConnection() throws Exception {
        seen("tcprtt", "@ms4\\[127.0.0.1, PORT\\]:\\n\\[", "-Bm");
        seen("tcprtt", "@us4\\[127.0.0.1, PORT\\]:\\n\\[", "-b", "--lport=PORT");
    }

    @Test
    void tcprttShowsAddressesOfIpv6() throws Exception {
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getByName("::1"))) {
            ToolRun.see(
                    "tcprtt",
                    "@us6\\[::1, " + server.getLocalPort() + "\\]:\\s*\\[",
                    () -> Workload.talk(server, BYTES),
                    "--addresses");
        }
    }

    @Test
    void tcpretransShowsPacketsForAFullQueue() throws Exception {
        try (ServerSocket server = Workload.listen(1)) {
            ToolRun.see(
                    "tcpretrans",
                    "127.0.0.1 +" + server.getLocalPort() + " +SYN_SENT",
                    () -> Workload.crowd(server));
        }
    }

    @Test
    void tcpdropShowsAPacketForAClosedPort() throws Exception {
        int port;
        try (ServerSocket server = Workload.listen(1)) {
            port = server.getLocalPort();
        }
        ToolRun.see(
                "tcpdrop",
                "127.0.0.1 +" + port + " +0x2 +\\S*NO_SOCKET",
                () -> {
                    try (Socket socket = new Socket("127.0.0.1", port)) {
                        assertThat(socket).isNull();
                    } catch (IOException expected) {
                        assertThat(expected).hasMessageContaining("refused");
                    }
                });
    }

    @Test
    void oomkillShowsTheVictim() throws Exception {
        Path group = Path.of("/sys/fs/cgroup/memory/sondetool" + ProcessHandle.current().pid());
        assumeTrue(Files.isWritable(group.getParent()), "no memory controller of cgroup v1");
        Files.createDirectory(group);
        try {
            Files.writeString(group.resolve("memory.limit_in_bytes"), "20M");
            ToolRun.see(
                    "oomkill",
                    "\\d+ +tail +\\d+ +tail +\\d+ ",
                    () ->
                            Workload.shell(
                                    "echo $$ > " + group + "/cgroup.procs; exec tail /dev/zero"));
        } finally {
            Files.deleteIfExists(group);
        }
    }
}
