package sonde.tools.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Engine;
import sonde.analysis.stack.ProcessSymbols;
import sonde.event.Recording;
import sonde.event.result.Frame;
import sonde.open.ReportSource;
import sonde.recording.ftrace.CodeNames;
import sonde.recording.ftrace.ListedFields;
import sonde.recording.ftrace.ListedFields.ListedField;
import sonde.recording.ftrace.TextBuffer;
import sonde.symbol.CodeModule;
import sonde.symbol.FunctionTable;
import sonde.symbol.KernelSymbols;
import sonde.symbol.ProcessMaps;
import sonde.symbol.line.CodeDetail;
import sonde.symbol.line.CodePlaces.FoundCode;
import sonde.symbol.resolve.NameDetail;
import sonde.symbol.resolve.SymbolResolver;

/**
 * Names code for the listing of a perf.data, from where perf takes names: files, /proc/kallsyms.
 */
final class PerfCode implements CodeNames, AutoCloseable {
    private static final String KERNEL = "[kernel.kallsyms]";
    private static final int MOST_CACHED = 1 << 18;
    private static final Pattern OFFSET = Pattern.compile("\\+0x[0-9a-f]{1,16} \\(");

    private final ProcessMaps maps = ProcessMaps.keepingOverExec();
    private final SymbolResolver resolver;
    private final Map<String, byte[]> buildIds;
    private final Future<KernelSymbols> kernel;
    private final boolean narrow;
    private final boolean lines;
    private final boolean fullPaths;
    private final Map<Long, byte[]> kernelNames = new ConcurrentHashMap<>();
    private final Map<Long, byte[]> userNames = new HashMap<>();

    /**
     * @param source says where files are looked for
     * @param fields whether lines are shown, and how
     */
    PerfCode(Recording recording, ReportSource source, ListedFields fields) throws IOException {
        lines = fields.asks(ListedField.SRCLINE);
        fullPaths = fields.fullSourcePaths();
        NameDetail naming =
                NameDetail.of(source.symbolOptions(), source.given())
                        .with(FunctionTable.Aliases.PERF)
                        .with(lines ? new CodeDetail(true, true) : CodeDetail.NONE);
        resolver = RecordedCode.resolver(source, maps, naming, this::recorded);
        buildIds = recording.fileIds();
        String arch = recording.kernel().architecture();
        narrow = arch.matches("i[3-6]86|arm|armv[4-8].*|ppc|mips|s390|riscv32");
        FutureTask<KernelSymbols> reading =
                new FutureTask<>(() -> KernelSymbols.parse(kallsyms(recording, source)));
        kernel = reading;
        // The kernel takes 60 ms to print them: beside the first round of records.
        Thread.ofPlatform().daemon().name("kallsyms").start(reading);
    }

    private static byte[] kallsyms(Recording recording, ReportSource source) {
        byte[] kept = source.kallsyms();
        return kept.length > 0 ? kept : RecordedKernel.found(recording, source.given().folders());
    }

    /** Asked after the first records, which say where the kernel lies. */
    private KernelSymbols recorded() {
        try {
            return kernel.get();
        } catch (ExecutionException e) {
            return KernelSymbols.none();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return KernelSymbols.none();
        }
    }

    /** Follows mappings; goes before the listing over every row. */
    ProcessSymbols follower() {
        return new ProcessSymbols(maps, resolver::function, buildIds);
    }

    @Override
    public boolean changes(long address) {
        return lines || address >= 0 && !isKernel(address);
    }

    @Override
    public String line(int pid, long address) {
        if (!lines) {
            return "";
        }
        long location = isKernel(address) ? address : maps.location(pid, address);
        FoundCode found = resolver.place(location);
        Frame innermost =
                found.inlined().isEmpty()
                        ? Frame.label("").at(found.file(), found.line())
                        : found.inlined().getFirst();
        boolean full = fullPaths && !innermost.file().isEmpty();
        return full ? innermost.file() + ":" + innermost.line() : innermost.place();
    }

    /** Goes over all rows once, for the lines of all code to be looked up together. */
    void lookAhead(Recording recording) throws IOException {
        if (lines) {
            ProcessSymbols symbols = follower();
            ChainLocations chains = new ChainLocations(symbols);
            Engine.run(List.of(recording), List.of(symbols, chains), 0);
            resolver.learn(chains.all());
            maps.rewind();
        }
    }

    @Override
    public void close() {
        resolver.close();
    }

    @Override
    public void append(TextBuffer out, int pid, long address, boolean chain) {
        int start = out.size();
        if (isKernel(address)) {
            out.hex(address, 1).pad(start, 16, false);
            byte[] known = kernelNames.get(address);
            if (known == null) {
                known = kernelName(address).getBytes(StandardCharsets.UTF_8);
                if (kernelNames.size() < MOST_CACHED) {
                    kernelNames.put(address, known);
                }
            }
            out.put(known);
            return;
        }
        long location = maps.location(pid, address);
        CodeModule module = maps.module(location);
        long shown = chain && inFile(module) ? ProcessMaps.offset(location) : address;
        out.hex(shown, 1).pad(start, 16, false);
        byte[] known = userNames.get(location);
        if (known == null) {
            known = userName(module, location).getBytes(StandardCharsets.UTF_8);
            if (userNames.size() >= MOST_CACHED) {
                userNames.clear();
            }
            userNames.put(location, known);
        }
        out.put(known);
    }

