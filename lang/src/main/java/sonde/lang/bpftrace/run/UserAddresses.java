package sonde.lang.bpftrace.run;

import sonde.lang.bpftrace.lower.EventAction;
import sonde.lang.bpftrace.lower.EventAction.CatAction;
import sonde.lang.bpftrace.lower.EventAction.ExitAction;
import sonde.lang.bpftrace.lower.EventAction.FaultAction;
import sonde.lang.bpftrace.lower.EventAction.JoinAction;
import sonde.lang.bpftrace.lower.EventAction.PacketAction;
import sonde.lang.bpftrace.lower.EventAction.PatternAction;
import sonde.lang.bpftrace.lower.EventAction.PrintAction;
import sonde.lang.bpftrace.lower.EventAction.PutAction;
import sonde.lang.bpftrace.lower.EventAction.ReportAction;
import sonde.lang.bpftrace.lower.EventAction.SystemAction;
import sonde.lang.bpftrace.lower.EventAction.TimeAction;
import sonde.lang.bpftrace.lower.EventAction.UnwatchAction;
import sonde.lang.bpftrace.lower.ScriptUnit;
import sonde.lang.type.CompositeType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.ArrayType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.StackType;

/** Finds out whether a script can print addresses of processes as names. */
final class UserAddresses {
    private UserAddresses() {}

    /** Whether a value that is printed, or one of a map, holds such an address. */
    static boolean isPrinted(ScriptUnit unit) {
        return unit.actions().stream().anyMatch(UserAddresses::in)
                || unit.maps().values().stream().anyMatch(map -> in(map.key()) || in(map.value()));
    }

    private static boolean in(EventAction action) {
        return switch (action) {
            case PrintAction a -> in(a.arguments());
            case EventAction.PrintValue a -> in(a.type());
            case CatAction a -> in(a.arguments());
            case SystemAction a -> in(a.arguments());
            case ReportAction a -> in(a.arguments());
            case EventAction.PrintMap _,
                    EventAction.EmptyMap _,
                    ExitAction _,
                    TimeAction _,
                    JoinAction _,
                    EventAction.HelperError _,
                    UnwatchAction _,
                    PatternAction _,
                    PacketAction _,
                    PutAction _,
                    FaultAction _ ->
                    false;
        };
    }

    private static boolean in(ValueType type) {
        return switch (type) {
            case StackType s ->
                    s.user()
                            && (s.copied()
                                    || s.mode() == ValueType.StackMode.BPFTRACE
                                    || s.mode() == ValueType.StackMode.PERF);
            case SpecialType n -> n.kind() == SpecialValue.USER_SYMBOL;
            case ArrayType a -> in(a.element());
            case CompositeType c -> c.fields().stream().anyMatch(field -> in(field.type()));
            default -> false;
        };
    }
}
