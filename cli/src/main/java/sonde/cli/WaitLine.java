package sonde.cli;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import sonde.event.ReadRows;
import sonde.view.TextEscape;

/**
 * One line on standard error while a command works for more than a second without a word: what it
 * does, for how long, and how many events it has read. Only a terminal gets it; it is taken away
 * before anything else is written.
 */
final class WaitLine implements AutoCloseable {
    private static final Set<String> COMMANDS = Set.of("report", "query", "convert", "symbolize");
    private static final String ERASE = "\r\033[K";
    private static final long FIRST_MILLIS = 1000;
    private static final long NEXT_MILLIS = 200;
    private static final Object LOCK = new Object();
    private static boolean drawn;
    private static boolean ended = true;

    private final Thread thread;

    private WaitLine(String what) {
        thread = Thread.ofPlatform().daemon().name("sonde-wait-line").unstarted(() -> draw(what));
    }

    /** Begins to wait; what is closed never drew anything where the command is none of these. */
    static WaitLine of(String command, List<String> words) {
        String file = words.isEmpty() ? "" : words.getFirst();
        WaitLine line = new WaitLine(command + " " + file.substring(file.lastIndexOf('/') + 1));
        synchronized (LOCK) {
            ended = !COMMANDS.contains(command);
            if (!ended) {
                line.thread.start();
            }
        }
        return line;
    }

    private static void draw(String what) {
        try {
            pause(FIRST_MILLIS);
            int columns = TerminalKind.width(TerminalKind.STDERR);
            if (columns == 0 || !TerminalKind.obeys(System.getenv())) {
                return;
            }
            long start = System.nanoTime() - FIRST_MILLIS * 1_000_000;
            boolean goesOn = true;
            while (goesOn) {
                long seconds = (System.nanoTime() - start) / 1_000_000_000;
                long rows = ReadRows.count();
                String read =
                        rows == 0 ? "" : String.format(Locale.ROOT, ", %,d events read", rows);
                goesOn = draw(TextEscape.line(what), ": " + seconds + " s" + read, columns);
                pause(NEXT_MILLIS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // closed
        }
    }

    /** Thread.sleep would load classes of the flight recorder, which no start-up cache holds. */
    private static void pause(long millis) throws InterruptedException {
        long end = System.nanoTime() + millis * 1_000_000;
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    private static boolean draw(String what, String state, int columns) {
        synchronized (LOCK) {
            if (ended) {
                return false;
            }
            int room = Math.max(0, columns - 1 - state.length());
            String name = what.length() <= room ? what : what.substring(0, room);
            System.err.print(ERASE + name + state);
            System.err.flush();
            drawn = true;
            return true;
        }
    }

    /** Standard output is written to: where a terminal or a pager shows it, the line has to go. */
    static void outputBegins() {
        synchronized (LOCK) {
            if (!ended && !TerminalKind.isFile(TerminalKind.STDOUT)) {
                end();
            }
        }
    }

    /** Takes the line away for good. */
    static void end() {
        synchronized (LOCK) {
            ended = true;
            erase();
        }
    }

    private static void erase() {
        if (drawn) {
            drawn = false;
            System.err.print(ERASE);
            System.err.flush();
        }
    }

    /** Standard error, before whose text the line is taken away. */
    static OutputStream guarded(OutputStream err) {
        return new FilterOutputStream(err) {
            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                synchronized (LOCK) {
                    erase();
                    out.write(bytes, offset, length);
                }
            }

            @Override
            public void write(int value) throws IOException {
                write(new byte[] {(byte) value}, 0, 1);
            }
        };
    }

    @Override
    public void close() {
        end();
        thread.interrupt();
    }
}
