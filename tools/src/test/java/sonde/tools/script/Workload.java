package sonde.tools.script;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/** Things that happen so that a tool has something to see. */
final class Workload {
    private Workload() {}

    /** Runs a command of the shell to its end. */
    static void shell(String command) throws Exception {
        new ProcessBuilder("/bin/sh", "-c", command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    /** A listening socket of the loopback address, on a port of the kernel's choice. */
    static ServerSocket listen(int backlog) throws IOException {
        return new ServerSocket(0, backlog, InetAddress.getByName("127.0.0.1"));
    }

    /** Connects, is accepted, sends this many bytes there and back, and closes. */
    static void talk(ServerSocket server, int bytes) throws IOException {
        try (Socket client = new Socket(server.getInetAddress(), server.getLocalPort());
                Socket accepted = server.accept()) {
            client.getOutputStream().write(new byte[bytes]);
            accepted.getOutputStream().write(accepted.getInputStream().readNBytes(bytes));
            client.getInputStream().readNBytes(bytes);
        }
    }

    /** Opens more connections than the queue of a server holds, so that packets are sent again. */
    static void crowd(ServerSocket server) throws Exception {
        List<SocketChannel> clients = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            SocketChannel client = SocketChannel.open();
            client.configureBlocking(false);
            client.connect(new InetSocketAddress(server.getInetAddress(), server.getLocalPort()));
            clients.add(client);
        }
        Thread.sleep(1500);
        for (SocketChannel client : clients) {
            client.close();
        }
    }
}
