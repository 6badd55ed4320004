package sonde.lang.bpftrace.check;

import java.util.Set;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.TypeSyntax;
import sonde.lang.probes.AttachPoint.Kind;
import sonde.lang.source.Span;
import sonde.lang.type.Composite;
import sonde.lang.type.Type;
import sonde.lang.type.Type.Int;
import sonde.lang.type.Type.Space;
import sonde.lang.type.Type.Special;

/** What the words without arguments are. */
final class BuiltinTypes {
    private static final Set<String> NAMES =
            Set.of(
                    "pid",
                    "tid",
                    "uid",
                    "gid",
                    "nsecs",
                    "elapsed",
                    "cpu",
                    "ncpus",
                    "numaid",
                    "rand",
                    "comm",
                    "curtask",
                    "cgroup",
                    "func",
                    "probe",
                    "probetype",
                    "args",
                    "retval",
                    "ctx",
                    "kstack",
                    "ustack",
                    "username",
                    "jiffies",
                    "cpid",
                    "usermode",
                    "has_cpid",
                    "ppid",
                    "pcomm",
                    "leader_tid",
                    "leader_comm",
                    "dw_ustack");

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

    static @Nullable Type of(Expression.Name e, Typer typer) {
        String name = e.name();
        return switch (name) {
            case "pid", "tid", "ppid", "leader_tid" -> Int.U32;
            case "uid", "gid", "nsecs", "elapsed", "cpu", "ncpus", "cgroup", "cpid", "jiffies" ->
                    Int.U64;
            case "numaid", "rand" -> Int.U32;
            case "usermode" -> Int.U8;
            case "has_cpid" -> new Type.Bool();
            case "comm", "pcomm", "leader_comm" -> new Type.Text(16);
            case "username" -> new Type.Named(Special.USERNAME);
            case "curtask" -> currentTask(typer);
            case "kstack" -> new Type.Stack(false, kernelMode(typer), 127);
            case "dw_ustack" ->
                    CallTypes.copied(
                            e.span(), typer, typer.globals().environment().stackMode(), 127);
            case "ustack" -> new Type.Stack(true, typer.globals().environment().stackMode(), 127);
            case "probe" -> {
                typer.clause().markProbe();
                yield new Type.Text(typer.site().name().length() + 1);
            }
            case "probetype" -> new Type.Text(typer.site().family().length() + 1);
            case "func" -> function(e.span(), typer);
            case "args" -> arguments(e.span(), typer);
            case "retval" -> result(e.span(), typer);
            case "ctx" -> context(typer);
            default -> argument(name) >= 0 ? argument(e, typer) : null;
        };
    }

    private static Type.StackMode kernelMode(Typer typer) {
        Type.StackMode mode = typer.globals().environment().stackMode();
        return mode == Type.StackMode.BUILD_ID ? Type.StackMode.RAW : mode;
    }

    private static Type currentTask(Typer typer) {
        Type task = typer.globals().environment().type(TypeSyntax.Kind.STRUCT, "task_struct");
        return task == null ? Int.U64 : new Type.Pointer(task, Space.TYPED);
    }

    private static @Nullable Type function(Span span, Typer typer) {
        Kind kind = typer.site().kind();
        return switch (kind) {
            case UPROBE, URETPROBE -> new Type.Named(Special.USER_SYMBOL);
            case KPROBE, KRETPROBE, FENTRY, FEXIT -> new Type.Named(Special.KERNEL_SYMBOL);
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

    private static @Nullable Type arguments(Span span, Typer typer) {
        Composite arguments = typer.site().arguments();
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

    private static @Nullable Type result(Span span, Typer typer) {
        Kind kind = typer.site().kind();
        if (kind == Kind.FEXIT && typer.site().result() != null) {
            return typer.site().result();
        }
        if (kind == Kind.KRETPROBE || kind == Kind.URETPROBE) {
            Type known = typer.site().result();
            return known == null ? Int.U64 : known;
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

    private static Type context(Typer typer) {
        Site site = typer.site();
        String name =
                site.hasRegisters() ? "pt_regs" : site.isPerfEvent() ? "bpf_perf_event_data" : "";
        if (site.kind() == Kind.ITER && site.arguments() != null) {
            return new Type.Pointer(site.arguments(), Space.OWN);
        }
        Type to =
                name.isEmpty()
                        ? null
                        : typer.globals().environment().type(TypeSyntax.Kind.STRUCT, name);
        return new Type.Pointer(to == null ? new Type.Void() : to, Space.OWN);
    }

    private static @Nullable Type argument(Expression.Name e, Typer typer) {
        Kind kind = typer.site().kind();
        return switch (kind) {
            case KPROBE, UPROBE, USDT, RAWTRACEPOINT, FENTRY -> Int.U64;
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
