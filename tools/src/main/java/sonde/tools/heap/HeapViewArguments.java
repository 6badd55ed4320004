package sonde.tools.heap;

import java.io.IOException;
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

/** The part of the command line of {@code sonde heap} that chooses what of a profile is shown. */
public final class HeapViewArguments {
    /** The options. */
    public static final String MODEL =
            """

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
              --stacks N      with a ranking: show at most N call stacks of a function
                              (0..2147483647, default 5)
              --merge-backtraces 0|1
                              put stacks of the same function and line into one row (default 1)
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
        return !given.words().isEmpty()
                && given.texts("--pid").isEmpty()
                && HeapFormat.isOne(Path.of(given.words().getFirst()));
    }

    /** What a file of a heap profiler says. */
    public static Report report(GivenOptions given) throws IOException {
        List<Path> files = given.paths();
        if (files.size() != 1) {
            throw new OptionException("name one file of a heap profiler");
        }
        Path file = files.getFirst();
        long moment = given.nanos("--at").orElse(HeapSums.UNKNOWN);
        String title = String.valueOf(file.getFileName());
        return new HeapReport(HeapFormat.read(file, moment), view(given, title)).report();
    }

    /** What was watched. */
    public static Report report(HeapProfile profile, GivenOptions given) {
        if (given.has("--at")) {
            throw new OptionException("--at needs a file: the past of a watch is not kept");
        }
        HeapFile file = new HeapFile(profile, List.of(), List.of());
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
                (int) given.number("--stacks").orElse(5),
                !given.text("--merge-backtraces", "1").equals("0"),
                given.text("--at", ""),
                new ArrayList<>());
    }
}