    private static boolean inFile(@Nullable CodeModule module) {
        return module != null
                && (module.kind() == CodeModule.Kind.FILE || module.kind() == CodeModule.Kind.VDSO);
    }

    /** The kernel of a 32-bit machine lies in the upper part of 4 GiB. */
    private boolean isKernel(long address) {
        return address < 0 || narrow && maps.kernel().has(address);
    }

    @Override
    public ListedCode code(int pid, long address) {
        if (isKernel(address)) {
            return code(address, kernelName(address));
        }
        long location = maps.location(pid, address);
        CodeModule module = maps.module(location);
        long shown = inFile(module) ? ProcessMaps.offset(location) : address;
        return code(shown, userName(module, location));
    }

    /** The parts of {@code " name+0xoffset (file)"}. */
    private static ListedCode code(long shown, String text) {
        int file = text.startsWith(" [unknown] (") ? 10 : text.indexOf(" (", plus(text));
        int plus = text.startsWith(" [unknown] (") ? -1 : plus(text);
        String name = text.substring(1, plus < 0 ? file : plus);
        long offset = plus < 0 ? -1 : Long.parseUnsignedLong(text.substring(plus + 3, file), 16);
        return new ListedCode(shown, name, offset, text.substring(file + 2, text.length() - 1));
    }

    /** Where the offset stands: the file's name behind it may hold anything. */
    private static int plus(String text) {
        Matcher offset = OFFSET.matcher(text);
        return offset.find() ? offset.start() : 0;
    }

    private String kernelName(long address) {
        String file = maps.kernel().file(address);
        KernelSymbols kernel = resolver.kernelSymbols();
        int symbol = kernel.find(address);
        if (symbol < 0 && file.isEmpty()) {
            return " [unknown] ([unknown])";
        }
        if (symbol < 0) {
            return " [unknown] (" + printable(file) + ")";
        }
        String module = kernel.module(symbol);
        return " "
                + kernel.name(symbol)
                + "+0x"
                + Long.toHexString(address - kernel.address(symbol))
                + " ("
                + (module.equals("[kernel]") ? KERNEL : module)
                + ")";
    }

    private String userName(@Nullable CodeModule module, long location) {
        if (module == null || module.kind() == CodeModule.Kind.UNMAPPED) {
            return " [unknown] ([unknown])";
        }
        String file =
                switch (module.kind()) {
                    case FILE, VDSO -> printable(module.mapping().path());
                    case KERNEL_SYMBOL -> KERNEL;
                    case RUN_TIME -> resolver.function(location).module();
                    case ANONYMOUS -> "/tmp/perf-" + module.pid() + ".map";
                    case UNMAPPED -> "[unknown]";
                };
        long offset = resolver.offsetInFunction(location);
        if (offset < 0) {
            return " [unknown] (" + file + ")";
        }
        Frame frame = resolver.function(location);
        boolean compiled = frame.kind() == Frame.Kind.JIT; // by its map as it stands there
        String name = compiled ? frame.name() : withoutParameters(frame.name());
        return " " + name + "+0x" + Long.toHexString(offset) + " (" + file + ")";
    }

    private static String printable(String path) {
        return path.chars().anyMatch(Character::isISOControl)
                ? path.replaceAll("\\p{Cntrl}", "?")
                : path;
    }

    /** perf asks for names without parameters and return types: {@code "ns::f<int>"}. */
    static String withoutParameters(String name) {
        if (name.contains("thunk to ")) {
            return name;
        }
        int close = name.lastIndexOf(')');
        int open = close;
        for (int depth = 0; open >= 0; open--) {
            char c = name.charAt(open);
            depth += c == ')' ? 1 : c == '(' ? -1 : 0;
            if (depth == 0) {
                break;
            }
        }
        boolean parameters =
                open > 0
                        && !name.startsWith("(anonymous", open)
                        && name.indexOf("::", close) < 0
                        && name.indexOf('<', close) < 0;
        if (!parameters) {
            return name;
        }
        String bare = name.substring(0, open);
        int space = lastSpace(bare);
        boolean operator = bare.contains("operator");
        String kept = space < 0 || operator ? bare : bare.substring(space + 1);
        return kept;
    }

    /** The last blank that stands in no brackets; -1 for none. */
    private static int lastSpace(String name) {
        int depth = 0;
        for (int i = name.length() - 1; i >= 0; i--) {
            switch (name.charAt(i)) {
                case '>', ')' -> depth++;
                case '<', '(' -> depth--;
                case ' ' -> {
                    if (depth == 0) {
                        return i;
                    }
                }
                default -> {}
            }
        }
        return -1;
    }
}
