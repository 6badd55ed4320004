package sonde.cli;

import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import sonde.tools.explain.ExplainArguments;
import sonde.tools.ftrace.FtraceArguments;
import sonde.tools.ftrace.FtraceRecipe;
import sonde.tools.ftrace.HistogramRecipe;
import sonde.tools.ftrace.LatencyRecipe;
import sonde.tools.option.CommandModel;
import sonde.tools.query.QueryArguments;
import sonde.tools.record.RecordArguments;
import sonde.tools.trace.TraceArguments;
import sonde.view.WrappedText;

/**
 * The commands by name. The texts of the models are constants, so that help loads no command's
 * class, and a command no other's.
 */
final class CommandTable {
    /** The commands, in the order of the overview. */
    static final List<String> NAMES =
            List.of(
                    ("record report convert query list probe elf symbolize explain bpf kernel trace"
                                    + " tool syscalls calls heap leaks ftrace doctor bugreport")
                            .split(" "));

    /**
     * A command.
     *
     * @param text of its model, without the options of every command
     */
    record Entry(String text, CommandCall.Body body) {
        CommandModel model() {
            return CommandModel.parse(text + CommandModel.COMMON);
        }
    }

    private CommandTable() {}

    /** The commands below one; none for most. */
    static List<String> below(String name) {
        return switch (name) {
            case "bpf" -> BpfCommand.COMMANDS;
            case "ftrace" -> FtraceCommand.COMMANDS;
            case "kernel" -> KernelCommand.COMMANDS;
            case "probe" -> ProbeCommand.COMMANDS;
            default -> List.of();
        };
    }

    /** The full names of all commands that have options of their own. */
    static List<String> all() {
        return NAMES.stream()
                .flatMap(name ->
                        Stream.concat(
                                Stream.of(name), below(name).stream().map(sub -> name + " " + sub)))
                .toList();
    }

    /** Lines of an overview: names and summaries; the terminal has so many columns, or 0. */
    static String summaries(List<String> names, String above, int columns) {
        StringBuilder out = new StringBuilder();
        for (String name : names) {
            boolean isReport = name.equals("report"); // all of it loads all sections
            String text =
                    isReport
                            ? ReportCommand.OPENING
                            : find((above + " " + name).strip()).orElseThrow().text();
            String summary = CommandModel.parse(text).summary();
            String low = Character.toLowerCase(summary.charAt(0)) + summary.substring(1);
            int end = low.indexOf(':');
            out.append(
                    WrappedText.of(
                            "  %-10s ".formatted(name),
                            " ".repeat(13),
                            end < 0 ? low : low.substring(0, end),
                            columns == 0 ? 80 : columns));
        }
        return out.toString();
    }

