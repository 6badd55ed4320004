package sonde.recording.syscall;

import static sonde.recording.syscall.ConstantSet.appendHex;

import org.jspecify.annotations.Nullable;
import sonde.recording.syscall.ArgumentShape.ConstantNumber;
import sonde.recording.syscall.ArgumentShape.Inner;
import sonde.recording.syscall.ArgumentShape.LengthShape;
import sonde.recording.syscall.ArgumentShape.NumberForm;
import sonde.recording.syscall.ArgumentShape.PlainNumber;
import sonde.recording.syscall.ArgumentShape.PointerTo;
import sonde.recording.syscall.CallView.Piece;
import sonde.recording.syscall.TargetShape.Boxed;
import sonde.recording.syscall.TargetShape.Special;
import sonde.recording.syscall.TargetShape.StructField;
import sonde.recording.syscall.TargetShape.StructShape;
import sonde.sys.SignalNames;

/** Writes one argument of a call by its shape. */
final class ArgumentText {
    private static final int AT_FDCWD = -100;
    private static final int SHOWN_ELEMENTS = 32;

    /** O_CREAT, or what O_TMPFILE has besides O_DIRECTORY. */
    private static final int O_CREATES = 020000100;

    private final CallOut out;
    private final SpecialText special;

    /** Behind the descriptor that is written next. */
    private @Nullable Piece file;

    private final @Nullable CallerComms threads;

    /**
     * Of a text.
     *
     * @param threads their names; null where none are wanted
     */
    ArgumentText(CallOut out, @Nullable CallerComms threads) {
        this.out = out;
        this.threads = threads;
        special = new SpecialText(out, this);
    }

    /** Appends an argument. */
    void append(CallView call, int index, ArgumentShape shape) {
        long value = call.arguments()[index];
        file = call.file(index);
        switch (shape) {
            case PlainNumber(NumberForm form) -> {
                if (!special.appendNumber(call, index, form)) {
                    number(call, form, value);
                }
            }
            case ConstantNumber named -> named(named, value);
            case PointerTo pointer -> pointer(call, index, pointer, value);
            case Inner _ -> throw new IllegalStateException("a struct is no argument");
        }
    }

    private void named(ConstantNumber named, long value) {
        long cut =
                named.bits() == 64
                        ? value
                        : named.bits() == 32
                                ? named.isFlags() ? value & 0xffffffffL : (int) value
                                : value & 0xffff;
        if (named.isFlags()) {
            named.set().appendFlags(out, cut, named.zero());
        } else {
            named.set().appendEnum(out, cut, named.bits());
        }
    }

    /** Appends a number that needs no other argument. */
    void number(CallView call, NumberForm form, long value) {
        switch (form) {
            case D -> out.append((int) value);
            case U -> out.append(value & 0xffffffffL);
            case U16 -> out.append(value & 0xffff);
            case LD -> out.append(value);
            case LU -> out.append(Long.toUnsignedString(value));
            case X -> appendHex(out, value & 0xffffffffL);
            case LX, HEX -> appendHex(out, value);
            case P -> address(value);
            case FD -> descriptor(call, (int) value);
            case AT -> {
                if ((int) value == AT_FDCWD) {
                    out.named("-100", () -> out.append("AT_FDCWD"));
                    DescriptorText.append(out, call.style().descriptors(), file);
                } else {
                    descriptor(call, (int) value);
                }
            }
            case PID -> process((int) value);
            case MODE -> mode((int) value);
            case PERM, PERM64 -> permissions((int) value);
            case OCTAL -> {
                out.append(value == 0 ? "" : "0").append(Long.toOctalString(value));
            }
            case DEV -> device(value);
            case UID -> out.append((int) value == -1 ? -1 : value & 0xffffffffL);
            case SIG -> signal((int) value);
            case RLIM -> limit(value);
            case OPENFLAGS, OPENFLAGS64 -> openFlags(value);
            case MAPFLAGS -> mapFlags((int) value);
            case STATXFLAGS -> statxFlags((int) value);
            case SOCKTYPE -> masked(value & 0xffffffffL, 0xf, "SOCK", "SOCK_FLAGS");
            case IFINDEX -> out.append(value & 0xffffffffL);
            case D16 -> out.append((short) value);
            default -> composed(form, value);
        }
    }

