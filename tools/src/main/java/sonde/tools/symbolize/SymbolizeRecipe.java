package sonde.tools.symbolize;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.event.result.Column;
import sonde.event.result.Listing;
import sonde.event.result.RowOutput;
import sonde.symbol.files.Attempt;
import sonde.symbol.files.DebugSearch;
import sonde.symbol.files.KernelSearch;
import sonde.symbol.files.RequiredContent;
import sonde.symbol.line.SourceFrame;
import sonde.symbol.line.SourceOptions;
import sonde.symbol.line.SourceSymbols;
import sonde.tools.option.OptionException;
import sonde.tools.symbolize.FrameText.FrameOptions;
import sonde.tools.symbolize.LogFiles.KernelBuild;
import sonde.view.TextEscape;

/** Looks addresses of one file up. */
public final class SymbolizeRecipe implements AutoCloseable {
    /** Addresses that are looked up at once: units are read once for all of them. */
    private static final int AT_ONCE = 1 << 16;

    /** Bytes that are read at once, and the longest line. */
    private static final int READ_BYTES = 1 << 20;

    /** Places tried that are shown. */
    private static final int MOST_SHOWN = 4;

    private final SourceSymbols symbols;
    private final Path file;

    /** Words that are no addresses, by their place among those that are looked up at once. */
    private final Map<Integer, String> missed = new HashMap<>();

    private SymbolizeRecipe(SourceSymbols symbols, Path file) {
        this.symbols = symbols;
        this.file = file;
    }

    /**
     * Opens a program, library, kernel or module.
     *
     * @throws MalformedInputException when it is not an ELF file
     */
    public static SymbolizeRecipe open(Path file, SourceOptions options) throws IOException {
        try {
            return new SymbolizeRecipe(SourceSymbols.open(file, options), file);
        } catch (MalformedInputException e) {
            throw new MalformedInputException(file.toString(), "ELF", -1, e.reason());
        }
    }

    /** Why lines are not known, and where debugging information was looked for. */
    public List<String> notes() {
        if (symbols.hasLines()) {
            return List.of();
        }
        if (symbols.elf().isCut()) {
            return List.of(file + " " + symbols.elf().cut() + "; what lay behind is not known");
        }
        List<String> notes = new ArrayList<>();
        notes.add(
                file
                        + " has no debugging information: functions come from its symbol table,"
                        + " lines are not known. Compile with -g, or install the debug package of"
                        + " the distribution");
        List<Attempt> tried = symbols.debugFile().tried();
        tried.stream().limit(MOST_SHOWN).forEach(one -> notes.add(TextEscape.line(one.sentence())));
        if (tried.size() > MOST_SHOWN) {
            notes.add("and " + (tried.size() - MOST_SHOWN) + " more places");
        }
        return notes;
    }

    /** Reads addresses as they are asked for. */
    @FunctionalInterface
    private interface Asking {
        void ask(FrameText text) throws IOException;
    }

    /**
     * What is at addresses or functions.
     *
     * @param section that numbers count from the start of; null for none
     * @param complaints gets a sentence for each word that is not an address
     */
    public Listing of(
            List<String> words,
            @Nullable String section,
            FrameOptions look,
            Consumer<String> complaints)
            throws IOException {
        AddressParser reader = new AddressParser(symbols, section);
        return listing(
                look,
                text -> {
                    LongStream.Builder wanted = LongStream.builder();
                    int count = 0;
                    for (String given : words) {
                        String word = given.strip();
                        for (long address : reader.all(word)) {
                            if (address == AddressParser.NONE && miss(count, word)) {
                                String why = reader.mismatch(word);
                                complaints.accept(
                                        why.isEmpty()
                                                ? complaint(word)
                                                : TextEscape.line(word + ": " + why));
                            }
                            wanted.add(address);
                            count++;
                        }
                    }
                    answer(text, wanted.build().toArray());
                });
    }

