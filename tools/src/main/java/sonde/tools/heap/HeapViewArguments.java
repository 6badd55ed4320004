package sonde.tools.heap;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapSums;
import sonde.event.result.Report;
import sonde.exchange.heap.HeapFile;
import sonde.exchange.heap.HeapFormat;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.OptionWords;

/** The part of the command line of {@code sonde heap} that chooses what of a profile is shown. */
public final class HeapViewArguments {
    /** The whole command line. */
    public static final String MODEL =
            """
            sonde heap [OPTIONS] [--] COMMAND [ARGS...]
            sonde heap [OPTIONS] -p PID
            sonde heap [OPTIONS] FILE [FILE]

            Show what a program allocated, what made its peak, and what it did not free.

            Arguments:
              -- [COMMAND...]   a command that is started
              FILE            a file of heaptrack, massif, mtrace, memusage -d, jemalloc, tcmalloc
                              or pprof, also compressed; with a second one: what changed
            """
                    + HeapArguments.MODEL
                    + """

                    What is shown (without these options: a summary of everything):
                      --peak          show which functions had the memory when the heap was largest
                      --leaked        show which functions allocated what was not freed at the end
                      --allocations   show which functions allocated most often
                      --temporary     show which functions allocated blocks that were freed before the next
                                      allocation
                      --allocated     show which functions allocated the most bytes
                      --curve         draw the heap over time
                      --tree          show the call tree at the peak, or at the time of --at
                      --at TIME       show the heap at this time since the start, as 1.5s
                      --sizes         show a histogram of the sizes of blocks
                      --rows N      print at most N rows of a table (1..2147483647, default 10)
                      --backtraces N  with a ranking: show at most N call stacks of a function
                                      (0..2147483647, default 5)
                      --filter-bt-function TEXT
                                      show only stacks with a function that has this text in its name
                      --suppressions FILE
                                      leave out leaks that match a line leak:PATTERN of this file, as LSan
                                      takes it
                      --disable-embedded-suppressions
                                      do not apply the suppressions that a file of heaptrack has
                      --html FILE     write a self-contained page with the curve, rankings, sizes and flame
                                      graphs, - is standard output
                      --overwrite     with --html: overwrite FILE if it exists
                      --merge-backtraces 0|1
                                      put stacks of the same function and line into one row (default 1)
                      --json          print JSON

                    Examples:
                      sonde heap -- ./server
                      sonde heap heaptrack.make.1234.zst --leaked
                      sonde heap --html make.html heaptrack.make.1234.zst
                      sonde heap yesterday.massif today.massif
                    """;

    private static final List<String> SECTIONS =
            List.of(
                    "--peak",
                    "--leaked",
                    "--allocations",
                    "--temporary",
                    "--allocated",
                    "--curve",
                    "--tree",
                    "--sizes");

    private HeapViewArguments() {}

    /** Whether the words name a file of a heap profiler, not a command. */
    public static boolean namesFile(GivenOptions given) throws IOException {
        if (given.words().isEmpty() || !given.texts("--pid").isEmpty()) {
            return false;
        }
        Path file = Path.of(given.words().getFirst());
        boolean noProgram = Files.isRegularFile(file) && !Files.isExecutable(file);
        return noProgram || HeapFormat.isOne(file);
    }

    /** The options before and behind the files: a command's words would be its own. */
    public static GivenOptions aroundFiles(GivenOptions given) {
        GivenOptions all = new GivenOptions(given.model());
        all.addOptions(given);
        List<String> words = given.words();
        while (!words.isEmpty()) {
            all.addWord(words.getFirst());
            GivenOptions behind = OptionWords.read(given.model(), words.subList(1, words.size()));
            all.addOptions(behind);
            words = behind.words();
        }
        all.check();
        return all;
    }

    /** What a file of a heap profiler says. */
    public static Report report(GivenOptions given) throws IOException {
        List<Path> files = given.paths();
        if (files.size() > 2) {
            throw new OptionException("name one file of a heap profiler, or two to compare them");
        }
        HeapFile first = read(given, files.getFirst());
        if (files.size() == 1) {
            return new HeapReport(first, view(given, name(files.getFirst()))).report();
        }
        HeapFile second = read(given, files.getLast());
        String title = name(files.getFirst()) + " and " + name(files.getLast());
        return new HeapDifference(first.profile(), second.profile(), view(given, title)).report();
    }

    private static String name(Path file) {
        return String.valueOf(file.getFileName());
    }

    private static HeapFile read(GivenOptions given, Path path) throws IOException {
        long moment = given.nanos("--at").orElse(HeapSums.UNKNOWN);
        return selected(given, HeapSymbols.named(HeapFormat.read(path, moment), path));
    }

    private static HeapFile selected(GivenOptions given, HeapFile file) throws IOException {
        List<String> patterns = new ArrayList<>();
        Path suppressions = given.path("--suppressions");
        if (suppressions != null) {
            patterns.addAll(HeapSelection.patterns(suppressions));
        }
        if (!given.has("--disable-embedded-suppressions")) {
            file.suppressions().forEach(line -> patterns.add(line.replaceFirst("^leak:", "")));
        }
        String function = given.text("--filter-bt-function", "");
        HeapFile kept = HeapSelection.without(file, patterns);
        return function.isEmpty() ? kept : HeapSelection.with(kept, function);
    }

    /** What one file says, as a page. */
    public static HeapPage page(GivenOptions given) throws IOException {
        if (given.paths().size() != 1) {
            throw new OptionException("--html needs one file of a heap profiler");
        }
        Path path = given.paths().getFirst();
        HeapFile file = read(given, path);
        return page(file, view(given, name(path)));
    }

    /** What was watched, as a page. */
    public static HeapPage page(HeapProfile profile, GivenOptions given) throws IOException {
        HeapFile file = selected(given, new HeapFile(profile, List.of(), List.of()));
        return page(file, view(given, "heap"));
    }

    private static HeapPage page(HeapFile file, HeapView view) {
        Report report = new HeapReport(file, view.onPage()).report();
        return HeapPage.of(report, file.profile());
    }

    /** What was watched. */
    public static Report report(HeapProfile profile, GivenOptions given) throws IOException {
        if (given.has("--at")) {
            throw new OptionException("--at needs a file: the past of a watch is not kept");
        }
        HeapFile file = selected(given, new HeapFile(profile, List.of(), List.of()));
        return new HeapReport(file, view(given, "heap")).report();
    }

    private static HeapView view(GivenOptions given, String title) {
        Set<String> sections = new TreeSet<>();
        SECTIONS.stream().filter(given::has).forEach(name -> sections.add(name.substring(2)));
        if (given.has("--at")) {
            sections.add("leaked");
            sections.add("tree");
        }
        return new HeapView(
                title,
                sections,
                (int) given.number("--rows").orElse(10),
                (int) given.number("--backtraces").orElse(5),
                !given.text("--merge-backtraces", "1").equals("0"),
                given.text("--at", ""),
                new ArrayList<>());
    }
}
