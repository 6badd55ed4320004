package sonde.recording.syscall;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.recording.syscall.ArgumentShape.ConstantNumber;
import sonde.recording.syscall.ArgumentShape.NumberForm;
import sonde.recording.syscall.ArgumentShape.PlainNumber;
import sonde.recording.syscall.CallShape.CallArgument;
import sonde.recording.syscall.CallShape.ShownWhen;
import sonde.sys.Errno;

/**
 * A call's text in the two parts in which strace writes it: what is known when it begins, and the
 * rest.
 */
public final class CallText {
    private static final int O_CREAT = 0100;
    private static final int O_TMPFILE = 020000000;
    private static final int MREMAP_FIXED = 2;
    private static final int ERESTARTSYS = 512;
    private static final int CLONE3 = CallTable.number("clone3");

    private final CallTable table;
    private final CallStyle style;
    private final CallOut out;
    private final SpecialText special;
    private final ArgumentText text;
    private final @Nullable CallerComms threads;

    /** By that table. */
    public CallText(CallTable table, CallStyle style) {
        this.table = table;
        this.style = style;
        out = new CallOut(style.constants());
        threads = style.descriptors().names() ? new CallerComms() : null;
        text = new ArgumentText(out, threads);
        special = new SpecialText(out, text);
    }

    /** Calls that must be captured when names of threads are wanted. */
    public static int[] namingCalls() {
        return Arrays.stream(CallerComms.CALLS).mapToInt(CallTable::number).toArray();
    }

    /** Looks at a record, whether or not it is shown. */
    void see(CallRecord record) {
        if (threads != null) {
            threads.see(record);
        }
    }

    /** The number of a thread, with its name where names are wanted. */
    String thread(int tid) {
        out.setLength(0);
        text.process(tid);
        return out.toString();
    }

    /** The name and the arguments that are known when the call begins. */
    public String begin(CallRecord entry) {
        return begin(CallView.of(style, entry, null));
    }

    /** As {@link #begin}, with what was read at the end because it was missing at the begin. */
    String begin(@Nullable CallRecord entry, CallRecord exit) {
        return begin(CallView.of(style, entry, exit));
    }

    private String begin(CallView call) {
        out.setLength(0);
        out.append(CallTable.name(call.number())).append('(');
        CallShape shape = table.shape(call.number(), call.arguments());
        if (shape == null || call.raw()) {
            numbers(call, shape);
        } else if (isClone(shape)) {
            special.cloneEntry(call);
        } else {
            arguments(call, shape, false);
        }
        return out.toString();
    }

    /** Whether a line is complete except for its result when the call begins. */
    public boolean isWholeAtBegin(CallRecord entry) {
        CallView call = CallView.of(style, entry, null);
        CallShape shape = table.shape(call.number(), call.arguments());
        return shape == null
                || call.raw()
                || shape.number() != CLONE3
                        && !isClone(shape)
                        && shape.arguments().stream().noneMatch(CallArgument::isOut);
    }

    /** The arguments that are known when the call has ended. */
    public String rest(@Nullable CallRecord entry, CallRecord exit) {
        CallView call = CallView.of(style, entry, exit);
        out.setLength(0);
        CallShape shape = table.shape(call.number(), call.arguments());
        if (call.raw()) {
            return "";
        } else if (shape != null && isClone(shape)) {
            special.cloneExit(call);
        } else if (shape != null && shape.number() == CLONE3) {
            out.append(special.cloneResult(call)).append(", ").append(call.arguments()[1]);
        } else if (shape != null) {
            arguments(call, shape, true);
        }
        return out.toString();
    }

    /** Whether one of the descriptors is an argument; true where any call is wanted. */
    boolean uses(CallRecord call, @Nullable BitSet descriptors) {
        if (descriptors == null) {
            return true;
        }
        CallShape shape = table.shape(call.number(), CallView.of(style, call, null).arguments());
        for (int i = 0; shape != null && i < shape.arguments().size(); i++) {
            long value = call.argument(i);
            if (CallTable.isDescriptor(shape.arguments().get(i).shape())
                    && (int) value >= 0
                    && descriptors.get((int) value)) {
                return true;
            }
        }
        return false;
    }

