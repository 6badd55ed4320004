package sonde.tools.symbolize;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSegment;
import sonde.symbol.demangle.Demangler;
import sonde.symbol.line.SourceFrame;
import sonde.symbol.line.SourceSymbols;
import sonde.view.TextEscape;

/**
 * Writes a text with places behind what stands for an address: {@code do_idle+0x1f/0x40 [module]},
 * {@code [<ffffffff81000000>]}, {@code ./server(+0x1139)}, {@code libc.so.6(abort+0xf)}. Everything
 * else comes through unchanged, byte for byte: each is a character here (ISO 8859-1).
 */
final class LogFilter {
    /** Longer lines are no lines of a log, and come through unchanged. */
    private static final int MOST_LINE = 1 << 16;

    /**
     * The size that the kernel prints ends at the next function, which is aligned to this at most.
     */
    static final int MOST_PADDING = 64;

    private static final int PAGE_BYTES = 4096;

    /** A NUL ends a text in a binary log, and is in no path. */
    private static final String PATH = "(?<![^\\s:\\[\\x00])[^\\s()\\[:\\x00]{1,4096}";

    private static final String HEX = "[0-9a-f]{1,16}";

    private static final Pattern PLACE =
            Pattern.compile(
                    // backtrace_symbols(3); of a program that is not moved without the function
                    ("(?<file>PATH)\\((?<function>[A-Za-z_.$][\\w.$]*+)?\\+0x(?<plain>HEX)\\)"
                                    + "|(?<fixed>PATH)(?:\\(\\) ?)?\\[0x(?<at>HEX)\\]"
                                    // a sanitizer
                                    + "|(?<=[\\s\\x00])\\((?<image>/[^\\s()\\x00]{1,4095})\\+0x(?<stated>HEX)\\)"
                                    + "(?: \\(BuildId: (?<id>[0-9a-f]{2,128})\\))?"
                                    // systemd-coredump
                                    + "|\\((?<object>[^\\s()\\x00]{1,4096}) \\+ 0x(?<into>HEX)\\)"
                                    // a JVM
                                    + "|(?<=[\\s\\x00])\\[(?<library>[^\\s()\\[\\]+\\x00]{1,4096})"
                                    + "\\+0x(?<within>HEX)\\]"
                                    // the kernel, of a program that it ends
                                    + "| in (?<mapped>[^\\s\\[\\]]{1,255})"
                                    + "\\[(?:(?<offset>HEX),)?(?<start>HEX)\\+(?<length>HEX)\\]"
                                    // the kernel
                                    + "|(?<![\\w.$])(?<name>[A-Za-z_.$][\\w.$]*+)"
                                    + "\\+0x(?<far>[0-9a-f]{1,8})"
                                    + "(?:/0x(?<size>HEX))?"
                                    + "(?: \\[(?<module>[\\w-]{1,64})"
                                    + "(?: (?<build>[0-9a-f]{8,64}))?\\])?"
                                    + "|\\[<(?:0x)?(?<address>[0-9a-f]{8,16})>\\]"
                                    + "(?! +(?:\\? |\\[<(?:0x)?[0-9a-f]{8,16}>\\] )?"
                                    + "\\(?[\\w.$]*+\\+0x)")
                            .replace("PATH", PATH)
                            .replace("HEX", HEX));

    /** What the next place is: the instruction itself, or one behind a call. */
    private static final Pattern LABEL =
            Pattern.compile(
                    "(?<exact>\\b(?:E?R?IP|pc|PC|epc|NIP|PSW|ERA|era|TPC|IAOQ"
                            + "|WARNING|BUG|KASAN|KMSAN|UBSAN)\\b"
                            + "|#0 +0x|^# +[A-Za-z] |--- (?:interrupt|Exception): )"
                            + "|\\b(?:lr|LR|ra|RA|RPC)\\b");

    private static final Pattern IP = Pattern.compile("\\bip[: ](?<ip>[0-9a-f]{8,16})\\b");

    private final LogFiles files;
    private final OutputStream out;
    private final Map<String, String> answers = new HashMap<>();
    private final String prefix;
    private boolean isTop;
    private boolean lacksKernel;

