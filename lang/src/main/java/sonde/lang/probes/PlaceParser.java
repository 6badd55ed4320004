package sonde.lang.probes;

import java.util.ArrayList;
import java.util.List;
import sonde.lang.probes.AttachPoint.AttachTarget;
import sonde.lang.probes.AttachPoint.AttachTarget.CounterPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.EventPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.IteratorPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.KernelFunctionPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.MarkerPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.MemoryPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.NamedPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.NoPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.SignalPlace;
import sonde.lang.probes.AttachPoint.AttachTarget.SourceLinePlace;
import sonde.lang.probes.AttachPoint.AttachTarget.TimePlace;
import sonde.lang.probes.AttachPoint.Kind;

/** Reads the parts behind the kind, each kind its own way. */
final class PlaceParser {
    private static final String CPP = "cpp";

    private final Kind kind;
    private final List<String> parts;
    private final ParseSettings settings;

    PlaceParser(Kind kind, List<String> parts, ParseSettings settings) {
        this.kind = kind;
        this.parts = new ArrayList<>(parts);
        this.settings = settings;
        if (settings.pid().isPresent()) {
            addFile();
        } else if (kind == Kind.TRACEPOINT
                && this.parts.size() == 2
                && NamePattern.isPattern(this.parts.get(1))) {
            this.parts.add(1, "*");
        }
    }

    /** With a traced process, the file may be left out. */
    private void addFile() {
        boolean user = kind == Kind.UPROBE || kind == Kind.URETPROBE;
        int size = parts.size();
        if (user && (size == 2 || size == 3 && parts.get(1).equals(CPP))) {
            parts.add(1, "/proc/" + settings.pid().getAsInt() + "/exe");
        } else if (kind == Kind.USDT && size == 2) {
            parts.add(1, "");
        } else if (kind == Kind.TRACEPOINT && size == 2 && NamePattern.isPattern(parts.get(1))) {
            parts.add(1, "*");
        }
    }

    /** Whether there are as many parts as the kind takes. */
    boolean fits() {
        int size = parts.size();
        return switch (kind) {
            case BEGIN, END -> size == 1;
            case SELF -> size == 3;
            case TEST, BENCH -> size == 2;
            case INTERVAL, PROFILE, SOFTWARE, HARDWARE, KPROBE, KRETPROBE, RAWTRACEPOINT, ITER ->
                    size == 2 || size == 3;
            case FENTRY, FEXIT -> size >= 2 && size <= 4;
            case TRACEPOINT -> size == 3;
            case UPROBE, URETPROBE -> size == 3 || size == 4 || isSourceLine();
            case USDT -> size == 3 || size == 4;
            case WATCHPOINT -> size == 4;
        };
    }

    private boolean isSourceLine() {
        return parts.size() > 2 && parts.get(2).equals("@");
    }

    AttachTarget parse() throws AttachPointException {
        if ((kind == Kind.BEGIN || kind == Kind.END) && parts.size() == 2) {
            if (parts.get(1).equals("*")) {
                parts.removeLast();
            }
        }
        if (!fits()) {
            throw new AttachPointException(wrongCount());
        }
        return switch (kind) {
            case BEGIN, END -> new NoPlace();
            case SELF -> signal();
            case TEST, BENCH -> new NamedPlace(parts.get(1));
            case INTERVAL, PROFILE -> time();
            case SOFTWARE, HARDWARE -> counter();
            case TRACEPOINT -> new EventPlace(parts.get(1), parts.get(2));
            case RAWTRACEPOINT ->
                    new AttachTarget.RawEvent(
                            parts.size() == 3 ? parts.get(1) : "*", parts.getLast());
            case KPROBE, KRETPROBE -> kernelFunction();
            case FENTRY, FEXIT -> typedFunction();
            case UPROBE, URETPROBE -> isSourceLine() ? sourceLine() : userFunction();
            case USDT ->
                    new MarkerPlace(
                            parts.get(1), parts.size() == 4 ? parts.get(2) : "", parts.getLast());
            case WATCHPOINT -> memory();
            case ITER -> objects();
        };
    }