    /** Appends a number that has parts or a text beside it. */
    private void composed(NumberForm form, long value) {
        switch (form) {
            case CAPVERSION -> {
                String known =
                        switch ((int) value) {
                            case 0x19980330 -> "_LINUX_CAPABILITY_VERSION_1";
                            case 0x20071026 -> "_LINUX_CAPABILITY_VERSION_2";
                            case 0x20080522 -> "_LINUX_CAPABILITY_VERSION_3";
                            default -> hex((int) value) + " /* _LINUX_CAPABILITY_VERSION_??? */";
                        };
                out.named(value & 0xffffffffL, () -> out.append(known));
            }
            case KEYID -> key((int) value);
            case KERNEL -> {
                out.append("KERNEL_VERSION(").append(value >> 16 & 0xffff).append(", ");
                out.append(value >> 8 & 0xff).append(", ").append(value & 0xff).append(')');
            }
            case IPCKEY -> {
                if ((int) value == 0) {
                    out.named("0", () -> out.append("IPC_PRIVATE"));
                } else {
                    appendHex(out, value & 0xffffffffL);
                }
            }
            case IPCFLAGS -> ipcFlags("IPC_FLAG", value);
            case SHMFLAGS -> ipcFlags("IPC_SHM", value);
            case SYSLOG -> {
                out.append((int) value);
                int start = out.length();
                out.append(" /* ");
                if (ConstantSet.of("SYSLOG").appendName(out, (int) value, 32)) {
                    out.append(" */");
                } else {
                    out.setLength(start);
                    out.append(" /* SYSLOG_ACTION_??? */");
                }
            }
            case IOPRIO -> {
                out.append("IOPRIO_PRIO_VALUE(");
                ConstantSet.of("IOPRIO_CLASS").appendEnum(out, value >> 13 & 7, 32);
                out.append(", ").append(value & 0x1fff).append(')');
            }
            case FUTEXWAKE -> {
                ConstantSet.of("FUTEX_OP").appendEnum(out, value >> 28 & 7, 32);
                out.append("<<28|");
                out.append((value & 0x80000000L) != 0 ? "FUTEX_OP_OPARG_SHIFT<<28|" : "");
                appendHex(out, value >> 12 & 0xfff);
                out.append("<<12|");
                ConstantSet.of("FUTEX_CMP").appendEnum(out, value >> 24 & 15, 32);
                out.append("<<24|");
                appendHex(out, value & 0xfff);
            }
            case EPOLLDATA -> {
                out.append("{u32=").append(value & 0xffffffffL);
                out.append(", u64=").append(Long.toUnsignedString(value)).append('}');
            }
            case FSID -> {
                out.append("{val=[");
                appendHex(out, value & 0xffffffffL);
                out.append(", ");
                appendHex(out, value >>> 32);
                out.append("]}");
            }
            default -> throw new IllegalStateException(form + " needs the call");
        }
    }

    private void key(int id) {
        String number = Integer.toString(id);
        if (id >= 0) {
            out.append(number);
            return;
        }
        out.named(
                number,
                () -> {
                    if (!ConstantSet.of("KEY_SPEC").appendName(out, id, 32)) {
                        out.append(number);
                    }
                });
    }

    private void ipcFlags(String set, long value) {
        out.named(
                value & 0xffffffffL,
                () -> {
                    int start = out.length();
                    rest(ConstantSet.of(set).appendKnown(out, value & 0xfffffe00L, false));
                    out.append(out.length() == start ? "" : "|");
                    permissions((int) value & 0777);
                });
    }

    /** {@code NULL} or hexadecimal. */
    void address(long value) {
        if (value == 0) {
            out.append("NULL");
        } else {
            out.append("0x").append(Long.toHexString(value));
        }
    }

    void descriptor(CallView call, int value) {
        out.append(value);
        if (value >= 0) {
            DescriptorText.append(out, call.style().descriptors(), file);
        }
    }

    /** The descriptor that a call returned. */
    void result(CallView call, int value) {
        file = call.file(CaptureOp.RESULT);
        descriptor(call, value);
    }

    /** The number of a process or thread, with its name where that is wanted. */
    void process(int value) {
        out.append(value);
        if (threads != null && value > 0) {
            threads.append(out, value);
        }
    }

    private static String hex(int value) {
        return "0x" + Integer.toHexString(value);
    }

    /** {@code SIGTERM}; as the kernel counts, the first signal for programs is 32. */
    void signal(int value) {
        if (value == 0) {
            out.append('0');
            return;
        }
        out.named(Integer.toString(value), () -> out.append(signalName(value)));
    }

    static String signalName(int value) {
        return value < 32 || value > 64
                ? SignalNames.of(value)
                : value == 32 ? "SIGRTMIN" : "SIGRT_" + (value - 32);
    }