    LogFilter(LogFiles files, OutputStream out) throws IOException {
        this.files = files;
        this.out = out;
        SourceSymbols program = files.program();
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
    void copy(InputStream from) throws IOException {
        Reader in = new BufferedReader(new InputStreamReader(from, StandardCharsets.ISO_8859_1));
        StringBuilder line = new StringBuilder();
        boolean tooLong = false;
        for (int c = in.read(); c >= 0; c = in.read()) {
            line.append((char) c);
            boolean end = c == '\n';
            if (end || line.length() == MOST_LINE) {
                write(end && !tooLong ? rewritten(line.toString()) : line.toString());
                tooLong = !end;
                line.setLength(0);
                if (!in.ready()) {
                    out.flush();
                }
            }
        }
        write(tooLong ? line.toString() : rewritten(line.toString()));
        out.flush();
    }

    private void write(String line) throws IOException {
        out.write(line.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** A line with what is known put behind each place. */
    String rewritten(String line) throws IOException {
        boolean exact = isTop;
        // What follows is the innermost frame; of s390 where it branched to there.
        isTop = line.startsWith("Native frames:") || line.contains("Breaking-Event-Address:");
        if (!mayHold(line)) {
            return line;
        }
        Matcher place = PLACE.matcher(line);
        Matcher label = LABEL.matcher(line);
        boolean labelled = label.find();
        StringBuilder changed = new StringBuilder();
        int copied = 0;
        while (place.find()) {
            while (labelled && label.end() <= place.start()) {
                exact = label.group("exact") != null;
                labelled = label.find();
            }
            // arm64 marks what it took from saved registers since 6.13 (dump_backtrace_entry).
            boolean saved = line.startsWith(" (P", place.end());
            String answer = answer(place, exact || saved, line);
            // The kernel alone prints the size of a function.
            lacksKernel |=
                    files.program() == null && answer.isEmpty() && place.group("size") != null;
            if (!answer.isEmpty()) {
                int behind = behind(place);
                changed.append(line, copied, behind).append(" (").append(answer).append(')');
                copied = behind;
            }
        }
        return copied == 0 ? line : changed.append(line, copied, line.length()).toString();
    }

    /** How many functions of the kernel lines name that its image has, and how many do not fit. */
    static int[] sizes(LogFiles files, List<String> lines) throws IOException {
        SourceSymbols kernel = files.program();
        Set<String> seen = new HashSet<>();
        int[] counts = new int[2];
        for (String line : lines) {
            Matcher place = PLACE.matcher(mayHold(line) ? line : "");
            while (kernel != null && place.find()) {
                String name = place.group("name");
                String size = place.group("size");
                if (name == null
                        || size == null
                        || place.group("module") != null
                        || !seen.add(name + size)
                        || kernel.addresses(name).length == 0) {
                    continue;
                }
                counts[0]++;
                counts[1] += kernel.addresses(name, hex(size), MOST_PADDING).length == 0 ? 1 : 0;
            }
        }
        return counts;
    }

    private static boolean mayHold(String line) {
        return line.contains("+0x")
                || line.contains("[<")
                || line.contains("[0x")
                || line.contains(" + 0x")
                || line.contains(" in ") && line.contains("[");
    }

    /** Where the answer goes: what is said of the file stays behind it. */
    private static int behind(Matcher place) {
        if (place.group("image") != null) {
            return place.end("stated") + 1;
        }
        return place.group("module") == null ? place.end() : place.start("module") - 2;
    }

    /** Whether there were frames of a kernel, and no program was given that may be it. */
    boolean lacksKernel() {
        return lacksKernel;
    }

    /** Whether the text around a place leaves the function out. */
    private static boolean isNameless(Matcher place, String line) {
        if (place.group("image") != null) {
            return line.lastIndexOf(" in ", place.start()) < 0;
        } else if (place.group("object") != null) {
            return line.startsWith("n/a ", place.start() - 4);
        } else if (place.group("library") != null) {
            return !line.startsWith("  ", place.end());
        }
        return place.group("address") != null;
    }

    private String answer(Matcher place, boolean exact, String line) throws IOException {
        if (place.group("mapped") != null) {
            return inMapping(place, line);
        }
        boolean nameless = isNameless(place, line);
        String key = place.group() + (exact ? "!" : "") + (nameless ? "?" : "");
        String known = answers.get(key);
        if (known == null) {
            known = find(place, exact, nameless);
            if (answers.size() > MOST_LINE) {
                answers.clear();
            }
            answers.put(key, known);
        }
        return known;
    }

    private String find(Matcher place, boolean exact, boolean nameless) throws IOException {
        if (place.group("name") != null || place.group("address") != null) {
            return inKernel(place, exact);
        }
        try {
            if (place.group("file") != null) {
                return inFile(place, exact);
            } else if (place.group("fixed") != null) {
                return inFixed(place, exact);
            } else if (place.group("image") != null) {
                return inImage(place, nameless);
            }
            return inObject(place, exact, nameless);
        } catch (IOException e) {
            return ""; // damaged: the rest of the text goes on
        }
    }

    private String inKernel(Matcher place, boolean exact) throws IOException {
        SourceSymbols symbols = files.program();
        String module = place.group("module");
        if (module != null) {
            symbols = files.module(module).orElse(null);
        }
        if (symbols == null
                || module != null && !files.isBuild(symbols, module, place.group("build"))) {
            return "";
        }
        String address = place.group("address");
        if (address != null) {
            return described(symbols, hex(address) - (exact ? 0 : 1), true);
        }
        String size = place.group("size");
        long[] starts =
                size == null
                        ? symbols.addresses(place.group("name"))
                        : symbols.addresses(place.group("name"), hex(size), MOST_PADDING);
        return described(symbols, starts, hex(place.group("far")), exact);
    }

    private static long hex(String digits) {
        return Long.parseUnsignedLong(digits, 16);
    }

    /** {@code FILE(FUNCTION+0x1f)} and {@code FILE(+0x1139)}, as backtrace_symbols(3) writes. */
    private String inFile(Matcher place, boolean exact) throws IOException {
        SourceSymbols symbols = files.file(place.group("file")).orElse(null);
        if (symbols == null) {
            return "";
        }
        String function = place.group("function");
        long plain = hex(place.group("plain"));
        return function == null
                ? described(symbols, plain - (exact || plain == 0 ? 0 : 1), true)
                : described(symbols, symbols.addresses(function), plain, exact);
    }

    /** {@code FILE() [0x401139]} and {@code FILE[0x401139]} of a program that is never moved. */
    private String inFixed(Matcher place, boolean exact) throws IOException {
        SourceSymbols symbols = files.file(place.group("fixed")).orElse(null);
        long address = hex(place.group("at")) - (exact ? 0 : 1);
        boolean known =
                symbols != null
                        && symbols.elf().type() == ElfFile.ET_EXEC
                        && symbols.isCode(address);
        return symbols == null || !known ? "" : described(symbols, address, true);
    }

    /** {@code (FILE+0x27249)} of a sanitizer, which has gone back into the call already. */
    private String inImage(Matcher place, boolean nameless) throws IOException {
        String name = place.group("image");
        SourceSymbols symbols = files.file(name).orElse(null);
        return symbols == null || !files.isBuild(symbols, name, place.group("id"))
                ? ""
                : described(symbols, hex(place.group("stated")), nameless);
    }

    /** {@code (FILE + 0x1139)} and {@code [FILE+0x1139]}, from where the file begins in memory. */
    private String inObject(Matcher place, boolean exact, boolean nameless) throws IOException {
        boolean isCore = place.group("object") != null;
        String name = place.group(isCore ? "object" : "library");
        // Without a folder it may be any file of that name.
        SourceSymbols symbols =
                (name.startsWith("/") ? files.file(name) : files.ifProgram(name)).orElse(null);
        if (symbols == null) {
            return "";
        }
        long offset = hex(place.group(isCore ? "into" : "within"));
        long address = begin(symbols.elf()) + offset - (exact ? 0 : 1);
        return described(symbols, address, nameless);
    }

    /** Where the first page of a file is loaded, as stated in the ELF. */
    private static long begin(ElfFile elf) {
        for (ElfSegment segment : elf.segments()) {
            if (segment.type() == ElfFile.PT_LOAD) {
                return segment.address() & -PAGE_BYTES;
            }
        }
        return 0;
    }

    /**
     * {@code segfault at 0 ip 000055d0c9d5b139 … in prog[1139,55d0c9d5b000+1000]}; kernels before
     * 6.12 leave the offset in the file out.
     */
    private String inMapping(Matcher place, String line) {
        SourceSymbols symbols = files.ifProgram(place.group("mapped")).orElse(null);
        if (symbols == null) {
            return "";
        }
        try {
            String offset = place.group("offset");
            OptionalLong address =
                    offset == null
                            ? inCode(symbols.elf(), place, line)
                            : OptionalLong.of(symbols.elf().addressOf(hex(offset)));
            return address.isEmpty() || !symbols.isCode(address.getAsLong())
                    ? ""
                    : described(symbols, address.getAsLong(), true);
        } catch (IOException e) {
            return ""; // damaged: the rest of the text goes on
        }
    }

    /** The address by how far the instruction is in the mapping with the code. */
    private static OptionalLong inCode(ElfFile elf, Matcher place, String line) {
        Matcher ip = IP.matcher(line);
        List<ElfSegment> code = elf.segments().stream().filter(ElfSegment::isCode).toList();
        if (!ip.find() || code.size() != 1) {
            return OptionalLong.empty();
        }
        long far = hex(ip.group("ip")) - hex(place.group("start"));
        return Long.compareUnsigned(far, hex(place.group("length"))) < 0
                ? OptionalLong.of((code.getFirst().address() & -PAGE_BYTES) + far)
                : OptionalLong.empty();
    }

    private String described(SourceSymbols symbols, long[] starts, long offset, boolean exact)
            throws IOException {
        if (starts.length == 0) {
            return "";
        }
        long back = exact || offset == 0 ? 0 : 1;
        String first = described(symbols, starts[0] + offset - back, false);
        return starts.length > 1 && !first.isEmpty() ? first + " or another" : first;
    }

    /**
     * {@code file:line}, or where calls were inlined all of them, innermost first; as bytes.
     *
     * @param nameless whether the text does not name the function
     */
    private String described(SourceSymbols symbols, long address, boolean nameless)
            throws IOException {
        List<SourceFrame> frames = symbols.lookup(address);
        StringBuilder text = new StringBuilder();
        for (SourceFrame frame : frames) {
            if (!frame.hasPlace()) {
                continue;
            }
            text.append(text.isEmpty() ? "" : " < ");
            if (nameless || frames.size() > 1) {
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
        byte[] bytes = TextEscape.line(text.toString()).getBytes(StandardCharsets.UTF_8);
        return new String(bytes, StandardCharsets.ISO_8859_1);
    }

    private String shortened(String file) {
        String plain = file.replace("/./", "/");
        boolean below = !prefix.isEmpty() && plain.startsWith(prefix);
        return below ? plain.substring(prefix.length()) : plain;
    }
}