    private String wrongCount() {
        String wanted =
                switch (kind) {
                    case BEGIN, END -> "0";
                    case SELF -> "2";
                    case TEST, BENCH -> "1";
                    case INTERVAL, PROFILE, SOFTWARE, HARDWARE, KPROBE, KRETPROBE -> "1 or 2";
                    case TRACEPOINT -> "2";
                    case RAWTRACEPOINT -> "2 or 1";
                    case FENTRY, FEXIT -> "1 or 3";
                    case UPROBE, URETPROBE, USDT -> "2 or 3";
                    case WATCHPOINT -> "3";
                    case ITER -> "";
                };
        return kind == Kind.ITER
                ? "iter probe type takes 2 arguments (1 optional)"
                : kind.longName()
                        + " probe type requires "
                        + wanted
                        + " arguments, found "
                        + (parts.size() - 1);
    }

    private AttachTarget signal() throws AttachPointException {
        if (!parts.get(1).equals("signal")) {
            throw new AttachPointException(parts.get(1) + " is not a supported trigger");
        }
        return new SignalPlace(parts.get(2));
    }

    private AttachTarget time() throws AttachPointException {
        String name = kind.longName();
        if (parts.size() == 3) {
            return new TimePlace(
                    parts.get(1), number(parts.get(2), "Invalid rate of " + name + " probe"));
        }
        if (NamePattern.isPattern(parts.get(1))) {
            return new TimePlace(parts.get(1), 0);
        }
        long nanos = number(parts.get(1), "Invalid rate of " + name + " probe");
        if (Long.compareUnsigned(nanos, 1000) < 0) {
            throw new AttachPointException(
                    "Invalid rate of "
                            + name
                            + " probe. Minimum is 1000 or 1us. Found: "
                            + nanos
                            + " nanoseconds");
        }
        return new TimePlace("us", Long.divideUnsigned(nanos, 1000));
    }

    private AttachTarget counter() throws AttachPointException {
        long count = 0;
        if (parts.size() == 3 && !parts.get(2).equals("*")) {
            count = number(parts.get(2), "Invalid count for " + kind.longName() + " probe");
        }
        return new CounterPlace(parts.get(1), count);
    }

    private AttachTarget kernelFunction() throws AttachPointException {
        String module = parts.size() == 3 ? parts.get(1) : "";
        String text = parts.getLast();
        if (text.indexOf('+') >= 0) {
            FunctionOffset place = offset(text);
            return new KernelFunctionPlace(module, place.function(), place.offset(), 0);
        }
        long address = address(text);
        if (address == NO_ADDRESS) {
            return new KernelFunctionPlace(module, text, 0, 0);
        }
        if (!settings.unsafe()) {
            throw new AttachPointException("Probing by address requires --unsafe");
        }
        return new KernelFunctionPlace(module, "", 0, address);
    }

    private record FunctionOffset(String function, long offset) {}

    private FunctionOffset offset(String text) throws AttachPointException {
        if (kind == Kind.KRETPROBE || kind == Kind.URETPROBE) {
            throw new AttachPointException("Offset not allowed");
        }
        int plus = text.indexOf('+');
        if (plus != text.lastIndexOf('+')) {
            throw new AttachPointException("Cannot take more than one offset");
        }
        if (plus == 0 || plus == text.length() - 1) {
            throw new AttachPointException("Invalid offset");
        }
        long offset = number(text.substring(plus + 1), "Invalid offset");
        if (offset < 0) {
            throw new AttachPointException("Invalid offset: " + text.substring(plus + 1));
        }
        return new FunctionOffset(text.substring(0, plus), offset);
    }

    private static final long NO_ADDRESS = -1;

    private static long address(String text) {
        try {
            return AttachNumber.parse(text);
        } catch (NumberFormatException e) {
            return NO_ADDRESS;
        }
    }

