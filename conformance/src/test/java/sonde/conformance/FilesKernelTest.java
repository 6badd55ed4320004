package sonde.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program that says what it reads and whom it talks to, through the whole product. */
@Tag("kernel")
final class FilesKernelTest {
    private static final Path ROOT = Path.of(System.getProperty("sonde.root", ".."));
    private static final Path PYTHON = Path.of("/usr/bin/python3");

    private static final String PROGRAM =
            """
            import os, socket, sys, threading
            folder = sys.argv[1]
            for i in range(5):
                fd = os.open(f"{folder}/in{i}", os.O_RDONLY)
                while os.read(fd, 1024):
                    pass
                os.close(fd)
            try:
                os.open("/nowhere/at-all", os.O_RDONLY)
            except OSError:
                pass
            server = socket.socket()
            server.bind(("127.0.0.1", 0))
            server.listen()
            def serve():
                peer, address = server.accept()
                while peer.recv(4096):
                    peer.sendall(b"z" * 1024)
            thread = threading.Thread(target=serve)
            thread.start()
            client = socket.create_connection(server.getsockname())
            print(server.getsockname()[1], flush=True)
            for _ in range(10):
                client.sendall(b"y" * 2048)
                client.recv(4096)
            client.close()
            thread.join()
            """;

    @TempDir Path folder;

    private String run(String... command) throws IOException, InterruptedException {
        Path out = folder.resolve("out");
        Process process =
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(out.toFile())
                        .start();
        assertThat(process.waitFor()).isZero();
        return Files.readString(out, StandardCharsets.UTF_8);
    }

    @Test
    void theFiveFilesAndThePeerAreNamedWithTheirBytes() throws Exception {
        assumeTrue(Files.isExecutable(PYTHON), "no " + PYTHON);
        String sonde = ROOT.resolve("sonde").toAbsolutePath().toString();
        Path program = folder.resolve("program.py");
        Files.writeString(program, PROGRAM);
        for (int i = 0; i < 5; i++) {
            Files.write(folder.resolve("in" + i), new byte[(i + 1) * 10 * 1024]);
        }
        String bundle = folder.resolve("run").toString();
        String said =
                run(
                        sonde,
                        "record",
                        "-o",
                        bundle,
                        "--",
                        PYTHON.toString(),
                        program.toString(),
                        folder.toString());
        String port = said.lines().filter(line -> line.matches("\\d+")).findFirst().orElseThrow();
        String report =
                run(
                        "env",
                        "COLUMNS=1000",
                        sonde,
                        "report",
                        bundle + ".sonde",
                        "--files",
                        "--rows",
                        "500");
        for (int i = 0; i < 5; i++) {
            String line = line(report, folder.resolve("in" + i) + " ");
            assertThat(line).contains((i + 1) * 10 + ".0 KiB");
        }
        assertThat(line(report, "127.0.0.1:" + port)).contains("10.0 KiB").contains("20.0 KiB");
        assertThat(line(report, "/nowhere/at-all")).contains("ENOENT");
    }

    private static String line(String report, String name) {
        return report.lines().filter(line -> line.contains(name)).findFirst().orElse("no " + name);
    }
}
