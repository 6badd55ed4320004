package sonde.recording.syscall;

import static sonde.recording.syscall.ConstantSet.appendHex;

import java.util.Objects;
import org.jspecify.annotations.Nullable;
import sonde.recording.syscall.ArgumentShape.ConstantNumber;
import sonde.recording.syscall.ArgumentShape.NumberForm;
import sonde.recording.syscall.ArgumentShape.PlainNumber;
import sonde.recording.syscall.ArgumentShape.PointerTo;
import sonde.recording.syscall.CallView.Piece;
import sonde.recording.syscall.TargetShape.SpecialForm;

/** Arguments that no list of fields describes. */
final class SpecialText {
    private static final int CLONE_SETTLS = 0x80000;
    private static final int CLONE_PARENT_SETTID = 0x100000;
    private static final int CLONE_CHILD_CLEARTID = 0x200000;
    private static final int CLONE_CHILD_SETTID = 0x1000000;
    private static final int CLONE_PIDFD = 0x1000;
    private static final int FUTEX_CLOCK_REALTIME = 256;

    private final CallOut out;
    private final ArgumentText text;
    private final SocketText sockets;

    SpecialText(CallOut out, ArgumentText text) {
        this.out = out;
        this.text = text;
        sockets = new SocketText(out, text, this);
    }

    /** Appends an argument whose meaning depends on others; whether it was one. */
    boolean appendNumber(CallView call, int index, NumberForm form) {
        long value = call.arguments()[index];
        switch (form) {
            case PROTOCOL -> sockets.protocol((int) call.arguments()[0], (int) value);
            case SOCKOPT -> sockets.option((int) call.arguments()[index - 1], (int) value);
            case IOCTL -> ioctl((int) value);
            case FUTEXOP -> {
                ConstantSet ops = ConstantSet.of("FUTEX");
                long op = value & 0xffffffffL & ~FUTEX_CLOCK_REALTIME;
                boolean realTime = (value & FUTEX_CLOCK_REALTIME) != 0;
                out.named(
                        value & 0xffffffffL,
                        () -> {
                            if (!ops.appendName(out, op, 32)) {
                                appendHex(out, op);
                                out.append(" /* FUTEX_??? */");
                            }
                            out.append(realTime ? "|FUTEX_CLOCK_REALTIME" : "");
                        });
            }
            case FUTEXBITS -> {
                if ((int) value == -1) {
                    out.named(0xffffffffL, () -> out.append("FUTEX_BITSET_MATCH_ANY"));
                } else {
                    appendHex(out, value & 0xffffffffL);
                }
            }
            case SIGFRAME -> {
                Piece mask = call.in(CallRecord.STACK_POINTER, 0);
                if (mask == null) {
                    out.append("???");
                } else {
                    out.append("{mask=");
                    signals(mask);
                    out.append('}');
                }
            }
            case CAPDATA -> capabilities(call, index);
            case RESTART -> out.append("<... resuming interrupted system call ...>");
            default -> {
                return false;
            }
        }
        return true;
    }

    /** {@code TIOCGWINSZ}, or the parts of the number. */
    private void ioctl(int command) {
        if (ConstantSet.of("IOCTL").appendName(out, command & 0xffffffffL, 32)) {
            return;
        }
        String[] ways = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ", "_IOC_READ|_IOC_WRITE"};
        out.append("_IOC(").append(ways[command >>> 30]).append(", ");
        appendHex(out, command >> 8 & 0xff);
        out.append(", ");
        appendHex(out, command & 0xff);
        out.append(", ");
        appendHex(out, command >> 16 & 0x3fff);
        out.append(')');
    }

    /** Appends what an address means; false for the address alone. */
    boolean append(CallView call, int index, PointerTo pointer, SpecialForm form) {
        if (call.arguments()[index] == 0) {
            return false;
        }
        boolean isOut = pointer.out();
        if (form == SpecialForm.SOCKLEN) {
            return sockets.length(call, index);
        }
        if (isOut && call.failed() && form != SpecialForm.REMAINING) {
            return false;
        }
        Piece piece = isOut ? call.out(index, 0) : call.in(index, 0);
        boolean isEmpty = isOut && call.result() == 0 || countIsZero(call, pointer);
        if (piece == null && isEmpty && isBytes(form)) {
            out.append("\"\"");
            return true;
        }
        if (piece == null && isEmpty && form == SpecialForm.DIRENTS) {
            address(call, index);
            out.append(" /* 0 entries */");
            return true;
        }
        return piece != null && append(call, index, pointer, form, piece);
    }

