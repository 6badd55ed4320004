package sonde.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * An HTTP server on the loopback address that sends whatever a test wants, also what no server
 * would send. One thread for each connection, closed after one answer.
 */
public final class HttpStub implements AutoCloseable {
    /** Writes the whole answer, its head included. */
    @FunctionalInterface
    public interface Answer {
        /**
         * @param path as it was asked for, not decoded
         */
        void write(String path, OutputStream out) throws IOException;
    }

    private final ServerSocket socket;
    private final Answer answer;
    private final List<String> paths = new CopyOnWriteArrayList<>();

    /** Listens from now on. */
    public HttpStub(Answer answer) throws IOException {
        this.answer = answer;
        this.socket = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().start(this::accept);
    }

    /** {@code http://127.0.0.1:PORT}. */
    public URI address() {
        return URI.create("http://127.0.0.1:" + socket.getLocalPort());
    }

    /** What was asked for, in order. */
    public List<String> paths() {
        return List.copyOf(paths);
    }

    /** An answer of a status without a body; headers end with CR LF each. */
    public static void head(OutputStream out, int status, String headers) throws IOException {
        String head = "HTTP/1.1 " + status + " X\r\n" + headers + "Connection: close\r\n\r\n";
        out.write(head.getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
    }

    /** An answer with a body. */
    public static void body(OutputStream out, byte[] body) throws IOException {
        head(out, 200, "Content-Length: " + body.length + "\r\n");
        out.write(body);
        out.flush();
    }

    private void accept() {
        while (!socket.isClosed()) {
            try {
                Socket peer = socket.accept();
                Thread.ofPlatform().daemon().start(() -> serve(peer));
            } catch (IOException e) {
                return; // closed
            }
        }
    }

    private void serve(Socket peer) {
        try (peer) {
            BufferedReader in =
                    new BufferedReader(
                            new InputStreamReader(
                                    peer.getInputStream(), StandardCharsets.ISO_8859_1));
            String request = in.readLine();
            String line = request;
            while (line != null && !line.isEmpty()) {
                line = in.readLine();
            }
            if (request != null) {
                String path = request.split(" ", -1)[1];
                paths.add(path);
                answer.write(path, peer.getOutputStream());
            }
        } catch (IOException e) {
            // The client has gone.
            return;
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