    private AttachTarget typedFunction() throws AttachPointException {
        if (parts.get(1).equals("bpf")) {
            return bpfFunction();
        }
        if (parts.size() == 4) {
            throw new AttachPointException(
                    "Only the 'bpf' variant of this probe supports 4 arguments");
        }
        return new KernelFunctionPlace(
                parts.size() == 3 ? parts.get(1) : "", parts.getLast(), 0, 0);
    }

    private AttachTarget bpfFunction() throws AttachPointException {
        if (parts.size() == 2) {
            throw new AttachPointException(
                    "the 'bpf' variant of this probe requires a bpf program name "
                            + "and optional bpf program id");
        }
        int program = 0;
        if (parts.size() == 4 && !parts.get(2).equals("*")) {
            long id = address(parts.get(2));
            if (id < 0 || id > Integer.MAX_VALUE) {
                throw new AttachPointException("bpf program id must be a number or '*'");
            }
            program = (int) id;
        }
        return new AttachTarget.BpfFunction(program, parts.getLast());
    }

    private AttachTarget userFunction() throws AttachPointException {
        String path = parts.get(1);
        boolean cpp = parts.size() == 4;
        if (cpp && !parts.get(2).equals(CPP)) {
            throw new AttachPointException("unsupported language type: " + parts.get(2));
        }
        String text = parts.getLast();
        // operator+ and friends are names, in quotes or not.
        if (text.indexOf('+') >= 0 && !(cpp && text.contains("operator"))) {
            FunctionOffset place = offset(text);
            return new AttachTarget.UserFunction(path, cpp, place.function(), place.offset(), 0);
        }
        long address = address(text);
        if (address == NO_ADDRESS) {
            return new AttachTarget.UserFunction(path, cpp, text, 0, 0);
        }
        if (NamePattern.isPattern(path)) {
            throw new AttachPointException("Cannot use wildcards with absolute address");
        }
        return new AttachTarget.UserFunction(path, cpp, "", 0, address);
    }

    private AttachTarget sourceLine() throws AttachPointException {
        if (kind == Kind.URETPROBE) {
            throw new AttachPointException("Source code location not allowed");
        }
        String path = parts.get(1);
        if (NamePattern.isPattern(path)) {
            throw new AttachPointException("Cannot use wildcards with source code location");
        }
        int size = parts.size();
        if (size != 5 && size != 6 || parts.get(3).isEmpty() || parts.get(4).isEmpty()) {
            throw new AttachPointException(
                    "Invalid uprobe arguments, expected format: uprobe:TARGET@FILE:LINE[:COL]");
        }
        long line = number(parts.get(4), "Invalid line number");
        long column = size == 6 ? number(parts.get(5), "Invalid column number") : 0;
        if (path.isEmpty()) {
            throw new AttachPointException(
                    "Unspecified target binary, cannot attach by source code location.");
        }
        return new SourceLinePlace(
                path, parts.get(3), Math.clamp(line, 0, 1 << 30), Math.clamp(column, 0, 1 << 30));
    }

    private AttachTarget memory() throws AttachPointException {
        long address = number(parts.get(1), "Invalid function/address argument");
        long length = number(parts.get(2), "Invalid length argument");
        char[] mode = parts.get(3).toCharArray();
        java.util.Arrays.sort(mode);
        return new MemoryPlace(address, Math.clamp(length, 0, Integer.MAX_VALUE), new String(mode));
    }

    private AttachTarget objects() throws AttachPointException {
        String pin = parts.size() == 3 ? parts.get(2) : "";
        if (NamePattern.isPattern(parts.get(1)) || NamePattern.isPattern(pin)) {
            throw new AttachPointException("iter probe type does not support wildcards");
        }
        return new IteratorPlace(parts.get(1), pin);
    }

    private static long number(String text, String what) throws AttachPointException {
        try {
            return AttachNumber.parse(text);
        } catch (NumberFormatException e) {
            throw new AttachPointException(what + ": " + e.getMessage());
        }
    }
}