    private boolean countIsZero(CallView call, PointerTo pointer) {
        return pointer.count() != null && text.count(call, pointer.count()) == 0;
    }

    private static boolean isBytes(SpecialForm form) {
        return form == SpecialForm.BYTES || form == SpecialForm.HEXBYTES;
    }

    private void address(CallView call, int index) {
        text.address(call.arguments()[index]);
    }

    private boolean append(
            CallView call, int index, PointerTo pointer, SpecialForm form, Piece piece) {
        switch (form) {
            case PATH -> text(call, piece, Integer.MAX_VALUE);
            case STR -> text(call, piece, call.style().limit());
            case BYTES, HEXBYTES -> {
                long length = text.count(call, Objects.requireNonNull(pointer.count()));
                bytes(call, piece, length, form == SpecialForm.HEXBYTES ? 2 : call.style().hex());
            }
            case STRV -> strings(call, index, piece);
            case ENVP -> environment(call, index, piece);
            case IOV -> vector(call, index, piece, 0, pointer.out());
            case MSGHDR -> sockets.message(call, index, piece, pointer.out());
            case SOCKADDR -> {
                return sockets.address(call, pointer, piece);
            }
            case SOCKVALUE -> {
                return sockets.value(call, pointer, piece);
            }
            case SIGSET -> {
                return signals(piece.length() < 8 ? null : piece);
            }
            case SIGACTION -> action(piece);
            case SIGINFO -> SignalText.append(out, text, piece);
            case SIGMASKPAIR -> maskPair(call, index, piece);
            case STAT -> FileStatText.stat(out, text, call, piece);
            case STATX -> FileStatText.statx(out, text, call, piece);
            case TERMIOS -> FileStatText.termios(out, call, piece);
            case DIRENTS -> entries(call, index, piece);
            case FDSET -> descriptors((int) call.arguments()[0], piece);
            case WSTATUS -> {
                return call.result() > 0 && status(piece.s32(0));
            }
            case CPUSET -> cpus(piece);
            case NAME16 -> text(call, piece, 15);
            case CLONEARGS -> cloneArguments(piece);
            case UTIMES -> times(piece);
            case REMAINING -> {
                return remaining(call, piece);
            }
            case SCHEDPARAM -> out.append('[').append(piece.s32(0)).append(']');
            case SOCKLEN -> throw new IllegalStateException("shown before");
        }
        return true;
    }

    /** A string that ends in NUL, or was cut. */
    void text(CallView call, Piece piece, int limit) {
        int length = 0;
        while (length < piece.length() && piece.u8(length) != 0) {
            length++;
        }
        int shown = Math.min(length, limit);
        QuotedBytes.append(out, piece.bytes(), piece.offset(), shown, call.style().hex());
        boolean cut = shown < length || length == piece.length() && limit < Integer.MAX_VALUE;
        out.append(cut ? "..." : "");
    }

    void bytes(CallView call, Piece piece, long length, int hex) {
        int shown = (int) Math.min(Math.min(length, piece.length()), call.style().limit());
        QuotedBytes.append(out, piece.bytes(), piece.offset(), shown, hex);
        out.append(shown < length ? "..." : "");
    }

    /** Strings are the parts 1 and on; the piece itself has their addresses. */
    private void strings(CallView call, int index, Piece addresses) {
        out.append('[');
        int most = call.verbose() ? CaptureOp.PARTS : call.style().limit();
        for (int i = 0; i * 8 < addresses.length() && addresses.s64(i * 8) != 0; i++) {
            out.append(i == 0 ? "" : ", ");
            if (i >= Math.min(most, CaptureOp.PARTS - 1)) {
                out.append("...");
                break;
            }
            Piece string = call.in(index, i + 1);
            if (string == null) {
                text.address(addresses.s64(i * 8));
            } else {
                text(call, string, call.style().limit());
            }
        }
        out.append(']');
    }

