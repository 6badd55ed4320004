package sonde.recording.syscall;

import java.util.ArrayList;
import java.util.List;
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
    private final StringBuilder out = new StringBuilder();
    private final SpecialText special;
    private final ArgumentText text;

    /** By that table. */
    public CallText(CallTable table, CallStyle style) {
        this.table = table;
        this.style = style;
        text = new ArgumentText(out);
        special = new SpecialText(out, text);
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
        if (shape == null) {
            unknown(call);
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
                || shape.number() != CLONE3
                        && !isClone(shape)
                        && shape.arguments().stream().noneMatch(CallArgument::isOut);
    }

    /** The arguments that are known when the call has ended. */
    public String rest(@Nullable CallRecord entry, CallRecord exit) {
        CallView call = CallView.of(style, entry, exit);
        out.setLength(0);
        CallShape shape = table.shape(call.number(), call.arguments());
        if (shape != null && isClone(shape)) {
            special.cloneExit(call);
        } else if (shape != null && shape.number() == CLONE3) {
            out.append(special.cloneResult(call)).append(", ").append(call.arguments()[1]);
        } else if (shape != null) {
            arguments(call, shape, true);
        }
        return out.toString();
    }

    private static boolean isClone(CallShape shape) {
        return !shape.arguments().isEmpty()
                && shape.arguments().getFirst().shape() instanceof PlainNumber(NumberForm form)
                && form == NumberForm.CLONE;
    }

    private void unknown(CallView call) {
        for (int i = 0; i < 6; i++) {
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
                out.append("-1 ").append(Errno.describe(errno));
            }
            return out.toString();
        }
        switch (form) {
            case PlainNumber(NumberForm number)
                    when number == NumberForm.P || number == NumberForm.HEX -> {
                out.append(result == 0 ? "" : "0x").append(Long.toHexString(result));
            }
            case PlainNumber(NumberForm number) when number == NumberForm.FD ->
                    text.descriptor(call, (int) result);
            case PlainNumber(NumberForm number) when number == NumberForm.OCTAL ->
                    text.number(call, NumberForm.PERM, result);
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
            SignalText.append(out, info);
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