    /** Whether one of the paths is an argument, or behind a descriptor of the call. */
    boolean touches(@Nullable CallRecord entry, @Nullable CallRecord exit, Set<String> paths) {
        if (paths.isEmpty()) {
            return true;
        }
        CallView call = CallView.of(style, entry, exit);
        CallShape shape = table.shape(call.number(), call.arguments());
        int count = shape == null ? 0 : Math.min(6, shape.arguments().size());
        boolean found = isOneOf(paths, call.file(CaptureOp.RESULT));
        for (int i = 0; shape != null && i < count && !found; i++) {
            ArgumentShape argument = shape.arguments().get(i).shape();
            if (CallTable.isDescriptor(argument)) {
                found = isOneOf(paths, call.file(i));
            } else if (CallTable.isPath(argument)) {
                CallView.Piece piece = call.in(i, 0);
                found = piece != null && paths.contains(piece.string(0, piece.length()));
            }
            for (int j = 0; j < CaptureOp.PARTS && !found; j++) {
                CallView.Piece file = call.file(i, (long) j);
                found = isOneOf(paths, file);
            }
        }
        return found;
    }

    private static boolean isOneOf(Set<String> paths, CallView.@Nullable Piece file) {
        return file != null && paths.contains(DescriptorText.path(file));
    }

    /** Appends the data that a call read or wrote, where their descriptor is one of those asked. */
    void dump(StringBuilder to, @Nullable CallRecord entry, CallRecord exit) {
        CallView call = CallView.of(style, entry, exit);
        CallShape shape = table.shape(call.number(), call.arguments());
        int fd = (int) call.arguments()[0];
        if (shape == null || fd < 0 || call.failed() || call.result() == 0) {
            return;
        }
        for (int i = 0; i < shape.arguments().size(); i++) {
            if (shape.arguments().get(i).shape() instanceof ArgumentShape.PointerTo pointer
                    && (pointer.out() ? style.dumpRead() : style.dumpWrite()).get(fd)) {
                HexDump.append(to, call, i, pointer);
            }
        }
    }

    private static boolean isClone(CallShape shape) {
        return !shape.arguments().isEmpty()
                && shape.arguments().getFirst().shape() instanceof PlainNumber(NumberForm form)
                && form == NumberForm.CLONE;
    }

    private void numbers(CallView call, @Nullable CallShape chosen) {
        CallShape shape = chosen == null ? null : table.shape(chosen.number());
        int count = shape == null ? 6 : isClone(shape) ? 5 : shape.mostArguments();
        for (int i = 0; i < Math.min(6, count); i++) {
            out.append(i == 0 ? "" : ", ");
            ConstantSet.appendHex(out, call.arguments()[i]);
        }
    }

    /** Those before the first that the kernel writes, or that one and all behind it. */
    private void arguments(CallView call, CallShape shape, boolean atEnd) {
        boolean isRest = false;
        boolean first = true;
        for (int i = 0; i < shape.arguments().size() && i < 6; i++) {
            CallArgument argument = shape.arguments().get(i);
            if (argument.isOut() && !isRest) {
                isRest = true;
                if (!atEnd) {
                    out.append(first ? "" : ", ");
                    return;
                }
                first = true;
            }
            boolean early = shape.number() == CLONE3 && i == 1;
            if (isRest != atEnd || !isShown(call, argument, i) || early) {
                continue;
            }
            out.append(first ? "" : ", ");
            first = false;
            if (style.argumentNames()) {
                out.append(argument.name()).append('=');
            }
            text.append(call, i, argument.shape());
        }
    }

    private static boolean isShown(CallView call, CallArgument argument, int index) {
        if (argument.when() == ShownWhen.ALWAYS) {
            return !(argument.shape() instanceof PlainNumber(NumberForm form))
                    || form != NumberForm.NONE;
        }
        long before = call.arguments()[index - 1];
        return switch (argument.when()) {
            case CREAT -> (before & O_CREAT) != 0 || (before & O_TMPFILE) != 0;
            case CREATE -> (call.arguments()[index - 2] & O_CREAT) != 0;
            case FIXED -> (before & MREMAP_FIXED) != 0;
            case DEVICE -> (before & 0170000) == 0020000 || (before & 0170000) == 0060000;
            case ALWAYS -> true;
        };
    }

