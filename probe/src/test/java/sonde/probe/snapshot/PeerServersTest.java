package sonde.probe.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import sonde.recording.bundle.RecordingMeta.TargetReading;

class PeerServersTest {
    private static final Path PYTHON = Path.of("/usr/bin/python3");

    private static final String SERVER =
            """
            import socket, sys, time
            s = socket.socket(getattr(socket, sys.argv[1]))
            s.bind((sys.argv[2], 0))
            s.listen()
            print(s.getsockname()[1], flush=True)
            c = s.accept()[0]
            print('accepted', flush=True)
            time.sleep(100)
            """;

    private static final String CLIENT =
            """
            import socket, sys
            s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
            s.recv(1)
            """;

    @ParameterizedTest
    @CsvSource({"AF_INET, 127.0.0.1", "AF_INET, 0.0.0.0", "AF_INET6, '::'"})
    void whoHasTheOtherEndAndWhatItDoes(String family, String bound) throws Exception {
        assumeTrue(Files.isExecutable(PYTHON), "needs python3");
        List<Process> started = new ArrayList<>();
        try {
            Process server = start(started, SERVER, family, bound);
            try (BufferedReader told = server.inputReader()) {
                String port = told.readLine();
                assumeTrue(port != null, "no " + family);
                Process client = start(started, CLIENT, port);
                assertThat(told.readLine()).isEqualTo("accepted");
                PeerServers peers = new PeerServers();
                List<Integer> tree = List.of((int) client.pid());
                List<TargetReading> readings = List.of();
                // until the server sleeps
                for (int i = 0; i < 100 && !text(readings).contains("nanosleep"); i++) {
                    peers.look(tree);
                    readings = peers.readings();
                }
                long pid = server.pid();
                assertThat(readings)
                        .contains(
                                new TargetReading(
                                        TargetReading.SERVES,
                                        "python3 " + pid + " 127.0.0.1:" + port,
                                        pid,
                                        pid,
                                        pid));
                assertThat(text(readings)).contains("127.0.0.1:" + port + " clock_nanosleep");
            }
        } finally {
            started.forEach(Process::destroyForcibly);
        }
    }

    private static String text(List<TargetReading> readings) {
        return readings.toString();
    }

    private static Process start(List<Process> started, String script, String... words)
            throws Exception {
        List<String> command = new ArrayList<>(List.of(PYTHON.toString(), "-c", script));
        command.addAll(List.of(words));
        Process process = new ProcessBuilder(command).start();
        started.add(process);
        return process;
    }

    @Test
    void processesWithoutSocketsHaveNoServers() {
        PeerServers peers = new PeerServers();
        peers.look(List.of(2));
        assertThat(peers.readings()).isEmpty();
    }
}
