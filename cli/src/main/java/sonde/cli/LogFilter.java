package sonde.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.symbol.demangle.Demangler;
import sonde.symbol.line.SourceFrame;
import sonde.symbol.line.SourceOptions;
import sonde.symbol.line.SourceSymbols;
import sonde.view.Escape;

/**
 * Writes a text with places behind what stands for an address: {@code do_idle+0x1f/0x40 [module]},
 * {@code [<ffffffff81000000>]}, {@code ./server(+0x1139)}, {@code libc.so.6(abort+0xf)}. Everything
 * else comes through unchanged.
 */
final class LogFilter implements AutoCloseable {
    /** Longer lines are no lines of a log, and come through unchanged. */
    private static final int MOST_LINE = 1 << 16;

    private static final int MOST_FILES = 1 << 12;

    private static final int MOST_TOLD = 8;

    /** Of functions the kernel prints the distance to the next one, which lies on such a border. */
    private static final int MOST_PADDING = 64;

    private static final Pattern PLACE =
            Pattern.compile(
                    "(?<file>(?<![^\\s:\\[])[^\\s()\\[:]{1,4096})"
                            + "\\((?<function>[A-Za-z_.$][\\w.$]*+)?\\+0x(?<plain>[0-9a-f]{1,16})\\)"
                            + "|(?<=\\s)\\((?<image>/[^\\s()]{1,4095})"
                            + "\\+0x(?<stated>[0-9a-f]{1,16})\\)"
                            + "|(?<![\\w.$])(?<name>[A-Za-z_.$][\\w.$]*+)\\+0x(?<offset>[0-9a-f]{1,8})"
                            + "(?:/0x(?<size>[0-9a-f]{1,8}))?"
                            + "(?: \\[(?<module>[\\w-]{1,64})(?: [0-9a-f]{8,64})?\\])?"
                            + "|\\[<(?:0x)?(?<address>[0-9a-f]{8,16})>\\](?! \\(?[\\w.$]*\\+0x)");

    /** Where the instruction itself is meant, not the one behind a call. */
    private static final Pattern EXACT =
            Pattern.compile("\\b(?:E?R?IP|pc|PC|epc|NIP|WARNING|BUG|KASAN|UBSAN)\\b");

    private final @Nullable SourceSymbols program;
    private final Path file;
    private final @Nullable Path modules;
    private final SourceOptions options;
    private final PrintWriter out;
    private final Map<String, Optional<SourceSymbols>> opened = new HashMap<>();
    private final Map<String, String> answers = new HashMap<>();
    private final String prefix;
    private final Set<String> lackedModules = new TreeSet<>();
    private boolean lacksKernel;

    /**
     * @param program what addresses and functions without a file belong to; null for nothing
     * @param file the program's
     * @param modules folder that has the kernel's modules somewhere below; null for none
     */
    LogFilter(
            @Nullable SourceSymbols program,
            Path file,
            @Nullable Path modules,
            SourceOptions options,
            PrintWriter out)
            throws IOException {
        this.program = program;
        this.file = file;
        this.modules = modules;
        this.options = options;
        this.out = out;
        prefix = program == null ? "" : buildFolder(program);
    }

    /** The kernel's build folder by the file of its first function; empty for other programs. */
    private static String buildFolder(SourceSymbols program) throws IOException {
        String last = "init/main.c";
        for (long address : program.addresses("start_kernel")) {
            String file = program.lookup(address).getLast().file();
            if (file.endsWith("/" + last)) {
                return file.substring(0, file.length() - last.length());
            }
        }
        return "";
    }

    /** Copies all lines; after each one that has to wait for the next it is flushed. */
    void copy(Reader in) throws IOException {
        StringBuilder line = new StringBuilder();
        boolean tooLong = false;
        for (int c = in.read(); c >= 0; c = in.read()) {
            line.append((char) c);
            boolean end = c == '\n';
            if (end || line.length() == MOST_LINE) {
                out.append(end && !tooLong ? rewritten(line.toString()) : line);
                tooLong = !end;
                line.setLength(0);
                if (!in.ready()) {
                    out.flush();
                }
            }
        }
        out.append(tooLong ? line : rewritten(line.toString()));
        out.flush();
    }

    /** A line with what is known put behind each place. */
    String rewritten(String line) throws IOException {
        if (!line.contains("+0x") && !line.contains("[<")) {
            return line;
        }
        Matcher place = PLACE.matcher(line);
        StringBuilder changed = new StringBuilder();
        int copied = 0;
        while (place.find()) {
            boolean exact = EXACT.matcher(line.substring(0, place.start())).find();
            String answer = answer(place, exact);
            // The kernel alone prints the size of a function.
            lacksKernel |= program == null && answer.isEmpty() && place.group("size") != null;
            if (!answer.isEmpty()) {
                int behind =
                        place.group("module") == null ? place.end() : place.start("module") - 2;
                changed.append(line, copied, behind).append(" (").append(answer).append(')');
                copied = behind;
            }
        }
        return copied == 0 ? line : changed.append(line, copied, line.length()).toString();
    }

    /** Whether there were frames of a kernel, and no program was given that may be it. */
    boolean lacksKernel() {
        return lacksKernel;
    }

    /** Modules that frames were of and that have no file below the folder of modules. */
    List<String> lackedModules() {
        return lackedModules.stream().limit(MOST_TOLD).toList();
    }

    private String answer(Matcher place, boolean exact) throws IOException {
        String key = place.group() + (exact ? "!" : "");
        String known = answers.get(key);
        if (known == null) {
            known = find(place, exact);
            if (answers.size() > MOST_LINE) {
                answers.clear();
            }
            answers.put(key, known);
        }
        return known;
    }