    private void environment(CallView call, int index, Piece piece) {
        if (call.verbose()) {
            strings(call, index, piece);
            return;
        }
        int count = 0;
        while (count * 8 + 8 <= piece.length() && piece.s64(count * 8) != 0) {
            count++;
        }
        address(call, index);
        out.append(" /* ").append(count).append(count == 1 ? " var */" : " vars */");
    }

    /** An array of struct iovec; the parts behind it are what they point to. */
    void vector(CallView call, int index, Piece piece, int part, boolean isOut) {
        long left = isOut ? call.result() : Long.MAX_VALUE;
        int count = piece.length() / 16;
        out.append('[');
        for (int i = 0; i < count; i++) {
            long length = piece.s64(i * 16 + 8);
            out.append(i == 0 ? "{iov_base=" : ", {iov_base=");
            Piece bytes = isOut ? call.out(index, part + i + 1) : call.in(index, part + i + 1);
            long meant = Math.min(length, left);
            if (meant == 0 && piece.s64(i * 16) != 0) {
                out.append("\"\"");
            } else if (bytes == null) {
                text.address(piece.s64(i * 16));
            } else {
                bytes(call, bytes, meant, call.style().hex());
            }
            left -= meant;
            out.append(", iov_len=").append(Long.toUnsignedString(length)).append('}');
        }
        out.append(']');
    }

    /** {@code [INT CHLD]}, {@code ~[RTMIN]}. */
    private boolean signals(@Nullable Piece piece) {
        if (piece == null) {
            return false;
        }
        long set = piece.s64(0);
        boolean most = Long.bitCount(set) >= 64 * 2 / 3;
        out.append(most ? "~[" : "[");
        boolean first = true;
        for (int signal = 1; signal <= 64; signal++) {
            if ((set >>> signal - 1 & 1) != 0 != most) {
                out.append(first ? "" : " ");
                String name = ArgumentText.signalName(signal).substring("SIG".length());
                out.named(Integer.toString(signal), () -> out.append(name));
                first = false;
            }
        }
        out.append(']');
        return true;
    }

    /** struct sigaction of the kernel: handler, flags, restorer, mask. */
    private void action(Piece piece) {
        long handler = piece.s64(0);
        long flags = piece.s64(8);
        out.append((flags & 4) != 0 && handler > 1 ? "{sa_handler=" : "{sa_handler=");
        if (handler == 0 || handler == 1) {
            String name = handler == 0 ? "SIG_DFL" : "SIG_IGN";
            out.named(handler == 0 ? "0" : "0x1", () -> out.append(name));
        } else {
            text.address(handler);
        }
        out.append(", sa_mask=");
        signals(piece.part(24, 8));
        out.append(", sa_flags=");
        ConstantSet.of("SA").appendFlags(out, flags, "");
        if ((flags & 0x4000000) != 0) {
            out.append(", sa_restorer=");
            text.address(piece.s64(16));
        }
        out.append('}');
    }

    private void maskPair(CallView call, int index, Piece piece) {
        out.append("{sigmask=");
        Piece set = call.in(index, 1);
        if (piece.s64(0) == 0 || set == null) {
            text.address(piece.s64(0));
        } else {
            signals(set);
        }
        out.append(", sigsetsize=").append(piece.s64(8)).append('}');
    }

    /** struct linux_dirent64: inode, offset, u16 length, u8 type, name. */
    private void entries(CallView call, int index, Piece piece) {
        int count = 0;
        int most = (int) Math.min(piece.length(), call.result());
        for (int at = 0; at + 19 <= most; count++) {
            int length = piece.u16(at + 16);
            if (length < 19) {
                break;
            }
            at += length;
        }
        address(call, index);
        out.append(" /* ").append(count).append(count == 1 ? " entry */" : " entries */");
    }

    private void descriptors(int highest, Piece piece) {
        out.append('[');
        boolean first = true;
        for (int fd = 0; fd < Math.min(highest, piece.length() * 8); fd++) {
            if ((piece.u8(fd / 8) >> fd % 8 & 1) != 0) {
                out.append(first ? "" : " ").append(fd);
                first = false;
            }
        }
        out.append(']');
    }

    private void cpus(Piece piece) {
        descriptors(piece.length() * 8, piece);
    }

