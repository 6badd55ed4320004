package sonde.recording.ftrace;

import org.jspecify.annotations.Nullable;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.IntegerField;
import sonde.recording.ftrace.PrintExpression.PayloadArray;
import sonde.recording.names.NamedCall;

/** Texts of what perf events tell beside tracepoints. */
final class PerfBodies {
    private static final int PROT_READ = 1;
    private static final int PROT_WRITE = 2;
    private static final int PROT_EXEC = 4;
    private static final int MAP_SHARED = 1;

    private PerfBodies() {}

    /**
     * A mapping as {@code perf script --show-mmap-events} writes it: {@code 12/12:
     * [0x1000(0x2000) @ 0x3000 fe:00 260180 1]: r-xp /usr/bin/sh}. A record with a build id has
     * that where others have device and inode ({@code <id>}).
     */
    static @Nullable EventBody mapping(EventType type) {
        IntegerField pid = EventBodies.integer(type, "pid");
        IntegerField tid = EventBodies.integer(type, "tid");
        IntegerField addr = EventBodies.integer(type, "addr");
        IntegerField len = EventBodies.integer(type, "len");
        IntegerField pgoff = EventBodies.integer(type, "pgoff");
        IntegerField prot = EventBodies.integer(type, "prot");
        IntegerField flags = EventBodies.integer(type, "flags");
        PayloadArray filename = EventBodies.place(type, "filename");
        EventBody file = file(type);
        if (pid == null
                || tid == null
                || addr == null
                || len == null
                || pgoff == null
                || prot == null
                || flags == null
                || filename == null
                || file == null) {
            return null;
        }
        return EventBody.of((out, batch, row) -> {
            out.put(' ').decimal(pid.of(batch, row)).put('/').decimal(tid.of(batch, row));
            out.put(": [0x").hex(addr.of(batch, row), 1).put("(0x").hex(len.of(batch, row), 1);
            out.put(") @ 0x").hex(pgoff.of(batch, row), 1).put(' ');
            file.append(out, batch, row, null, 0);
            long may = prot.of(batch, row);
            out.put("]: ").put((may & PROT_READ) == 0 ? '-' : 'r');
            out.put((may & PROT_WRITE) == 0 ? '-' : 'w').put((may & PROT_EXEC) == 0 ? '-' : 'x');
            out.put((flags.of(batch, row) & MAP_SHARED) == 0 ? 'p' : 's').put(' ');
            out.text(batch, row, filename.offset(batch, row), filename.sizeBytes(batch, row));
        });
    }

    /** Device, inode and its generation, or the build id. */
    private static @Nullable EventBody file(EventType type) {
        IntegerField misc = EventBodies.integer(type, "misc");
        IntegerField maj = EventBodies.integer(type, "maj");
        IntegerField min = EventBodies.integer(type, "min");
        IntegerField ino = EventBodies.integer(type, "ino");
        IntegerField generation = EventBodies.integer(type, "ino_generation");
        IntegerField size = EventBodies.integer(type, "build_id_size");
        PayloadArray id = EventBodies.place(type, "build_id");
        if (misc == null
                || maj == null
                || min == null
                || ino == null
                || generation == null
                || size == null
                || id == null) {
            return null;
        }
        return EventBody.of((out, batch, row) -> {
            int from = id.offset(batch, row);
            boolean whole = batch.payloadBytes(row) >= from + 20;
            if (whole
                    && MappedBuildId.isIn(misc.of(batch, row), batch.bytes(row, from - 4, 24), 0)) {
                long bytes = Math.min(size.of(batch, row) & 0xff, id.sizeBytes(batch, row));
                out.put('<');
                for (int i = 0; i < bytes; i++) {
                    out.hex(batch.u8(row, from + i), 2);
                }
                out.put('>');
            } else {
                out.hex(maj.of(batch, row), 2).put(':').hex(min.of(batch, row), 2).put(' ');
                out.decimal(ino.of(batch, row)).put(' ').decimal(generation.of(batch, row));
            }
        });
    }

    /**
     * What the names program wrote of a system call: {@code open /etc/passwd = 3}, {@code connect 5
     * to 127.0.0.1:80 = 0}; as any sample when the data are another program's.
     */
    static EventBody named(EventBody sample) {
        return (out, batch, row, next, nextRow) -> {
            NamedCall call = NamedCall.of(batch, row);
            if (call == null || !isOurs(call, batch, row)) {
                return sample.append(out, batch, row, next, nextRow);
            }
            append(out, call);
            return false;
        };
    }

    /** It names its own thread, and nothing but padding follows it. */
    private static boolean isOurs(NamedCall call, Batch batch, int row) {
        int rest = batch.payloadBytes(row) - NamedCall.BYTES - call.bytes().length;
        return call.tid() == batch.tid(row) && rest < 8;
    }

    private static void append(TextBuffer out, NamedCall call) {
        switch (call.kind()) {
            case OPEN -> out.put("open ");
            case EXECUTE -> out.put("exec ");
            case CONNECT -> out.put("connect ").decimal(call.descriptor()).put(" to ");
            case BIND -> out.put("bind ").decimal(call.descriptor()).put(" to ");
            case ACCEPT -> out.put("accept on ").decimal(call.descriptor()).put(" from ");
            case POLL -> out.put("poll waits on ");
            case SELECT -> out.put("select waits on ");
            case FUTEX -> out.put("futex waits at ");
            case PIPE -> out.put("pipe ");
            case PATH -> out.put("path ");
            case NONE -> {}
        }
        if (call.isWait()) {
            out.put(call.name());
            return;
        }
        if (call.kind() == NamedCall.Kind.CONNECT && call.result() == NamedCall.WAITING) {
            out.put(call.name()).put(" waits");
            return;
        }
        boolean relative =
                call.descriptor() >= 0
                        && (call.kind() == NamedCall.Kind.OPEN
                                || call.kind() == NamedCall.Kind.PATH)
                        && !call.name().startsWith("/");
        if (relative) {
            out.decimal(call.descriptor()).put('/');
        }
        out.put(call.name()).put(" = ").decimal(call.result());
    }
}