    /** The name of an argument, and its text. */
    record ArgumentWords(String name, String text) {}

    /** The arguments one by one; those of an unknown call have no names. */
    List<ArgumentWords> arguments(@Nullable CallRecord entry, @Nullable CallRecord exit) {
        CallView call = CallView.of(style, entry, exit);
        CallShape shape = table.shape(call.number(), call.arguments());
        List<ArgumentWords> words = new ArrayList<>();
        if (shape == null || isClone(shape)) {
            for (int i = 0; i < 6; i++) {
                words.add(
                        new ArgumentWords("arg" + i, "0x" + Long.toHexString(call.arguments()[i])));
            }
            return words;
        }
        for (int i = 0; i < shape.arguments().size() && i < 6; i++) {
            CallArgument argument = shape.arguments().get(i);
            if (isShown(call, argument, i)) {
                out.setLength(0);
                text.append(call, i, argument.shape());
                words.add(new ArgumentWords(argument.name(), out.toString()));
            }
        }
        return words;
    }

    /** What stands behind the equals sign. */
    String result(@Nullable CallRecord entry, CallRecord exit) {
        CallView call = CallView.of(style, entry, exit);
        out.setLength(0);
        long result = exit.result();
        CallShape shape = table.shape(call.number(), call.arguments());
        ArgumentShape form = shape == null ? null : shape.result();
        if (CallView.isError(result)) {
            int errno = (int) -result;
            if (errno >= ERESTARTSYS && errno <= 516 && errno != 515) {
                out.append("? ").append(Errno.name(errno)).append(restart(errno));
            } else {
                out.append("-1 ");
                out.append(Errno.describe(errno));
            }
            return out.toString();
        } else if (call.raw()) {
            ConstantSet.appendHex(out, result);
            return out.toString();
        }
        switch (form) {
            case PlainNumber(NumberForm number)
                    when number == NumberForm.P || number == NumberForm.HEX -> {
                out.append(result == 0 ? "" : "0x").append(Long.toHexString(result));
            }
            case PlainNumber(NumberForm number) when number == NumberForm.FD ->
                    text.result(call, (int) result);
            case PlainNumber(NumberForm number) when number == NumberForm.PID ->
                    text.process((int) result);
            case PlainNumber(NumberForm number) when number == NumberForm.OCTAL ->
                    text.number(call, NumberForm.PERM, result);
            case ConstantNumber named when named.zero().equals("enum") -> out.append(result);
            case ConstantNumber _ -> ConstantSet.appendHex(out, result);
            case null, default -> out.append(result);
        }
        if (form != null) {
            String remark = text.remark(call, form);
            out.append(remark == null ? "" : " (" + remark + ")");
        }
        return out.toString();
    }

    private static String restart(int errno) {
        return switch (errno) {
            case 512 -> " (To be restarted if SA_RESTART is set)";
            case 513 -> " (To be restarted)";
            case 514 -> " (To be restarted if no handler)";
            default -> " (Interrupted by signal)";
        };
    }

    /** {@code SIGCHLD {si_signo=SIGCHLD, ...}}. */
    public String signal(CallRecord signal) {
        out.setLength(0);
        text.signal((int) signal.number());
        CallView.Piece info = CallView.of(style, signal, null).in(0, 0);
        out.append(' ');
        if (info != null && info.length() >= SignalText.BYTES) {
            SignalText.append(out, text, info);
        } else {
            out.append("{si_signo=");
            text.signal((int) signal.number());
            out.append(", si_code=SI_KERNEL}");
        }
        return out.toString();
    }

    /** {@code exited with 0}, {@code killed by SIGSEGV (core dumped)}. */
    public String end(CallRecord end) {
        int status = (int) end.number();
        out.setLength(0);
        if ((status & 0x7f) == 0) {
            out.append("exited with ").append(status >> 8 & 0xff);
        } else {
            out.append("killed by ");
            text.signal(status & 0x7f);
            out.append((status & 0x80) != 0 ? " (core dumped)" : "");
        }
        return out.toString();
    }
}
