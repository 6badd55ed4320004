package sonde.tools.report;

import java.util.List;
import java.util.stream.Stream;
import sonde.analysis.sched.OffCpu.OffCpuCause;
import sonde.event.result.Frame;

/** Names why threads were off the CPU, the same way in tables, trees and flame graphs. */
public final class OffCpuCauses {
    private OffCpuCauses() {}

    /**
     * "sleeping in read", "waiting for CPU". Of a call that was entered before the recording or
     * outside it the stack tells the name, or the kernel's function.
     */
    public static String text(ReportOperators found, OffCpuCause cause) {
        String state = cause.state().label();
        return switch (cause.state()) {
            case SLEEPING, BLOCKED, STOPPED -> {
                String call = callName(found, cause);
                String place = call.isEmpty() ? found.trees().waitsIn(cause.stack()) : call;
                yield place.isEmpty() ? state + ", not recorded in what" : state + " in " + place;
            }
            case RUNNING, WAITING, PREEMPTED, UNKNOWN -> state;
        };
    }

    /** The system call that the thread waited in, empty when none is known. */
    public static String callName(ReportOperators found, OffCpuCause cause) {
        return cause.call() >= 0
                ? found.callNames().nameOf(cause.call())
                : found.trees().callOf(cause.stack());
    }

    /** The frames below the chain at the switch-out: the cause and who ended it. */
    public static List<Frame> frames(ReportOperators found, OffCpuCause cause) {
        Stream<String> words = Stream.of("[" + text(found, cause) + "]");
        if (cause.waker() >= 0) {
            String waker = "[woken by " + found.wakerName(cause.waker()) + "]";
            words = Stream.concat(words, Stream.of(waker));
        }
        return words.map(Frame::label).toList();
    }
}
