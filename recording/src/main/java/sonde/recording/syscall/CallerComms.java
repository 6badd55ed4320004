package sonde.recording.syscall;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import sonde.recording.syscall.CallView.Piece;

/**
 * Names of threads (-Y), as the kernel gives them: a new one has that of its maker, execve and
 * prctl give another. A thread that was not seen before has its name from /proc.
 */
final class CallerComms {
    private static final int EXECVE = CallTable.number("execve");
    private static final int EXECVEAT = CallTable.number("execveat");
    private static final int PRCTL = CallTable.number("prctl");
    private static final int PR_SET_NAME = 15;
    private static final int MOST_LETTERS = 15;
    private static final int MOST_THREADS = 1 << 16;

    private final Map<Integer, String> names = new HashMap<>();
    private final Map<Integer, String> coming = new HashMap<>();

    /** Calls that must be captured for it. */
    static final String[] CALLS = {
        "execve", "execveat", "prctl", "clone", "clone3", "fork", "vfork"
    };

    /** Looks at a record before its line is written. */
    void see(CallRecord record) {
        int tid = record.tid();
        long number = record.number();
        if (record.kind() == CallRecord.ENTER) {
            int name = number == EXECVE ? 0 : number == EXECVEAT || number == PRCTL ? 1 : -1;
            boolean sets = number != PRCTL || record.argument(0) == PR_SET_NAME;
            String next = name < 0 || !sets ? "" : next(record, name);
            if (!next.isEmpty()) {
                coming.put(tid, next);
            }
        } else if (record.kind() == CallRecord.EXIT) {
            String next = coming.remove(tid);
            if (next != null && record.result() == 0) {
                names.put(tid, next);
            } else if (record.result() > 0 && CallLines.makesThread(record)) {
                names.put((int) record.result(), of(tid));
            }
        }
        if (names.size() > MOST_THREADS) {
            names.clear();
        }
    }

    private static String next(CallRecord record, int argument) {
        int at = record.piece(argument, 0, 0);
        if (at < 0) {
            return "";
        }
        Piece piece = new Piece(record.bytes(), at + 8, CallRecord.s32(record.bytes(), at + 4));
        String path = piece.string(0, piece.length());
        String last = path.substring(path.lastIndexOf('/') + 1);
        return last.substring(0, Math.min(MOST_LETTERS, last.length()));
    }

    private String of(int tid) {
        return names.computeIfAbsent(
                tid,
                _ -> {
                    try {
                        Path file = Path.of("/proc/" + tid + "/comm");
                        return Files.readString(file, StandardCharsets.ISO_8859_1).stripTrailing();
                    } catch (IOException e) {
                        return "";
                    }
                });
    }

    /** Appends the name of a thread in angle brackets, where it is known. */
    void append(CallOut out, int tid) {
        String name = of(tid);
        if (!name.isEmpty()) {
            out.append('<');
            byte[] bytes = name.getBytes(StandardCharsets.ISO_8859_1);
            QuotedBytes.appendBare(out, bytes, 0, bytes.length, 0);
            out.append('>');
        }
    }
}