    private String find(Matcher place, boolean exact) throws IOException {
        if (place.group("file") != null) {
            return findInFile(place, exact);
        }
        if (place.group("image") != null) {
            return findInImage(place);
        }
        SourceSymbols symbols = program;
        String module = place.group("module");
        if (module != null) {
            symbols = module(module).orElse(null);
        }
        if (symbols == null) {
            return "";
        }
        String address = place.group("address");
        if (address != null) {
            return described(symbols, Long.parseUnsignedLong(address, 16) - (exact ? 0 : 1), false);
        }
        long offset = Long.parseLong(place.group("offset"), 16);
        String size = place.group("size");
        long[] starts =
                size == null
                        ? symbols.addresses(place.group("name"))
                        : symbols.addresses(
                                place.group("name"), Long.parseLong(size, 16), MOST_PADDING);
        return described(symbols, starts, offset, exact);
    }

    /** {@code FILE(FUNCTION+0x1f)} and {@code FILE(+0x1139)}, as backtrace_symbols(3) writes. */
    private String findInFile(Matcher place, boolean exact) throws IOException {
        SourceSymbols symbols = file(place.group("file")).orElse(null);
        if (symbols == null) {
            return "";
        }
        long offset = Long.parseUnsignedLong(place.group("plain"), 16);
        String function = place.group("function");
        try {
            long[] starts = function == null ? new long[1] : symbols.addresses(function);
            return described(symbols, starts, offset, exact);
        } catch (IOException e) {
            return ""; // damaged: the rest of the text goes on
        }
    }

    /** {@code (FILE+0x27249)} of a sanitizer, which has gone back into the call already. */
    private String findInImage(Matcher place) throws IOException {
        SourceSymbols symbols = file(place.group("image")).orElse(null);
        try {
            long address = Long.parseUnsignedLong(place.group("stated"), 16);
            return symbols == null ? "" : described(symbols, address, false);
        } catch (IOException e) {
            return ""; // damaged: the rest of the text goes on
        }
    }

    private String described(SourceSymbols symbols, long[] starts, long offset, boolean exact)
            throws IOException {
        if (starts.length == 0) {
            return "";
        }
        long back = exact || offset == 0 ? 0 : 1;
        return described(symbols, starts[0] + offset - back, starts.length > 1);
    }

    /** {@code file:line}, or where calls were inlined all of them, innermost first. */
    private String described(SourceSymbols symbols, long address, boolean several)
            throws IOException {
        List<SourceFrame> frames = symbols.lookup(address);
        StringBuilder text = new StringBuilder();
        for (SourceFrame frame : frames) {
            if (!frame.hasPlace()) {
                continue;
            }
            text.append(text.isEmpty() ? "" : " < ");
            if (frames.size() > 1) {
                text.append(Demangler.demangle(frame.function())).append(' ');
            }
            text.append(shortened(frame.file()));
            if (frame.line() > 0) {
                text.append(':').append(frame.line());
            }
        }
        if (text.isEmpty() && !frames.getFirst().function().isEmpty()) {
            text.append(Demangler.demangle(frames.getFirst().function()));
        }
        return Escape.line(text.append(several && !text.isEmpty() ? " or another" : "").toString());
    }

    private String shortened(String file) {
        String plain = file.replace("/./", "/");
        boolean below = !prefix.isEmpty() && plain.startsWith(prefix);
        return below ? plain.substring(prefix.length()) : plain;
    }

    /** The program when it has that name, else the file itself when it is an ELF file here. */
    private Optional<SourceSymbols> file(String name) throws IOException {
        Path named;
        try {
            named = Path.of(name);
        } catch (InvalidPathException e) {
            return Optional.empty(); // a NUL, or bytes that are no text
        }
        if (program != null && file.getFileName().equals(named.getFileName())) {
            return Optional.of(program);
        }
        Optional<SourceSymbols> known = opened.get("file " + name);
        if (known == null) {
            boolean wanted = opened.size() < MOST_FILES && Files.isRegularFile(named);
            known = wanted ? openFile(named) : Optional.empty();
            if (opened.size() < MOST_FILES) {
                opened.put("file " + name, known);
            }
        }
        return known;
    }

    private Optional<SourceSymbols> openFile(Path named) {
        try {
            return Optional.of(SourceSymbols.open(named, options));
        } catch (IOException e) {
            // A text may name anything; what is no program leaves its line as it is.
            return Optional.empty();
        }
    }

    private Optional<SourceSymbols> module(String name) throws IOException {
        Optional<SourceSymbols> known = opened.get(name);
        if (known == null) {
            if (opened.size() >= MOST_FILES) {
                return Optional.empty();
            }
            known = open(name);
            opened.put(name, known);
            if (known.isEmpty()) {
                lackedModules.add(name);
            }
        }
        return known;
    }

    /** {@code NAME.ko}, where the file may be written with a hyphen for each underscore. */
    private Optional<SourceSymbols> open(String name) throws IOException {
        if (modules == null) {
            return Optional.empty();
        }
        String wanted = name.replace('-', '_').toLowerCase(Locale.ROOT);
        Optional<Path> found;
        try (Stream<Path> files = Files.walk(modules)) {
            found =
                    files.filter(file -> isModule(file, wanted))
                            .filter(Files::isRegularFile)
                            .findFirst();
        }
        return found.isEmpty()
                ? Optional.empty()
                : Optional.of(SourceSymbols.open(found.get(), options));
    }

    private static boolean isModule(Path file, String wanted) {
        String name = String.valueOf(file.getFileName()).replace('-', '_').toLowerCase(Locale.ROOT);
        return name.equals(wanted + ".ko") || name.equals(wanted + ".ko.debug");
    }

    @Override
    public void close() {
        opened.values().forEach(one -> one.ifPresent(SourceSymbols::close));
    }
}
