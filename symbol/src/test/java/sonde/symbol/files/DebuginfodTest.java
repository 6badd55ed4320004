package sonde.symbol.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import sonde.symbol.files.Attempt.AttemptResult;
import sonde.symbol.files.DebugFile.Kind;
import sonde.symbol.files.Debuginfod.Bounds;
import sonde.testkit.ElfWriter;
import sonde.testkit.HttpStub;

@Timeout(60)
class DebuginfodTest {
    private static final byte[] ID = HexFormat.of().parseHex("abcdef0123456789");
    private static final String PATH = "/buildid/abcdef0123456789/debuginfo";
    private static final Bounds SHORT =
            new Bounds(1 << 20, Duration.ofSeconds(2), Duration.ofSeconds(3));

    @TempDir Path folder;

    private HttpStub server;

    private void serve(HttpStub.Answer answer) throws IOException {
        server = new HttpStub(answer);
    }

    @AfterEach
    void stop() throws IOException {
        server.close();
    }

    private static byte[] debug(byte[] id) {
        return new ElfWriter(true, ByteOrder.LITTLE_ENDIAN, 64)
                .buildId(id)
                .section(".debug_info", 1, 0, new byte[32])
                .bytes();
    }

    private Debuginfod client(URI... servers) {
        return new Debuginfod(List.of(servers), folder.resolve("cache"), SHORT, line -> {});
    }

    private DebugFile ask(URI... servers) {
        Optional<Debuginfod> client = Optional.of(client(servers));
        return new DebugSearch(new SearchFolders(List.of(), List.of(), null, true, client))
                .separate(
                        DebugFileRequest.of(
                                "/nowhere/prog", ID, RequiredContent.DEBUG_INFORMATION));
    }

    /** The one thing that was said of the server, of which nothing may be left. */
    private Attempt refused() {
        DebugFile answer = ask(server.address());
        assertThat(answer.isFound()).isFalse();
        assertThat(folder.resolve("cache/abcdef0123456789")).isEmptyDirectory();
        return answer.refusals().getLast();
    }

    @Test
    void fetchesOnceAndKeepsItWhereElfutilsWould() throws IOException {
        serve((path, out) -> HttpStub.body(out, debug(ID)));
        DebugFile answer = ask(server.address());
        assertThat(answer.kind()).isEqualTo(Kind.SERVER);
        Path kept = folder.resolve("cache/abcdef0123456789/debuginfo");
        assertThat(answer.path()).contains(kept);
        assertThat(Files.readAllBytes(kept)).isEqualTo(debug(ID));
        assertThat(ask(server.address()).isFound()).isTrue();
        assertThat(server.paths()).containsExactly(PATH);
    }

    @Test
    void goesOnToTheNextServer() throws IOException {
        serve((path, out) -> {
            switch (path) {
                case "/none" + PATH -> HttpStub.head(out, 404, "");
                case "/good" + PATH -> HttpStub.body(out, debug(ID));
                default -> HttpStub.head(out, 500, "");
            }
        });
        String at = server.address().toString();
        DebugFile answer =
                ask(URI.create(at + "/none"), URI.create(at + "/bad"), URI.create(at + "/good"));
        assertThat(answer.isFound()).isTrue();
        assertThat(answer.tried())
                .extracting(Attempt::outcome)
                .contains(AttemptResult.ABSENT, AttemptResult.REFUSED, AttemptResult.FOUND);
    }

    @Test
    void remembersForAWhileThatThereIsNothing() throws IOException {
        serve((path, out) -> HttpStub.head(out, 404, ""));
        assertThat(ask(server.address()).isFound()).isFalse();
        assertThat(ask(server.address()).isFound()).isFalse();
        assertThat(server.paths()).hasSize(1);
        Path miss = folder.resolve("cache/abcdef0123456789/debuginfo");
        assertThat(miss).isEmptyFile();
        Files.setLastModifiedTime(miss, FileTime.fromMillis(0));
        assertThat(ask(server.address()).isFound()).isFalse();
        assertThat(server.paths()).hasSize(2);
    }

    @Test
    void whatItRemembersGoesThroughNoLink() throws IOException {
        serve((path, out) -> HttpStub.head(out, 404, ""));
        Path other = Files.writeString(folder.resolve("other"), "of somebody else");
        Path within = Files.createDirectories(folder.resolve("cache/abcdef0123456789"));
        Path kept = Files.createSymbolicLink(within.resolve("debuginfo"), other);
        assertThat(ask(server.address()).isFound()).isFalse();
        assertThat(other).hasContent("of somebody else");
        assertThat(kept).isEmptyFile();
        assertThat(Files.isSymbolicLink(kept)).isFalse();
    }