    void permissions(int value) {
        String octal = Integer.toOctalString(value & 0xffff);
        out.append("000", 0, Math.max(octal.length() < 3 ? 3 - octal.length() : 1, 1));
        out.append(octal);
    }

    void mode(int value) {
        String octal = (value == 0 ? "" : "0") + Integer.toOctalString(value);
        out.named(octal, () -> namedMode(value));
    }

    private void namedMode(int value) {
        if (!ConstantSet.of("S_IF").appendName(out, value & 0170000, 32)) {
            permissions(value);
            return;
        }
        out.append('|').append((value & 04000) != 0 ? "S_ISUID|" : "");
        out.append((value & 02000) != 0 ? "S_ISGID|" : "");
        out.append((value & 01000) != 0 ? "S_ISVTX|" : "");
        permissions(value & 0777);
    }

    /** The kernel's new_encode_dev for 32 bits, and glibc's for more. */
    void device(long value) {
        long major = value >> 8 & 0xfff | value >> 32 & ~0xfffL;
        long minor = value & 0xff | value >> 12 & ~0xffL & 0xffffffL;
        out.named(
                value,
                () -> {
                    out.append("makedev(");
                    appendHex(out, major);
                    out.append(", ");
                    appendHex(out, minor);
                    out.append(')');
                });
    }

    private void limit(long value) {
        if (value == -1) {
            out.named(Long.toUnsignedString(value), () -> out.append("RLIM64_INFINITY"));
        } else if (value > 1024 && value % 1024 == 0) {
            String number = Long.toUnsignedString(value);
            out.named(number, () -> out.append(value / 1024).append("*1024"));
        } else {
            out.append(Long.toUnsignedString(value));
        }
    }

    void openFlags(long value) {
        out.named(
                value & 0xffffffffL,
                () -> {
                    ConstantSet.of("O_ACCMODE").appendName(out, value & 3, 32);
                    if ((value & 3) == 3) {
                        out.append("O_ACCMODE");
                    }
                    rest(ConstantSet.of("O").appendKnown(out, value & ~3L & 0xffffffffL, true));
                });
    }

    /** Flags that have no names, behind those that have. */
    private void rest(long flags) {
        if (flags != 0) {
            out.append('|');
            appendHex(out, flags);
        }
    }

    private void mapFlags(int value) {
        long flags = value & 0xfffffff0L;
        long huge = (flags & 0x40000) != 0 ? flags & 0xfc000000L : 0;
        out.named(
                value & 0xffffffffL,
                () -> {
                    namesOf("MAP_TYPE", value & 0xf);
                    long others = ConstantSet.of("MAP").appendKnown(out, flags & ~huge, true);
                    if (huge != 0) {
                        out.append('|').append(huge >>> 26).append("<<MAP_HUGE_SHIFT");
                    }
                    rest(others);
                });
    }

    private void namesOf(String set, long value) {
        if (!ConstantSet.of(set).appendName(out, value, 32)) {
            appendHex(out, value);
            out.append(" /* ").append(ConstantSet.of(set).prefix()).append("??? */");
        }
    }

    private void statxFlags(int value) {
        long sync = value & 0x6000;
        out.named(
                value & 0xffffffffL,
                () -> {
                    out.append(sync == 0 ? "AT_STATX_SYNC_AS_STAT" : "");
                    ConstantSet flags = ConstantSet.of("AT_STATX");
                    rest(flags.appendKnown(out, value & 0xffffffffL, sync == 0));
                });
    }

    void masked(long value, long mask, String low, String flags) {
        out.named(
                value,
                () -> {
                    namesOf(low, value & mask);
                    rest(ConstantSet.of(flags).appendKnown(out, value & ~mask, true));
                });
    }

    private void pointer(CallView call, int index, PointerTo pointer, long value) {
        if (pointer.target() instanceof Special(TargetShape.SpecialForm form)) {
            if (call.pointers() && !form.isText() || !special.append(call, index, pointer, form)) {
                address(value);
            }
            return;
        }
        if (call.pointers()) {
            address(value);
            return;
        }
        Piece in = pointer.in() ? call.in(index, 0) : null;
        Piece piece = pointer.out() ? call.out(index, 0) : in;
        if (value == 0 || piece == null && in == null || pointer.out() && call.failed()) {
            boolean empty =
                    pointer.count() != null && value != 0 && count(call, pointer.count()) == 0;
            if (empty && !(pointer.out() && call.failed())) {
                out.append("[]");
            } else {
                address(value);
            }
            return;
        }
        Piece shown = piece == null ? in : piece;
        if (shown != null) {
            target(call, index, pointer, shown);
        }
    }

