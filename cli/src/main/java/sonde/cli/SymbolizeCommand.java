package sonde.cli;

import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import sonde.format.MalformedInputException;
import sonde.symbol.files.Attempt;
import sonde.symbol.line.SourceFrame;
import sonde.symbol.line.SourceOptions;
import sonde.symbol.line.SourceSymbols;
import sonde.view.Escape;

/** {@code sonde symbolize}. */
@Command(
        addMethodSubcommands = false,
        mixinStandardHelpOptions = true,
        description = "Says which function, file and line addresses of a program come from.",
        footer = {
            "",
            "Examples: sonde symbolize -e ./server -fi 0x4011d6",
            "          sonde symbolize -e vmlinux -fip tcp_sendmsg+0x2b",
            "          ./server 2>&1 | sonde symbolize --filter",
            "          dmesg | sonde symbolize --filter -e vmlinux --modules build/"
        })
final class SymbolizeCommand implements Callable<Integer> {
    /** Addresses that are looked up at once: units are read once for all of them. */
    private static final int AT_ONCE = 1 << 16;

    /** Bytes that are read at once, and the longest line. */
    private static final int READ_BYTES = 1 << 20;

    /** Places tried that are shown. */
    private static final int MOST_SHOWN = 4;

    @Spec private @Nullable CommandSpec spec;

    @Option(
            names = {"-e", "--exe"},
            paramLabel = "FILE",
            description =
                    "program, library, kernel or module; when not given a.out, with --filter what"
                            + " the text names")
    private @Nullable Path exe;

    @Option(
            names = {"-a", "--addresses"},
            description = "show the address too")
    private boolean addresses;

    @Option(
            names = {"-f", "--functions"},
            description = "show the function too")
    private boolean functions;

    @Option(
            names = {"-i", "--inlines"},
            description = "show also the functions that the inlined one stands in")
    private boolean inlines;

    @Option(
            names = {"-p", "--pretty-print"},
            description = "a line for each")
    private boolean pretty;

    @Option(
            names = {"-s", "--basenames"},
            description = "names of files without their folders")
    private boolean basenames;

    @Option(
            names = {"-C", "--demangle"},
            description = "names as they are written in the source")
    private boolean demangle;

    @Option(
            names = {"-j", "--section"},
            paramLabel = "NAME",
            description = "addresses count from the start of this section")
    private @Nullable String section;

    @Option(names = "--columns", description = "show columns too: file:line:column")
    private boolean columns;

    @Option(names = "--json", description = "a JSON object for each address")
    private boolean json;

    @Option(
            names = "--addresses-from",
            paramLabel = "FILE",
            description = "read addresses from a file, '-' for standard input")
    private @Nullable String from;

    @Option(
            names = "--filter",
            description =
                    "copy standard input, with places behind func+0x1f/0x40, [<address>],"
                            + " FILE(+0x1139) and the like")
    private boolean filter;

    @Option(
            names = "--modules",
            paramLabel = "FOLDER",
            description = "kernel modules lie below, for lines with [module]")
    private @Nullable Path modules;

    @Option(names = "--no-cache", description = "neither use nor keep tables of other runs")
    private boolean uncached;

    @Mixin private SymbolArguments places = new SymbolArguments();

    @Parameters(
            paramLabel = "ADDRESS",
            description = "hexadecimal, or FUNCTION, FUNCTION+OFFSET; else standard input")
    private List<String> words = List.of();

    /** Words that are no addresses, by their place among those that are looked up at once. */
    private final Map<Integer, String> missed = new HashMap<>();

    @Override
    public Integer call() throws IOException {
        if (spec == null) {
            return ExitCode.FAULT;
        }
        SourceOptions usual = uncached ? SourceOptions.USUAL.uncached() : SourceOptions.USUAL;
        SourceOptions options = usual.with(places.folders(), places.servers());
        PrintWriter out = spec.commandLine().getOut();
        if (filter && exe == null) {
            copy(null, Path.of(""), options);
            return ExitCode.DONE;
        }
        Path file = exe == null ? Path.of("a.out") : exe;
        if (!Files.exists(file)) {
            throw new ParameterException(spec.commandLine(), file + ": no such file");
        }
        try (SourceSymbols symbols = open(file, options)) {
            note(symbols, file);
            if (filter) {
                copy(symbols, file, options);
                return ExitCode.DONE;
            }
            AddressWords reader = new AddressWords(symbols, section);
            FrameText text =
                    new FrameText(
                            out,
                            new FrameText.Look(
                                    addresses, functions, inlines, pretty, basenames, demangle,
                                    columns),
                            symbols.elf().is64());
            answer(symbols, reader, text);
        }
        out.flush();
        return ExitCode.DONE;
    }

    private static SourceSymbols open(Path file, SourceOptions options) throws IOException {
        try {
            return SourceSymbols.open(file, options);
        } catch (MalformedInputException e) {
            throw new MalformedInputException(file.toString(), "ELF", -1, e.reason());
        }
    }

    private void copy(@Nullable SourceSymbols symbols, Path file, SourceOptions options)
            throws IOException {
        try (LogFiles files = new LogFiles(symbols, file, modules, options);
                Reader in =
                        new BufferedReader(
                                new InputStreamReader(System.in, StandardCharsets.ISO_8859_1))) {
            OutputStream out = new FileOutputStream(FileDescriptor.out);
            LogFilter log = new LogFilter(files, new BufferedOutputStream(out, READ_BYTES));
            log.copy(in);
            if (spec != null) {
                tell(log, files, spec.commandLine().getErr());
            }
        }
    }

