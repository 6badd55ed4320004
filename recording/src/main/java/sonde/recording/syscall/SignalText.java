package sonde.recording.syscall;

import sonde.recording.syscall.CallView.Piece;

/** struct siginfo. */
final class SignalText {
    /** Bytes of it that are captured. */
    static final int BYTES = 48;

    private static final int SIGILL = 4;
    private static final int SIGTRAP = 5;
    private static final int SIGBUS = 7;
    private static final int SIGFPE = 8;
    private static final int SIGSEGV = 11;
    private static final int SIGCHLD = 17;
    private static final int SIGIO = 29;
    private static final int SIGSYS = 31;
    private static final int SI_USER = 0;
    private static final int SI_KERNEL = 0x80;
    private static final int SI_TIMER = -2;
    private static final int SI_TKILL = -6;

    private SignalText() {}

    /** {@code {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=5, ...}}. */
    static void append(CallOut out, ArgumentText text, Piece info) {
        int signal = info.s32(0);
        int error = info.s32(4);
        int code = info.s32(8);
        out.append("{si_signo=");
        text.signal(signal);
        out.append(", si_code=");
        code(out, signal, code);
        if (error != 0) {
            out.append(", si_errno=").append(error);
        }
        fields(out, text, info, signal, code);
        out.append('}');
    }

    private static void fields(CallOut out, ArgumentText text, Piece info, int signal, int code) {
        boolean faults =
                signal == SIGILL
                        || signal == SIGFPE
                        || signal == SIGSEGV
                        || signal == SIGBUS
                        || signal == SIGTRAP;
        if (code == SI_KERNEL) {
            return;
        } else if (code == SI_USER || code == SI_TKILL) {
            sender(out, text, info);
        } else if (code == SI_TIMER) {
            out.append(", si_timerid=").append(info.s32(16));
            out.append(", si_overrun=").append(info.s32(20));
            value(out, text, info, 24);
        } else if (code < 0) {
            sender(out, text, info);
            value(out, text, info, 24);
        } else if (signal == SIGCHLD) {
            sender(out, text, info);
            out.append(", si_status=");
            if (code == 1) {
                out.append(info.s32(24));
            } else {
                text.signal(info.s32(24));
            }
            ticks(out.append(", si_utime="), info.s64(32));
            ticks(out.append(", si_stime="), info.s64(40));
        } else if (faults) {
            out.append(", si_addr=");
            text.address(info.s64(16));
        } else if (signal == SIGIO) {
            out.append(", si_band=").append(info.s64(16));
            out.append(", si_fd=").append(info.s32(24));
        } else if (signal == SIGSYS) {
            out.append(", si_call_addr=");
            text.address(info.s64(16));
            out.append(", si_syscall=__NR_").append(CallTable.name(info.s32(24)));
            out.append(", si_arch=");
            out.append(info.s32(28) == 0xc000003e ? "AUDIT_ARCH_X86_64" : "0x");
            out.append(info.s32(28) == 0xc000003e ? "" : Integer.toHexString(info.s32(28)));
        } else {
            sender(out, text, info);
        }
    }

    /** Clock ticks: USER_HZ is 100 everywhere but on alpha. */
    private static void ticks(CallOut out, long ticks) {
        out.append(ticks);
        if (ticks > 0) {
            out.append(" /* ").append(ticks / 100).append(ticks % 100 < 10 ? ".0" : ".");
            out.append(ticks % 100).append(" s */");
        }
    }

    private static void sender(CallOut out, ArgumentText text, Piece info) {
        out.append(", si_pid=");
        text.process(info.s32(16));
        out.append(", si_uid=").append(info.s32(20) & 0xffffffffL);
    }

    private static void value(CallOut out, ArgumentText text, Piece info, int at) {
        out.append(", si_int=").append(info.s32(at)).append(", si_ptr=");
        text.address(info.s64(at));
    }

    private static void code(CallOut out, int signal, int code) {
        String set =
                switch (signal) {
                    case SIGCHLD -> "CLD";
                    case SIGSEGV -> "SEGV";
                    case SIGBUS -> "BUS";
                    case SIGFPE -> "FPE";
                    case SIGILL -> "ILL";
                    case SIGTRAP -> "TRAP";
                    case SIGIO -> "POLL_SI";
                    case SIGSYS -> "SYS_SI";
                    default -> "SI";
                };
        boolean common = code <= SI_USER || code == SI_KERNEL;
        if (!ConstantSet.of(common ? "SI" : set).appendName(out, code, 32)) {
            out.append(code);
        }
    }
}
