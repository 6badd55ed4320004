package sonde.tools.script;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
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

    /** Segments sent again on this machine: RetransSegs, the 12th number of Tcp. */
    private static long retransmitted() throws IOException {
        List<String> lines = Files.readAllLines(Path.of("/proc/net/snmp"));
        String numbers =
                lines.stream().filter(l -> l.startsWith("Tcp: ")).skip(1).findFirst().orElseThrow();
        return Long.parseLong(numbers.split(" ")[12]);
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
        // The first of them comes when the kernel's timer of a second is over.
        long before = retransmitted();
        long end = System.nanoTime() + 5_000_000_000L;
        while (retransmitted() == before && System.nanoTime() < end) {
            Thread.sleep(10);
        }
        for (SocketChannel client : clients) {
            client.close();
        }
    }
}
