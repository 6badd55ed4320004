package sonde.lang.bpftrace.run;

import sonde.lang.bpftrace.lower.Action;
import sonde.lang.bpftrace.lower.Unit;
import sonde.lang.type.Composite;
import sonde.lang.type.Type;

/** Finds out whether a script can print addresses of processes as names. */
final class UserAddresses {
    private UserAddresses() {}

    /** Whether a value that is printed, or one of a map, holds such an address. */
    static boolean isPrinted(Unit unit) {
        return unit.actions().stream().anyMatch(UserAddresses::in)
                || unit.maps().values().stream().anyMatch(map -> in(map.key()) || in(map.value()));
    }

    private static boolean in(Action action) {
        return switch (action) {
            case Action.Print a -> in(a.arguments());
            case Action.PrintValue a -> in(a.type());
            case Action.Cat a -> in(a.arguments());
            case Action.System a -> in(a.arguments());
            case Action.Report a -> in(a.arguments());
            case Action.PrintMap _,
                    Action.EmptyMap _,
                    Action.Exit _,
                    Action.Time _,
                    Action.Join _,
                    Action.HelperError _,
                    Action.Unwatch _,
                    Action.Pattern _,
                    Action.Packet _,
                    Action.Put _,
                    Action.Fault _ ->
                    false;
        };
    }

    private static boolean in(Type type) {
        return switch (type) {
            case Type.Stack s ->
                    s.user()
                            && (s.copied()
                                    || s.mode() == Type.StackMode.BPFTRACE
                                    || s.mode() == Type.StackMode.PERF);
            case Type.Named n -> n.kind() == Type.Special.USER_SYMBOL;
            case Type.Array a -> in(a.element());
            case Composite c -> c.fields().stream().anyMatch(field -> in(field.type()));
            default -> false;
        };
    }
}