    private static String complaint(String word) {
        return "'"
                + TextEscape.line(word)
                + "' is not an address, and no function or variable of this file"
                + (word.indexOf('+') > 0 ? "; an offset is 0x1f or decimal" : "");
    }

    /** As above, of lines; each is answered as soon as no other is there. */
    public Listing of(InputStream in, @Nullable String section, FrameOptions look)
            throws IOException {
        AddressParser reader = new AddressParser(symbols, section);
        return listing(look, text -> answer(reader, text, in));
    }

    private Listing listing(FrameOptions look, Asking asking) {
        List<Column> columns =
                List.of(
                        Column.text("address"),
                        Column.text("function"),
                        Column.text("file"),
                        Column.text("line"));
        return new Listing(
                "",
                columns,
                (out, form) -> asking.ask(new FrameText(out, form, look, symbols.elf().is64())));
    }

    /** Keeps a word that is not an address for the answer; whether it is one. */
    private boolean miss(int index, String word) {
        if (AddressParser.isHighest(word)) {
            return false;
        }
        missed.put(index, word);
        return true;
    }

    /** Answers whole lines as they come: somebody at the other end of a pipe may wait for each. */
    private void answer(AddressParser reader, FrameText text, InputStream in) throws IOException {
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
                        answer(text, wanted);
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
                answer(text, Arrays.copyOf(wanted, count));
                count = 0;
            }
            read = in.read(bytes, held, bytes.length - held);
        }
        if (held > 0) {
            answer(text, Arrays.copyOf(wanted, count));
            count = 0;
            wanted[count] = parse(reader, bytes, 0, held, count);
            count++;
        }
        answer(text, Arrays.copyOf(wanted, count));
    }

    private long parse(AddressParser reader, byte[] bytes, int from, int to, int index)
            throws IOException {
        long address = reader.parse(bytes, from, to);
        if (address == AddressParser.NONE) {
            miss(index, new String(bytes, from, to - from, StandardCharsets.UTF_8).strip());
        }
        return address;
    }

    private void answer(FrameText text, long[] wanted) throws IOException {
        List<List<SourceFrame>> answers = symbols.lookup(wanted);
        for (int i = 0; i < wanted.length; i++) {
            String word = missed.get(i);
            if (word != null) {
                text.noAddress(word);
            } else {
                text.frames(wanted[i], answers.get(i));
            }
        }
        missed.clear();
        text.flush();
    }

    /** A copy of a log that is made while it comes, with places behind its addresses. */
    public LogCopy log(@Nullable Path modules, SourceOptions options) {
        return new LogCopy(new LogFiles(symbols, file, modules, options));
    }

    /** As above, of what the text names alone. */
    public static LogCopy logAlone(@Nullable Path modules, SourceOptions options) {
        return new LogCopy(new LogFiles(null, Path.of(""), modules, options));
    }

    /**
     * The kernel's image of a release, where distributions put it.
     *
     * @throws OptionException where there is none with debugging information
     */
    public static Path kernelImage(String release, SourceOptions options) {
        return new KernelSearch(new DebugSearch(options.folders()))
                .kernel(release, new byte[0], RequiredContent.DEBUG_INFORMATION)
                .path()
                .orElseThrow(() ->
                        new OptionException(
                                "no image of the kernel "
                                        + release
                                        + " with debugging information is here; its debug package"
                                        + " has one, and -k names one"));
    }

    /** A log that is copied byte for byte, with places behind its addresses. */
    public static final class LogCopy implements AutoCloseable {
        /** A garbled line may have a wrong size; a function of another build often has one. */
        private static final int FEWEST_MISFITS = 2;

        private static final int MISFIT_PART = 5;

        private final LogFiles files;
        private @Nullable LogFilter single;
        private @Nullable KernelBuild kernel;
        private boolean lacksKernel;

        LogCopy(LogFiles files) {
            this.files = files;
        }

        /** The lines of a log, as they come. */
        public Listing lines(InputStream in) {
            return new Listing("", List.of(), (out, _) -> copy(in, RowOutput.unchanged(out)));
        }

        private void copy(InputStream in, OutputStream out) throws IOException {
            LogFilter filter = new LogFilter(files, out);
            filter.copy(in);
            lacksKernel = filter.lacksKernel();
        }

        /** One line with places behind its addresses. */
        public String decoded(String line) throws IOException {
            LogFilter filter = single;
            if (filter == null) {
                filter = new LogFilter(files, OutputStream.nullOutputStream());
                single = filter;
            }
            byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
            String decoded = filter.rewritten(new String(bytes, StandardCharsets.ISO_8859_1));
            lacksKernel = filter.lacksKernel();
            return new String(
                    decoded.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
        }

        /**
         * Where a place that a log names is in its file.
         *
         * @param address as stated in the ELF
         */
        public record LogPlace(SourceSymbols symbols, long address) {}

        /**
         * The place of an instruction; null where no file, or several functions, fit.
         *
         * @param size of the function, as the kernel prints it
         * @param module empty for the kernel itself
         */
        public @Nullable LogPlace place(String function, long offset, long size, String module)
                throws IOException {
            SourceSymbols symbols =
                    module.isEmpty() ? files.program() : files.module(module).orElse(null);
            long[] starts =
                    symbols == null
                            ? new long[0]
                            : symbols.addresses(function, size, LogFilter.MOST_PADDING);
            return symbols == null || starts.length != 1
                    ? null
                    : new LogPlace(symbols, starts[0] + offset);
        }

        /**
         * Why the kernel image that was given is not the one that printed a report; empty where
         * nothing says so.
         *
         * @param release of the kernel that printed it; empty where it does not say, like the
         *     others
         * @param build {@code #1}
         * @param id its build-id
         */
        public String otherBuild(String release, String build, String id, List<String> lines)
                throws IOException {
            KernelBuild known = kernel;
            if (known == null) {
                known = files.kernel();
                kernel = known;
            }
            if (known.release().isEmpty()) {
                return "";
            } else if (differ(release, known.release())) {
                return release;
            } else if (differ(build, known.build())) {
                return "%s %s (the image is %s)".formatted(known.release(), build, known.build());
            } else if (differ(id, known.id())) {
                return known.release() + " with the build-id " + id;
            }
            int[] counts = LogFilter.sizes(files, lines);
            return counts[1] >= FEWEST_MISFITS && counts[1] * MISFIT_PART > counts[0]
                    ? "%s of another build (%d of %d functions have another size)"
                            .formatted(known.release(), counts[1], counts[0])
                    : "";
        }

        private static boolean differ(String one, String other) {
            return !one.isEmpty() && !other.isEmpty() && !one.equals(other);
        }

        /** Why frames stayed as they were; known when the lines were written. */
        public List<String> notes() {
            List<String> notes = new ArrayList<>();
            if (!files.otherBuilds().isEmpty()) {
                notes.add(
                        "of another build than the log says: "
                                + TextEscape.line(String.join(", ", files.otherBuilds())));
            }
            if (lacksKernel) {
                notes.add(
                        "frames of the kernel were left as they are: name its image with debugging"
                                + " information, of the build that printed them: -e vmlinux"
                                + (files.hasFolder() ? "" : ", and --modules FOLDER for modules"));
            } else if (!files.lackedModules().isEmpty()) {
                notes.add(
                        "no file of the modules "
                                + String.join(", ", files.lackedModules())
                                + ": --modules FOLDER names one that has NAME.ko somewhere below,"
                                + " with debugging information: the build folder, or what the"
                                + " debug package of the kernel installs");
            }
            return notes;
        }

        @Override
        public void close() {
            files.close();
        }
    }

    @Override
    public void close() {
        symbols.close();
    }
}