    /** The status of wait4(2). */
    private boolean status(int status) {
        int signal = status & 0x7f;
        out.append("[{");
        if (signal == 0) {
            out.append("WIFEXITED(s) && WEXITSTATUS(s) == ").append(status >> 8 & 0xff);
        } else if (status == 0xffff) {
            out.append("WIFCONTINUED(s)");
        } else if (signal == 0x7f) {
            out.append("WIFSTOPPED(s) && WSTOPSIG(s) == ");
            text.signal(status >> 8 & 0xff);
        } else {
            out.append("WIFSIGNALED(s) && WTERMSIG(s) == ");
            text.signal(signal);
            out.append((status & 0x80) != 0 ? " && WCOREDUMP(s)" : "");
        }
        out.append("}]");
        return true;
    }

    /** struct clone_args, and behind it what the call made. */
    private void cloneArguments(Piece piece) {
        long flags = piece.s64(0);
        out.append("{flags=");
        ConstantSet.of("CLONE3").appendFlags(out, flags, "");
        String[] names = {"pidfd", "child_tid", "parent_tid"};
        long[] shown = {CLONE_PIDFD, CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID, 0x100000};
        for (int i = 0; i < 3; i++) {
            if ((flags & shown[i]) != 0) {
                out.append(", ").append(names[i]).append('=');
                text.address(piece.s64(8 + 8 * i));
            }
        }
        out.append(", exit_signal=");
        text.signal((int) piece.s64(32));
        out.append(", stack=");
        text.address(piece.s64(40));
        out.append(", stack_size=");
        appendHex(out, piece.s64(48));
        if ((flags & CLONE_SETTLS) != 0) {
            out.append(", tls=");
            text.address(piece.s64(56));
        }
        out.append('}');
    }

    /** What clone3 wrote into its arguments; empty for nothing. */
    String cloneResult(CallView call) {
        Piece piece = call.in(0, 0);
        boolean told = piece != null && (piece.s64(0) & CLONE_PARENT_SETTID) != 0;
        // The kernel stores the number that it returns (kernel_clone, kernel/fork.c).
        return told && !call.failed() ? " => {parent_tid=[" + call.result() + "]}" : "";
    }

    /** The arguments of clone that are known when it begins. */
    void cloneEntry(CallView call) {
        long flags = call.arguments()[0];
        out.append("child_stack=");
        text.address(call.arguments()[1]);
        out.append(", flags=");
        out.named(flags, () -> cloneFlags(flags));
    }

    private void cloneFlags(long flags) {
        int signal = (int) (flags & 0xff);
        int start = out.length();
        long rest = ConstantSet.of("CLONE").appendKnown(out, flags & 0xffffff00L, false);
        if (rest != 0) {
            out.append(out.length() == start ? "" : "|");
            appendHex(out, rest);
        }
        if (signal != 0 || out.length() == start) {
            out.append(out.length() == start ? "" : "|");
            out.append(signal == 0 ? "0" : ArgumentText.signalName(signal));
        }
    }

    /** And those that it writes. */
    void cloneExit(CallView call) {
        long flags = call.arguments()[0];
        if ((flags & (CLONE_PARENT_SETTID | CLONE_PIDFD)) != 0) {
            boolean told = !call.failed() && (flags & CLONE_PARENT_SETTID) != 0;
            out.append(", parent_tid=");
            if (told) {
                out.append('[').append(call.result()).append(']');
            } else {
                text.address(call.arguments()[2]);
            }
        }
        if ((flags & CLONE_SETTLS) != 0) {
            out.append(", tls=");
            text.address(call.arguments()[4]);
        }
        if ((flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) != 0) {
            out.append(", child_tidptr=");
            text.address(call.arguments()[3]);
        }
    }

    private void times(Piece piece) {
        out.append('[');
        for (int i = 0; i < 2; i++) {
            out.append(i == 0 ? "" : ", ");
            long nanos = piece.s64(16 * i + 8);
            if (nanos == 0x3fffffff || nanos == 0x3ffffffe) {
                String name = nanos == 0x3fffffff ? "UTIME_NOW" : "UTIME_OMIT";
                out.named(Long.toString(nanos), () -> out.append(name));
                continue;
            }
            long seconds = piece.s64(16 * i);
            out.append("{tv_sec=").append(seconds).append(", tv_nsec=").append(nanos).append('}');
            FileStatText.time(out, seconds, nanos);
        }
        out.append(']');
    }

