package sonde.tools.report.section;

import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.analysis.file.ObjectWaits.ObjectWait;
import sonde.event.result.Frame;
import sonde.tools.report.ReportOperators;

/** Names what threads wait for, the same way in all tables. */
final class WaitText {
    /** Frames of the base libraries say nothing of a program. */
    private static final Pattern BASE_LIBRARY =
            Pattern.compile(
                    "(ld|libc|libpthread|libm|librt|libstdc\\+\\+|libgcc_s)[-.].*|\\[vdso]");

    private WaitText() {}

    /** "lock 0x55d7 held by refresher 1234 (in refresh_cache → usleep)". */
    static String of(ReportOperators found, ObjectWait wait) {
        if (wait.holder() < 0 || !wait.object().startsWith("lock ")) {
            return found.variable(wait.thread(), wait.object());
        }
        String doing = function(found, wait.holderStack());
        if (doing == null) {
            doing = wait.holderCall() < 0 ? null : found.callNames().nameOf(wait.holderCall());
        }
        return held(
                found.variable(wait.thread(), wait.object()),
                found.threadName(wait.holder()),
                doing);
    }

    /** With the holder, and what it does where that is known. */
    static String held(String object, String holder, @Nullable String doing) {
        return object + " held by " + holder + (doing == null ? "" : " (in " + doing + ")");
    }

    /**
     * Where the program is: its innermost function and the base library's that it calls, "main →
     * accept"; null without a stack.
     */
    static @Nullable String function(ReportOperators found, int node) {
        String base = "";
        for (Frame frame : node < 0 ? List.<Frame>of() : found.trees().chain(node).reversed()) {
            if (frame.kind() == Frame.Kind.KERNEL || frame.kind() == Frame.Kind.LABEL) {
                continue;
            }
            if (!BASE_LIBRARY.matcher(frame.module()).matches()) {
                return frame.shown() + (base.isEmpty() ? "" : " → " + base);
            }
            base = frame.name().startsWith("[") ? base : frame.name();
        }
        return base.isEmpty() ? null : base;
    }
}