    private void tell(LogFilter log, LogFiles files, PrintWriter err) {
        if (!files.otherBuilds().isEmpty()) {
            Failures.say(
                    err,
                    "of another build than the log says: "
                            + Escape.line(String.join(", ", files.otherBuilds())));
        }
        if (log.lacksKernel()) {
            Failures.say(
                    err,
                    "frames of the kernel were left as they are: name its image with debugging"
                            + " information, of the build that printed them: -e vmlinux"
                            + (modules == null ? ", and --modules FOLDER for modules" : ""));
        } else if (!files.lackedModules().isEmpty()) {
            Failures.say(
                    err,
                    "no file of the modules "
                            + String.join(", ", files.lackedModules())
                            + ": --modules FOLDER names one that has NAME.ko somewhere below,"
                            + " with debugging information: the build folder, or what the"
                            + " debug package of the kernel installs");
        }
    }

    private void note(SourceSymbols symbols, Path file) {
        if (symbols.hasLines() || spec == null) {
            return;
        }
        PrintWriter err = spec.commandLine().getErr();
        if (symbols.elf().isCut()) {
            Failures.say(err, file + " " + symbols.elf().cut() + "; what lay behind is not known");
            return;
        }
        Failures.say(
                err,
                file
                        + " has no debugging information: functions come from its symbol table,"
                        + " lines are not known. Compile with -g, or install the debug package of"
                        + " the distribution");
        List<Attempt> tried = symbols.debugFile().tried();
        for (Attempt attempt : tried.subList(0, Math.min(MOST_SHOWN, tried.size()))) {
            Failures.say(err, Escape.line(attempt.sentence()));
        }
        if (tried.size() > MOST_SHOWN) {
            Failures.say(err, "and " + (tried.size() - MOST_SHOWN) + " more places");
        }
    }

    /** Keeps a word that is no address for the answer; whether it is one. */
    private boolean miss(int index, String word) {
        if (AddressWords.isHighest(word)) {
            return false;
        }
        missed.put(index, word);
        return true;
    }

    private void answer(SourceSymbols symbols, AddressWords reader, FrameText text)
            throws IOException {
        if (!words.isEmpty()) {
            long[] wanted = new long[words.size()];
            for (int i = 0; i < wanted.length; i++) {
                String word = words.get(i).strip();
                wanted[i] = reader.parse(word);
                if (wanted[i] == AddressWords.NONE && miss(i, word) && spec != null) {
                    Failures.say(
                            spec.commandLine().getErr(),
                            "'"
                                    + Escape.line(word)
                                    + "' is no address, and no function or variable of this file"
                                    + (word.indexOf('+') > 0
                                            ? "; an offset is 0x1f or decimal"
                                            : ""));
                }
            }
            answer(symbols, text, wanted);
            return;
        }
        boolean standard = from == null || from.equals("-");
        try (InputStream in =
                standard ? System.in : Files.newInputStream(Path.of(String.valueOf(from)))) {
            answer(symbols, reader, text, in);
        }
    }

    /** Answers whole lines as they come: somebody at the other end of a pipe may wait for each. */
    private void answer(SourceSymbols symbols, AddressWords reader, FrameText text, InputStream in)
            throws IOException {
        byte[] bytes = new byte[READ_BYTES];
        long[] wanted = new long[AT_ONCE];
        int count = 0;
        int held = 0;
        int read = in.read(bytes, 0, bytes.length);
        while (read >= 0) {
            int from = 0;
            for (int i = held; i < held + read; i++) {
                if (bytes[i] == '\n') {
                    if (count == AT_ONCE) {
                        answer(symbols, text, wanted);
                        count = 0;
                    }
                    wanted[count] = parse(reader, bytes, from, i, count);
                    count++;
                    from = i + 1;
                }
            }
            held += read - from;
            System.arraycopy(bytes, from, bytes, 0, held);
            if (held == bytes.length) {
                throw new IOException("a line of more than " + READ_BYTES + " bytes");
            }
            if (in.available() == 0) {
                answer(symbols, text, Arrays.copyOf(wanted, count));
                count = 0;
            }
            if (text.isBroken()) {
                return;
            }
            read = in.read(bytes, held, bytes.length - held);
        }
        if (held > 0) {
            answer(symbols, text, Arrays.copyOf(wanted, count));
            count = 0;
            wanted[count] = parse(reader, bytes, 0, held, count);
            count++;
        }
        answer(symbols, text, Arrays.copyOf(wanted, count));
    }

    private long parse(AddressWords reader, byte[] bytes, int from, int to, int index)
            throws IOException {
        long address = reader.parse(bytes, from, to);
        if (address == AddressWords.NONE) {
            miss(index, new String(bytes, from, to - from, StandardCharsets.UTF_8).strip());
        }
        return address;
    }

    private void answer(SourceSymbols symbols, FrameText text, long[] wanted) throws IOException {
        List<List<SourceFrame>> answers = symbols.lookup(wanted);
        for (int i = 0; i < wanted.length; i++) {
            String word = missed.get(i);
            if (word != null && json) {
                text.jsonOfNoAddress(word);
            } else if (word != null) {
                text.noAddress(word);
            } else if (json) {
                text.json(wanted[i], answers.get(i));
            } else {
                text.lines(wanted[i], answers.get(i));
            }
        }
        missed.clear();
        text.flush();
    }
}