    private void target(CallView call, int index, PointerTo pointer, Piece piece) {
        LengthShape count = pointer.count();
        switch (pointer.target()) {
            case StructShape struct
                    when count == null || count instanceof LengthShape.StructBytes ->
                    fields(call, struct, piece);
            case StructShape struct -> array(call, index, count, new Inner(struct), piece);
            case Boxed boxed when count == null -> {
                out.append('[');
                element(call, boxed.number(), piece);
                out.append(']');
            }
            case Boxed boxed -> array(call, index, count, boxed.number(), piece);
            case Special _ -> throw new IllegalStateException("shown elsewhere");
        }
    }

    private void array(
            CallView call, int index, LengthShape count, ArgumentShape shape, Piece piece) {
        long asked = count(call, count);
        int bytes = ArgumentShape.bytes(shape);
        int captured = piece.length() / bytes;
        int shown = (int) Math.min(Math.min(asked, captured), SHOWN_ELEMENTS);
        if (call.verbose()) {
            shown = (int) Math.min(asked, captured);
        }
        out.append('[');
        for (int i = 0; i < shown; i++) {
            out.append(i == 0 ? "" : ", ");
            file = call.file(index, (long) i);
            element(call, shape, piece.part(i * bytes, bytes));
        }
        out.append(shown < asked ? shown == 0 ? "..." : ", ..." : "").append(']');
    }

    /** Elements that the call means; 0 for a number below. */
    long count(CallView call, LengthShape count) {
        long found =
                switch (count) {
                    case LengthShape.FixedCount(int number) -> number;
                    case LengthShape.StructBytes(int index) ->
                            call.arguments()[index] & 0xffffffffffffL;
                    case LengthShape.ByArgument(int index) ->
                            call.arguments()[index] & 0xffffffffffffL;
                    case LengthShape.ByResult() -> call.result();
                    case LengthShape.BehindArgument(int index) -> {
                        Piece length = call.out(index, 0);
                        yield length == null || length.length() < 4 ? 0 : length.s32(0);
                    }
                };
        return Math.max(0, found);
    }

    private void element(CallView call, ArgumentShape shape, Piece piece) {
        if (piece.length() < ArgumentShape.bytes(shape)) {
            out.append("???");
            return;
        }
        switch (shape) {
            case Inner inner -> fields(call, inner.struct(), piece);
            case PlainNumber(NumberForm form) when form == NumberForm.LU3 -> {
                out.append('[').append(Long.toUnsignedString(piece.s64(0)));
                out.append(", ").append(Long.toUnsignedString(piece.s64(8)));
                out.append(", ").append(Long.toUnsignedString(piece.s64(16))).append(']');
            }
            case PlainNumber(NumberForm form)
                    when form == NumberForm.TEXT65 || form == NumberForm.NAME16 ->
                    special.text(call, piece, Integer.MAX_VALUE);
            case PlainNumber(NumberForm form) -> number(call, form, read(piece, form.bytes));
            case ConstantNumber named -> named(named, read(piece, named.bits() / 8));
            case PointerTo _ -> address(piece.s64(0));
        }
    }

    private static long read(Piece piece, int bytes) {
        return switch (bytes) {
            case 2 -> piece.u16(0);
            case 4 -> piece.s32(0);
            default -> piece.s64(0);
        };
    }

    /** {@code {tv_sec=1, tv_nsec=0}}. */
    void fields(CallView call, StructShape struct, Piece piece) {
        int shown = call.verbose() ? struct.fields().size() : struct.abbreviated();
        out.append('{');
        for (int i = 0; i < shown; i++) {
            StructField field = struct.fields().get(i);
            if (field.shape() instanceof PlainNumber(NumberForm form)
                    && form == NumberForm.PERM64
                    && (piece.s64(0) & O_CREATES) == 0) {
                continue; // the mode of struct open_how, where no file is made
            }
            if (field.offset() + ArgumentShape.bytes(field.shape()) > piece.length()) {
                out.append('}');
                return; // an older and smaller struct
            }
            out.append(i == 0 ? "" : ", ").append(field.name()).append('=');
            int bytes = ArgumentShape.bytes(field.shape());
            element(call, field.shape(), piece.part(field.offset(), bytes));
        }
        out.append(shown < struct.fields().size() ? ", ..." : "").append('}');
    }

    /** The part of a result behind the number, for results that have one; else null. */
    @Nullable String remark(CallView call, ArgumentShape result) {
        int start = out.length();
        special.remark(call, result);
        String text = out.substring(start);
        out.setLength(start);
        return text.isEmpty() ? null : text;
    }
}