    /** A command by its full name: {@code record}, {@code bpf asm}. */
    static Optional<Entry> find(String name) {
        Entry found =
                switch (name) {
                    case "record" -> new Entry(RecordArguments.MODEL, RecordCommand::run);
                    case "report" -> new Entry(ReportCommand.model(), ReportCommand::run);
                    case "convert" -> new Entry(ConvertCommand.MODEL, ConvertCommand::run);
                    case "query" -> new Entry(QueryArguments.MODEL, QueryCommand::run);
                    case "list" -> new Entry(ListCommand.MODEL, ListCommand::run);
                    case "elf" -> new Entry(ElfCommand.MODEL, ElfCommand::run);
                    case "symbolize" -> new Entry(SymbolizeCommand.MODEL, SymbolizeCommand::run);
                    case "explain" -> new Entry(ExplainArguments.MODEL, ExplainCommand::run);
                    case "bugreport" -> new Entry(BugreportCommand.MODEL, BugreportCommand::run);
                    case "doctor" -> new Entry(DoctorCommand.MODEL, DoctorCommand::run);
                    case "trace" -> new Entry(TraceArguments.MODEL, CommandTable::readElsewhere);
                    case "syscalls" -> new Entry(SyscallsCommand.MODEL, SyscallsCommand::run);
                    case "calls" -> new Entry(CallsCommand.MODEL, CallsCommand::run);
                    case "heap" -> new Entry(HeapCommand.MODEL, HeapCommand::run);
                    case "leaks" -> new Entry(LeaksCommand.MODEL, LeaksCommand::run);
                    case "ftrace" -> new Entry(FtraceArguments.MODEL, FtraceCommand::run);
                    case "ftrace function" ->
                            new Entry(FtraceArguments.FUNCTION, FtraceCommand::function);
                    case "ftrace graph" -> new Entry(FtraceArguments.GRAPH, FtraceCommand::graph);
                    case "ftrace latency" -> new Entry(LatencyRecipe.MODEL, FtraceCommand::latency);
                    case "ftrace hist" -> new Entry(HistogramRecipe.MODEL, FtraceCommand::hist);
                    case "ftrace reset" -> new Entry(FtraceRecipe.RESET, FtraceCommand::reset);
                    case "ftrace mark" -> new Entry(FtraceRecipe.MARK, FtraceCommand::mark);
                    case "tool" -> new Entry(ToolCommand.MODEL, CommandTable::readElsewhere);
                    case "probe" -> new Entry(ProbeCommand.MODEL, ProbeCommand::run);
                    case "bpf" -> new Entry(BpfCommand.MODEL, BpfCommand::run);
                    case "kernel" -> new Entry(KernelCommand.MODEL, KernelCommand::run);
                    case "probe funcs" ->
                            new Entry(ProbeFuncsCommand.MODEL, ProbeFuncsCommand::run);
                    case "probe lines" ->
                            new Entry(ProbeLinesCommand.MODEL, ProbeLinesCommand::run);
                    case "probe vars" -> new Entry(ProbeVarsCommand.MODEL, ProbeVarsCommand::run);
                    case "probe add" -> new Entry(ProbeAddCommand.MODEL, ProbeAddCommand::run);
                    case "probe list" -> new Entry(ProbeListCommand.MODEL, ProbeListCommand::run);
                    case "probe del" -> new Entry(ProbeDelCommand.MODEL, ProbeDelCommand::run);
                    case "kernel check" ->
                            new Entry(KernelCheckCommand.MODEL, KernelCheckCommand::run);
                    case "kernel features" ->
                            new Entry(KernelFeaturesCommand.MODEL, KernelFeaturesCommand::run);
                    case "kernel dyndbg" ->
                            new Entry(KernelDyndbgCommand.MODEL, KernelDyndbgCommand::run);
                    case "kernel sysrq" ->
                            new Entry(KernelSysrqCommand.MODEL, KernelSysrqCommand::run);
                    case "kernel kmemleak" ->
                            new Entry(KernelKmemleakCommand.MODEL, KernelKmemleakCommand::run);
                    case "bpf asm" -> new Entry(BpfAsmCommand.MODEL, BpfAsmCommand::run);
                    case "bpf disasm" -> new Entry(BpfDisasmCommand.MODEL, BpfDisasmCommand::run);
                    case "bpf run" -> new Entry(BpfRunCommand.MODEL, BpfRunCommand::run);
                    case "bpf verify" -> new Entry(BpfVerifyCommand.MODEL, BpfVerifyCommand::run);
                    case "bpf feature" ->
                            new Entry(BpfFeatureCommand.MODEL, BpfFeatureCommand::run);
                    case "bpf load" -> new Entry(BpfLoadCommand.MODEL, BpfLoadCommand::run);
                    case "bpf attach" -> new Entry(BpfAttachCommand.MODEL, BpfAttachCommand::run);
                    case "bpf prog" -> new Entry(BpfProgCommand.MODEL, BpfProgCommand::run);
                    case "bpf map" -> new Entry(BpfMapCommand.MODEL, BpfMapCommand::run);
                    case "bpf link" -> new Entry(BpfLinkCommand.MODEL, BpfLinkCommand::run);
                    case "bpf cgroup" -> new Entry(BpfCgroupCommand.MODEL, BpfCgroupCommand::run);
                    case "bpf net" -> new Entry(BpfNetCommand.MODEL, BpfNetCommand::run);
                    case "bpf btf" -> new Entry(BpfBtfCommand.MODEL, BpfBtfCommand::run);
                    case "bpf iter" -> new Entry(BpfIterCommand.MODEL, BpfIterCommand::run);
                    case "bpf pin" -> new Entry(BpfPinCommand.MODEL, BpfPinCommand::run);
                    case "bpf tracelog" ->
                            new Entry(BpfTraceLogCommand.MODEL, BpfTraceLogCommand::run);
                    default -> null;
                };
        return Optional.ofNullable(found);
    }

    /** {@code trace} and {@code tool} read their words themselves. */
    private static int readElsewhere(CommandCall call) {
        throw new IllegalStateException(call.given().model().summary());
    }
}
