package sonde.bpf.verifier;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.Instruction;
import sonde.bpf.insn.ProgramCode;
import sonde.bpf.verifier.KernelReport.ReportedStep;
import sonde.bpf.verifier.LogEntry.LoggedSource;
import sonde.bpf.verifier.LogEntry.LoggedState;
import sonde.bpf.verifier.LogEntry.LoggedStep;
import sonde.bpf.verifier.RefusalKind.MessageMatch;
import sonde.bpf.verifier.RegisterHistory.FoundHistory;

/** Makes an {@link Explanation} of a log. */
public final class RefusalAnalysis {
    private static final Pattern REGISTER = Pattern.compile("\\bR(\\d{1,2})\\b");
    private static final Pattern NUMBER =
            Pattern.compile("mem access '(?:scalar|inv)'|type=(?:scalar|inv) ");
    private static final Pattern CALL = Pattern.compile("call ([A-Za-z_][A-Za-z0-9_.]{0,120})#");

    private final VerifierLog log;
    private final @Nullable ProgramCode code;
    private final InstructionLines sources;
    private final InstructionListing listing;
    private final List<LoggedStep> path;
    private final IntFunction<String> mapTypes;

    private RefusalAnalysis(
            VerifierLog log,
            @Nullable ProgramCode code,
            InstructionLines sources,
            IntFunction<String> mapTypes) {
        this.log = log;
        this.mapTypes = mapTypes;
        this.code = code;
        this.sources = sources.isEmpty() ? InstructionLines.quoted(log) : sources;
        listing = InstructionListing.of(code);
        path = VerifierPath.of(log);
    }

    /**
     * Explains a refusal.
     *
     * @param text the log, of level 1 or 2
     * @param code the program; null when only the log is there
     * @param sources its lines; {@link InstructionLines#NONE} takes those that the log quotes
     * @param mapTypes names of the kernel's types of maps, by number
     */
    public static Explanation explain(
            String text,
            @Nullable ProgramCode code,
            InstructionLines sources,
            IntFunction<String> mapTypes) {
        return new RefusalAnalysis(VerifierLog.read(text), code, sources, mapTypes).explanation();
    }

    private Explanation explanation() {
        List<String> messages = messages();
        MessageMatch match = RefusalKind.of(messages);
        KernelReport report = log.report();
        String message =
                match != null ? match.message() : messages.isEmpty() ? "" : messages.getLast();
        int slot = slot(match);
        boolean onPath = !path.isEmpty() && path.getLast().slot() == slot;
        int register = register(match, message, slot);
        FoundHistory found = FoundHistory.NONE;
        if (register >= 0 && onPath) {
            boolean isNumber = NUMBER.matcher(message).find();
            found = RegisterHistory.of(register, isNumber, path, listing, sources, begin());
        }
        List<HistoryStep> history = found.steps();
        String instruction = instruction(slot);
        String call = call(instruction);
        String origin = RegisterHistory.origin(history);
        if (match != null && !found.ended().isEmpty()) {
            String kind =
                    found.wasPacket()
                            ? "packet-moved"
                            : RegisterHistory.givesUp(call) ? "released-twice" : "released";
            match = match.as(kind, found.ended());
        }
        String cause = cause(match, message, call, origin, report);
        return new Explanation(
                match == null ? Explanation.UNKNOWN : match.cause().id(),
                cause,
                match != null
                        ? CauseWording.fill(match.cause().remedy(), match, call, origin, mapTypes)
                        : report != null ? report.suggestion() : "",
                message,
                slot,
                instruction,
                slot < 0 ? null : source(slot),
                register < 0 ? "" : "r" + register,
                history,
                log.statistics(),
                report);
    }

    private String cause(
            RefusalKind.@Nullable MessageMatch match,
            String message,
            String call,
            String origin,
            @Nullable KernelReport report) {
        if (match != null) {
            return CauseWording.fill(match.cause().sentence(), match, call, origin, mapTypes);
        }
        if (report != null && !report.reason().isEmpty()) {
            return report.reason();
        }
        return message.isEmpty() ? "the log ends before it says why" : message;
    }

    /** What was said since the last instruction; of a program that was not walked, everything. */
    private List<String> messages() {
        List<String> messages = new ArrayList<>();
        for (LogEntry entry : log.entries()) {
            switch (entry) {
                case LoggedStep _, LogEntry.Resumed _ -> messages.clear();
                case LogEntry.Message said -> messages.add(said.text());
                case LoggedState _, LogEntry.Function _, LoggedSource _, LogEntry.Remark _ -> {}
            }
        }
        return messages;
    }

    private int slot(RefusalKind.@Nullable MessageMatch match) {
        OptionalInt found =
                match == null ? OptionalInt.empty() : FaultFinder.of(match, code, listing);
        if (found.isPresent()) {
            return found.getAsInt();
        }
        if (!path.isEmpty()) {
            return path.getLast().slot();
        }
        KernelReport report = log.report();
        ReportedStep at = report == null ? null : report.at();
        return at == null ? -1 : at.slot();
    }

    /** As the message says; else the base of the access that failed. */
    private int register(RefusalKind.@Nullable MessageMatch match, String message, int slot) {
        if (match != null) {
            int said = match.number("reg");
            int argument = match.number("arg");
            if (said >= 0 || argument >= 0) {
                int number = said >= 0 ? said : argument;
                return number <= BpfRegister.R10.ordinal() ? number : -1;
            }
        }
        Matcher named = REGISTER.matcher(message);
        if (named.find()) {
            int number = Integer.parseInt(named.group(1));
            return number <= BpfRegister.R10.ordinal() ? number : -1;
        }
        boolean onPath = !path.isEmpty() && path.getLast().slot() == slot;
        return onPath ? base(listing.at(path.getLast())) : -1;
    }

    private static int base(@Nullable Instruction instruction) {
        BpfRegister base =
                switch (instruction) {
                    case null -> null;
                    case Instruction.Load load -> load.base();
                    case Instruction.LoadSigned load -> load.base();
                    case Instruction.LoadAcquire load -> load.base();
                    case Instruction.Store store -> store.base();
                    case Instruction.StoreRelease store -> store.base();
                    case Instruction.Atomic atomic -> atomic.base();
                    case Instruction.Alu alu -> alu.to();
                    case Instruction _ -> null;
                };
        return base == null || base == BpfRegister.R10 ? -1 : base.ordinal();
    }

    private String instruction(int slot) {
        if (!path.isEmpty() && path.getLast().slot() == slot) {
            String logged = path.getLast().text();
            // The kernel prints addresses of maps, which mean nothing here.
            boolean constant = listing.at(slot) instanceof Instruction.LoadWide;
            return constant ? listing.text(slot) : logged;
        }
        return listing.text(slot);
    }

    private static String call(String instruction) {
        Matcher matcher = CALL.matcher(instruction);
        return matcher.lookingAt() ? matcher.group(1) : "";
    }

    private String begin() {
        for (LogEntry entry : log.entries()) {
            if (entry instanceof LoggedState state) {
                return state.state();
            }
        }
        return "";
    }

    private @Nullable SourceLine source(int slot) {
        SourceLine known = sources.at(slot);
        KernelReport report = log.report();
        ReportedStep at = report == null ? null : report.at();
        return known != null || at == null ? known : at.source();
    }
}