    /** The time that is left is written only when a signal came. */
    private boolean remaining(CallView call, Piece piece) {
        if (call.result() != -516 && call.result() != -514 && call.result() != -4) {
            return false;
        }
        out.append("{tv_sec=").append(piece.s64(0));
        out.append(", tv_nsec=").append(piece.s64(8)).append('}');
        return true;
    }

    private void capabilities(CallView call, int index) {
        boolean reads = call.number() == CallTable.number("capset");
        Piece piece = reads ? call.in(index, 0) : call.failed() ? null : call.out(index, 0);
        if (piece == null || piece.length() < 24) {
            address(call, index);
            return;
        }
        String[] names = {"{effective=", ", permitted=", ", inheritable="};
        for (int i = 0; i < 3; i++) {
            long set = piece.s32(4 * i) & 0xffffffffL | (long) piece.s32(12 + 4 * i) << 32;
            out.append(names[i]);
            if (set == 0) {
                out.append('0');
            }
            boolean first = true;
            for (int bit = 0; bit < 64; bit++) {
                if ((set >>> bit & 1) != 0) {
                    out.append(first ? "" : "|").append("1<<");
                    ConstantSet.of("CAP").appendEnum(out, bit, 32);
                    first = false;
                }
            }
        }
        out.append('}');
    }

    /** What strace writes behind the result, in parentheses. */
    void remark(CallView call, ArgumentShape result) {
        if (result instanceof ConstantNumber named && !call.failed()) {
            if (named.zero().equals("of") && call.result() != 0) {
                out.append("flags ");
                if (named.set() == ConstantSet.of("O")) {
                    text.openFlags(call.result());
                } else {
                    named.set().appendFlags(out, call.result(), "");
                }
            }
        } else if (result instanceof PlainNumber(NumberForm form) && !call.failed()) {
            switch (form) {
                case POLLED -> polled(call);
                case SELECTED -> selected(call);
                case DUMPABLE -> ConstantSet.of("SUID_DUMP").appendEnum(out, call.result(), 32);
                case SCHEDPOLICY -> ConstantSet.of("SCHED").appendEnum(out, call.result(), 32);
                case SIG0 -> text.signal((int) call.result());
                default -> {}
            }
        }
    }

    private void polled(CallView call) {
        Piece piece = call.out(0, 0);
        if (call.result() == 0) {
            out.append("Timeout");
        } else if (piece != null) {
            boolean first = true;
            for (int at = 0; at + 8 <= piece.length(); at += 8) {
                if (piece.u16(at + 6) != 0) {
                    out.append(first ? "[{fd=" : ", {fd=");
                    text.descriptor(call, piece.s32(at));
                    out.append(", revents=");
                    ConstantSet.of("POLL").appendFlags(out, piece.u16(at + 6), "");
                    out.append('}');
                    first = false;
                }
            }
            out.append(first ? "" : "]");
            left(call, 2);
        }
    }

    private void selected(CallView call) {
        if (call.result() == 0) {
            out.append("Timeout");
            return;
        }
        String[] names = {"", "in ", "out ", "except "};
        int start = out.length();
        for (int i = 1; i < 4; i++) {
            Piece piece = call.arguments()[i] == 0 ? null : call.out(i, 0);
            if (piece != null) {
                int before = out.length();
                out.append(before == start ? "" : ", ").append(names[i]);
                int bracket = out.length();
                descriptors((int) call.arguments()[0], piece);
                if (out.length() == bracket + 2) {
                    out.setLength(before);
                }
            }
        }
        left(call, 4);
    }

    private void left(CallView call, int index) {
        Piece piece = call.arguments()[index] == 0 ? null : call.out(index, 0);
        if (piece != null && piece.length() >= 16) {
            boolean isTimeval = call.number() == CallTable.number("select");
            out.append(", left {tv_sec=").append(piece.s64(0));
            out.append(isTimeval ? ", tv_usec=" : ", tv_nsec=").append(piece.s64(8)).append('}');
        }
    }
}
