package sonde.lang.bpftrace.check;

import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.syntax.Expression;
import sonde.lang.bpftrace.syntax.Expression.FunctionCall;
import sonde.lang.type.ValueType;
import sonde.lang.type.ValueType.IntType;

/** Functions of names that this machine has or has not: registers, symbols, cgroups. */
final class MachineCalls {
    private final ClauseTyper typer;

    MachineCalls(ClauseTyper typer) {
        this.typer = typer;
    }

    private GlobalTypes globals() {
        return typer.globals();
    }

    @Nullable ValueType register(FunctionCall e) {
        String name = ((Expression.StringLiteral) e.arguments().getFirst()).bytes();
        ProbeSite site = typer.clause().site();
        if (!site.hasRegisters() && !site.isPerfEvent()) {
            return globals()
                    .error(
                            e.span(),
                            "reg can not be used with \"" + site.family() + "\" probes",
                            "kprobes, uprobes and USDT probes have registers, and so have profile"
                                    + " and counters");
        }
        return PtRegs.offset(name) < 0
                ? globals()
                        .error(
                                e.span(),
                                "'"
                                        + name
                                        + "' is not a valid register on this architecture ("
                                        + System.getProperty("os.arch").replace("amd64", "x86_64")
                                        + ")",
                                "registers are " + String.join(", ", PtRegs.names()))
                : IntType.U64;
    }

    @Nullable ValueType controlGroup(FunctionCall e) {
        String path = ((Expression.StringLiteral) e.arguments().getFirst()).bytes();
        return globals().isReporting() && !globals().environment().hasControlGroup(path)
                ? globals()
                        .error(
                                e.span(),
                                "Failed to get `cgroupid` for path: \"" + path + "\"",
                                "it is the folder of a cgroup: /sys/fs/cgroup/system.slice")
                : IntType.U64;
    }

    @Nullable ValueType symbol(FunctionCall e) {
        String name = ((Expression.StringLiteral) e.arguments().getFirst()).bytes();
        return globals().isReporting() && !globals().environment().hasKernelSymbol(name)
                ? globals().error(e.span(), "Failed to resolve kernel symbol: " + name)
                : IntType.U64;
    }

    @Nullable ValueType perCpu(FunctionCall e) {
        String name = ((Expression.StringLiteral) e.arguments().getFirst()).bytes();
        return name.isEmpty()
                ? globals().error(e.span(), "Could not resolve variable \"" + name + "\" from BTF")
                : IntType.U64;
    }
}
