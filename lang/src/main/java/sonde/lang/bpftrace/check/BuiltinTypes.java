package sonde.lang.bpftrace.check;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression.BareName;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.source.SourceSpan;
import sonde.lang.type.CompositeType;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.BoolType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.PointerSpace;
import sonde.lang.type.ValueType.PointerType;
import sonde.lang.type.ValueType.SpecialType;
import sonde.lang.type.ValueType.SpecialValue;
import sonde.lang.type.ValueType.StackType;
import sonde.lang.type.ValueType.TextType;
import sonde.lang.type.ValueType.VoidType;

/** What the words without arguments are. */
final class BuiltinTypes {
    private static final Set<String> NAMES =
            Set.of(
                    """
                    pid tid uid gid nsecs elapsed cpu ncpus numaid rand comm curtask \
                    cgroup func probe probetype args retval ctx kstack ustack \
                    username jiffies cpid usermode has_cpid ppid pcomm leader_tid \
                    leader_comm dw_ustack\
                    """
                            .split(" "));

    private BuiltinTypes() {}

    /** All words, without {@code arg0} and so on. */
    static Set<String> names() {
        return NAMES;
    }

    static boolean isBuiltin(String name) {
        return NAMES.contains(name) || argument(name) >= 0;
    }

    /** 3 for "arg3"; -1 for what is none. */
    static int argument(String name) {
        if (!name.startsWith("arg") || name.length() < 4 || name.length() > 5) {
            return -1;
        }
        for (int i = 3; i < name.length(); i++) {
            if (!Character.isDigit(name.charAt(i))) {
                return -1;
            }
        }
        return Integer.parseInt(name.substring(3));
    }

    static @Nullable ValueType of(BareName e, ClauseTyper typer) {
        String name = e.name();
        return switch (name) {
            case "pid", "tid", "ppid", "leader_tid" -> IntType.U32;
            case "uid", "gid", "nsecs", "elapsed", "cpu", "ncpus", "cgroup", "cpid", "jiffies" ->
                    IntType.U64;
            case "numaid", "rand" -> IntType.U32;
            case "usermode" -> IntType.U8;
            case "has_cpid" -> new BoolType();
            case "comm", "pcomm", "leader_comm" -> new TextType(16);
            case "username" -> new SpecialType(SpecialValue.USERNAME);
            case "curtask" -> currentTask(typer);
            case "kstack" -> new StackType(false, kernelMode(typer), 127);
            case "dw_ustack" ->
                    CallTypes.copied(
                            e.span(), typer, typer.globals().environment().stackMode(), 127);
            case "ustack" -> new StackType(true, typer.globals().environment().stackMode(), 127);
            case "probe" -> {
                yield new TextType(typer.site().name().length() + 1);
            }
            case "probetype" -> new TextType(typer.site().family().length() + 1);
            case "func" -> function(e.span(), typer);
            case "args" -> arguments(e.span(), typer);
            case "retval" -> result(e.span(), typer);
            case "ctx" -> context(typer);
            default -> argument(name) >= 0 ? argument(e, typer) : null;
        };
    }

    private static ValueType.StackMode kernelMode(ClauseTyper typer) {
        ValueType.StackMode mode = typer.globals().environment().stackMode();
        return mode == ValueType.StackMode.BUILD_ID ? ValueType.StackMode.RAW : mode;
    }

    private static ValueType currentTask(ClauseTyper typer) {
        ValueType task = typer.globals().environment().type(TypeSyntax.Kind.STRUCT, "task_struct");
        return task == null ? IntType.U64 : new PointerType(task, PointerSpace.TYPED);
    }

    private static @Nullable ValueType function(SourceSpan span, ClauseTyper typer) {
        Kind kind = typer.site().kind();
        return switch (kind) {
            case UPROBE, URETPROBE -> new SpecialType(SpecialValue.USER_SYMBOL);
            case KPROBE, KRETPROBE, FENTRY, FEXIT -> new SpecialType(SpecialValue.KERNEL_SYMBOL);
            default ->
                    typer.globals()
                            .error(
                                    span,
                                    "The func builtin can not be used with '"
                                            + kind.longName()
                                            + "' probes");
        };
    }

    private static final String WITHOUT_DWARF =
            "arg0, arg1, … are its arguments by register; for names, compile with -g or install"
                    + " the debug package";

    private static @Nullable ValueType arguments(SourceSpan span, ClauseTyper typer) {
        CompositeType arguments = typer.site().arguments();
        if (arguments != null) {
            return arguments;
        }
        String why = typer.site().why();
        return typer.globals()
                .error(
                        span,
                        why.isEmpty()
                                ? "The args builtin can only be used with"
                                        + " tracepoint/fentry/uprobe probes ("
                                        + typer.site().kind().longName()
                                        + " used here)"
                                : why,
                        why.contains("No DWARF found") ? WITHOUT_DWARF : "");
    }

    private static @Nullable ValueType result(SourceSpan span, ClauseTyper typer) {
        Kind kind = typer.site().kind();
        if (kind == Kind.FEXIT && typer.site().result() != null) {
            return typer.site().result();
        }
        if (kind == Kind.KRETPROBE || kind == Kind.URETPROBE) {
            ValueType known = typer.site().result();
            return known == null ? IntType.U64 : known;
        }
        return typer.globals()
                .error(
                        span,
                        kind == Kind.FEXIT
                                ? "Can't find a field $retval"
                                : "The retval builtin can only be used with"
                                        + " 'kretprobe' and 'uretprobe' and 'fexit' probes"
                                        + (kind == Kind.TRACEPOINT
                                                        && typer.site().name().contains("sys_exit_")
                                                ? ". Try to use args.ret instead."
                                                : ""));
    }

    private static ValueType context(ClauseTyper typer) {
        ProbeSite site = typer.site();
        String name =
                site.hasRegisters() ? "pt_regs" : site.isPerfEvent() ? "bpf_perf_event_data" : "";
        if (site.kind() == Kind.ITER && site.arguments() != null) {
            return new PointerType(site.arguments(), PointerSpace.OWN);
        }
        ValueType to =
                name.isEmpty()
                        ? null
                        : typer.globals().environment().type(TypeSyntax.Kind.STRUCT, name);
        return new PointerType(to == null ? new VoidType() : to, PointerSpace.OWN);
    }

    private static @Nullable ValueType argument(BareName e, ClauseTyper typer) {
        Kind kind = typer.site().kind();
        return switch (kind) {
            case KPROBE, UPROBE, USDT, RAWTRACEPOINT, FENTRY -> IntType.U64;
            default ->
                    typer.globals()
                            .error(
                                    e.span(),
                                    "The "
                                            + e.name()
                                            + " builtin can only be used with"
                                            + " 'kprobes', 'uprobes' and 'usdt' probes");
        };
    }
}
