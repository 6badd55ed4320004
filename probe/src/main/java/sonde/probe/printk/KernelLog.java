package sonde.probe.printk;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import sonde.sys.Errno;
import sonde.sys.Fd;
import sonde.sys.FileCalls;
import sonde.sys.SyscallException;

/**
 * The kernel's log as /dev/kmsg gives it, record by record (Documentation/ABI/testing/dev-kmsg). It
 * has all messages, whatever the level of the console.
 */
public final class KernelLog implements AutoCloseable {
    /** CONSOLE_EXT_LOG_MAX of the kernel. */
    private static final int RECORD_BYTES = 8192;

    private static final int MOST_RECORDS = 1_000_000;

    /**
     * A message.
     *
     * @param level 0 (emergency) to 7 (debug)
     * @param micros since boot, by the clock of printk
     * @param caller "T12" for a thread, "C1" for a CPU; empty where the kernel does not keep it
     */
    public record LogRecord(int level, long sequence, long micros, String caller, String text) {
        /** As dmesg shows it. */
        public String line() {
            String who = caller.isEmpty() ? "" : "[%6s] ".formatted(caller);
            return "[%5d.%06d] ".formatted(micros / 1_000_000, micros % 1_000_000) + who + text;
        }
    }

    private final int fd;
    private long lost;

    private KernelLog(int fd) {
        this.fd = fd;
    }

    /** Reads from the next message on, or from the oldest. */
    public static KernelLog open(boolean fromEnd) throws SyscallException {
        KernelLog log =
                new KernelLog(
                        FileCalls.open("/dev/kmsg", FileCalls.O_RDONLY | FileCalls.O_NONBLOCK));
        if (fromEnd) {
            Fd.lseek(log.fd, 0, Fd.SEEK_END);
        }
        return log;
    }

    /** The texts of all messages that the kernel still has; none where they may not be read. */
    public static List<String> all() {
        List<String> texts = new ArrayList<>();
        try (KernelLog log = open(false)) {
            for (int i = 0; i < MOST_RECORDS; i++) {
                Optional<LogRecord> next = log.next();
                if (next.isEmpty()) {
                    break;
                }
                texts.add(next.get().text());
            }
        } catch (SyscallException e) {
            return texts;
        }
        return texts;
    }

    /** The next message; empty where there is none yet. */
    public Optional<LogRecord> next() throws SyscallException {
        while (true) {
            byte[] record = record();
            Optional<LogRecord> parsed = parse(record, record.length);
            if (parsed.isPresent() || record.length == 0) {
                return parsed;
            }
        }
    }

    /** The bytes of the next record; none where there is none yet. */
    private byte[] record() throws SyscallException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment into = arena.allocate(RECORD_BYTES);
            while (true) {
                try {
                    int length = (int) Fd.read(fd, into);
                    return into.asSlice(0, Math.max(length, 0)).toArray(ValueLayout.JAVA_BYTE);
                } catch (SyscallException e) {
                    if (e.errno() == Errno.EAGAIN) {
                        return new byte[0];
                    }
                    if (e.errno() != Errno.EPIPE) {
                        throw e;
                    }
                    lost++; // overwritten before it was read; the next read goes on behind it
                }
            }
        }
    }

    /** The records as the device gives them; a read returns 0 where there is none yet. */
    public InputStream stream() {
        return new InputStream() {
            @Override
            public int read() {
                throw new UnsupportedOperationException("a record is read whole");
            }

            @Override
            public int read(byte[] target, int offset, int length) throws IOException {
                try {
                    byte[] record = record();
                    int count = Math.min(record.length, length);
                    System.arraycopy(record, 0, target, offset, count);
                    return count;
                } catch (SyscallException e) {
                    throw new IOException("/dev/kmsg: " + e.getMessage(), e);
                }
            }

            @Override
            public void close() {
                KernelLog.this.close();
            }
        };
    }

    /** How often messages were overwritten before they were read. */
    public long lost() {
        return lost;
    }

    @Override
    public void close() {
        Fd.discard(fd);
    }

    /** {@code PRIORITY,SEQUENCE,MICROSECONDS,FLAGS[,KEY=VALUE...];TEXT}, then lines of a device. */
    static Optional<LogRecord> parse(byte[] bytes, int length) {
        String all = new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
        int semicolon = all.indexOf(';');
        String[] head = semicolon < 0 ? new String[0] : all.substring(0, semicolon).split(",", -1);
        int end = all.indexOf('\n', semicolon + 1);
        if (head.length < 3 || !head[0].matches("\\d{1,9}") || !head[1].matches("\\d{1,18}")) {
            return Optional.empty();
        }
        String caller = "";
        for (String part : head) {
            caller = part.startsWith("caller=") ? part.substring(7) : caller;
        }
        return Optional.of(
                new LogRecord(
                        Integer.parseInt(head[0]) & 7,
                        Long.parseLong(head[1]),
                        head[2].matches("\\d{1,18}") ? Long.parseLong(head[2]) : 0,
                        caller,
                        text(all.substring(semicolon + 1, end < 0 ? all.length() : end))));
    }

    /** Other bytes than printable ASCII are {@code \xNN}. */
    private static String text(String escaped) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream(escaped.length());
        for (int i = 0; i < escaped.length(); i++) {
            String hex =
                    escaped.startsWith("\\x", i) && i + 4 <= escaped.length()
                            ? escaped.substring(i + 2, i + 4)
                            : "";
            boolean isByte = hex.matches("[0-9a-f]{2}");
            bytes.write(isByte ? Integer.parseInt(hex, 16) : escaped.charAt(i));
            i += isByte ? 3 : 0;
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