    @Test
    void refusesAFileOfAnotherBuild() throws IOException {
        serve((path, out) -> HttpStub.body(out, debug(new byte[] {6, 6, 6})));
        assertThat(refused().sentence())
                .isEqualTo(
                        server.address()
                                + PATH
                                + " is of another build: wanted build-id abcdef0123456789, found"
                                + " 060606");
    }

    @Test
    void refusesWhatIsNoElfFile() throws IOException {
        serve((path, out) -> HttpStub.body(out, "<html>".getBytes(StandardCharsets.UTF_8)));
        assertThat(refused().outcome()).isEqualTo(AttemptResult.BROKEN);
    }

    @Test
    void refusesABodyWithoutEnd() throws IOException {
        serve((path, out) -> {
            HttpStub.head(out, 200, "");
            byte[] piece = new byte[1 << 16];
            for (int i = 0; i < 1 << 20; i++) {
                out.write(piece);
            }
        });
        assertThat(refused().detail()).isEqualTo("more than 1048576 bytes");
    }

    @Test
    void refusesABodyThatSaysItIsTooLarge() throws IOException {
        serve((path, out) -> HttpStub.head(out, 200, "Content-Length: 1099511627776\r\n"));
        assertThat(refused().detail()).isEqualTo("1099511627776 bytes, more than 1048576");
    }

    @Test
    void refusesABodyThatBreaksOff() throws IOException {
        serve((path, out) -> {
            HttpStub.head(out, 200, "Content-Length: " + (debug(ID).length + 9) + "\r\n");
            out.write(debug(ID));
        });
        assertThat(refused().outcome()).isEqualTo(AttemptResult.REFUSED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\0\1\2 what\r\n\r\n",
                "",
                "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n",
                "HTTP/1.1 302 Found\r\nLocation: \\\\ {}\r\n\r\n",
                "HTTP/1.1 302 Found\r\n\r\n",
                "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nxxxx",
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffff\r\nx",
            })
    void survivesWhatNoServerWouldSend(String answer) throws IOException {
        serve((path, out) -> out.write(answer.getBytes(StandardCharsets.ISO_8859_1)));
        assertThat(refused().place()).startsWith(server.address().toString());
    }

    @Test
    void givesUpAServerThatGoesInCircles() throws IOException {
        serve((path, out) -> HttpStub.head(out, 302, "Location: " + PATH + "\r\n"));
        assertThat(refused().detail()).isEqualTo("more than 5 redirects");
        assertThat(server.paths()).hasSize(6);
    }

    @Test
    void givesUpAServerThatIsSilent() throws IOException {
        serve((path, out) -> pause(20_000));
        long start = System.nanoTime();
        assertThat(refused().outcome()).isEqualTo(AttemptResult.REFUSED);
        assertThat(System.nanoTime() - start).isLessThan(Duration.ofSeconds(15).toNanos());
    }

    @Test
    void givesUpAServerThatDrips() throws IOException {
        serve((path, out) -> {
            HttpStub.head(out, 200, "");
            drip(out);
        });
        assertThat(refused().detail())
                .isIn("less than 100 KB in 2 seconds", "no end after 3 seconds");
    }

    @Test
    void givesUpAServerWhoseHeadHasNoEnd() throws IOException {
        serve((path, out) -> {
            out.write("HTTP/1.1 200 OK\r\nX: ".getBytes(StandardCharsets.ISO_8859_1));
            drip(out);
        });
        assertThat(refused().detail()).isEqualTo("no end after 3 seconds");
    }

    private static void drip(OutputStream out) throws IOException {
        for (int i = 0; i < 200; i++) {
            out.write('x');
            out.flush();
            pause(100);
        }
    }

    private static void pause(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void fetchesSources() throws IOException {
        serve((path, out) -> HttpStub.body(out, "int main;\n".getBytes(StandardCharsets.UTF_8)));
        DebugFile answer = client(server.address()).source(ID, "/usr/src/a b/main.c");
        assertThat(server.paths())
                .containsExactly("/buildid/abcdef0123456789/source/usr/src/a%20b/main.c");
        assertThat(answer.path().orElseThrow()).hasContent("int main;");
        assertThat(answer.path().orElseThrow().getFileName())
                .hasToString("source#usr#src#a b#main.c");
    }

    @Test
    void asksOnlyWhenToldAndNeverForRootUnlessTold() throws IOException {
        serve((path, out) -> {});
        Map<String, String> set = Map.of("DEBUGINFOD_URLS", "http://a/ ftp://b https://c");
        assertThat(Debuginfod.of(Map.of(), false, true, line -> {})).isEmpty();
        assertThat(Debuginfod.of(set, true, false, line -> {})).isEmpty();
        assertThat(Debuginfod.of(set, true, true, line -> {})).isPresent();
        assertThat(Debuginfod.of(set, false, false, line -> {}).orElseThrow().servers())
                .containsExactly(URI.create("http://a"), URI.create("https://c"));
    }
}
