package sonde.tools.leaks;

import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.symbol.files.GivenPlaces;
import sonde.sys.SyscallException;
import sonde.tools.option.GivenOptions;
import sonde.tools.option.OptionException;
import sonde.tools.option.SymbolArguments;
import sonde.tools.record.RunningTarget;

/** The command line of {@code sonde leaks}. */
public final class LeaksArguments {
    /** The options. */
    public static final String MODEL =
            """
            sonde leaks --alloc COMMAND --free COMMAND [OPTIONS]
            sonde leaks [OPTIONS] [--] COMMAND [ARGS...]
            sonde leaks -p PID --duration TIME [OPTIONS]
            sonde leaks --watch TIME [OPTIONS]

            Find memory that the kernel allocated and did not free: by stack, with source lines.

            Everything that is allocated while the first command runs is kept in a table, with its
            stack, until it is freed. What is left after the second command is a leak. Objects that
            were freed without an event are found free in their slabs. Caches that shrink when
            memory runs short are shown apart.

            Arguments:
              -- [COMMAND...]   a command after which everything should be freed

            Commands:
              --alloc COMMAND     run this shell command, and keep what is allocated meanwhile
              --free COMMAND      run this shell command after it; what it allocates does not count
              --settle TIME       wait up to this long for frees that come late, by RCU or work
                                  queues (0..1h, default 6s)

            What is watched:
              -a, --all           keep allocations of all tasks and interrupts, not only those of
                                  the commands
              -p, --pid PID       watch a running process and what it starts
              --duration TIME     watch for this long (1ms..24h, default 10s)
              --watch TIME        watch the whole machine for this long, and show which slab caches
                                  grow, and by which stacks (1s..24h)
              --no-pages          do not watch whole pages
              --max-objects N     keep at most N live objects (1000..100000000)

            Which stacks are shown:
              --module NAME       show stacks with code of this module (repeatable)
              --functions FILE|PATTERN
                                  show stacks with one of these functions: names in a file, as ctags
                                  writes them, or a pattern, as nsim_* (repeatable)
              --source DIR        show stacks with code of this source folder or file (repeatable)

            What is shown:
              --json              print JSON
            """
                    + SymbolArguments.KERNEL_SYMBOLS
                    + """

                    Examples:
                      sudo sonde leaks --alloc 'modprobe dummy' --free 'rmmod dummy'
                      sudo sonde leaks --alloc 'ip link set eth1 up' --free 'ip link set eth1 down'
                      sudo sonde leaks --alloc 'insmod foo.ko' --free 'rmmod foo' --module foo
                      sudo sonde leaks --watch 30s
                      sudo sonde leaks -- ./open-and-close

                    Exit status:
                      0 no leak, 1 leaks were found, 3 this kernel or user cannot
                    """;

    private static final int MOST_FILES = 10_000;
    private static final long MOST_BYTES = 16 << 20;
    private static final Pattern MODULE_FILE = Pattern.compile("(\\S*/)?[\\w-]+\\.ko\\b");
    private static final Pattern NAME = Pattern.compile("[A-Za-z_]\\w*");

    /** Functions at the start of a line of C, as the kernel writes them. */
    private static final Pattern DEFINED =
            Pattern.compile("(?m)^[A-Za-z_][^;={}()#]*?\\b([A-Za-z_]\\w*)\\s*\\(");

    private LeaksArguments() {}

    /** The request that the options make. */
    static LeaksRequest request(
            GivenOptions given, InheritedState origin, Consumer<String> progress)
            throws IOException {
        CommandWords own = own(given);
        CommandWords alloc = shell(given.text("--alloc"));
        CommandWords free = shell(given.text("--free"));
        List<Integer> pids = given.numbers("--pid");
        boolean watch = given.has("--watch");
        int ways =
                (own != null ? 1 : 0)
                        + (alloc != null ? 1 : 0)
                        + (pids.isEmpty() ? 0 : 1)
                        + (watch ? 1 : 0);
        if (ways != 1 || free != null && alloc == null || pids.size() > 1) {
            throw new OptionException(
                    "say what allocates, in one way: --alloc COMMAND --free COMMAND, a command,"
                            + " -p PID or --watch TIME");
        }
        if (!pids.isEmpty()) {
            RunningTarget.check(pids.getFirst());
        }
        long nanos =
                (watch ? given.nanos("--watch") : given.nanos("--duration"))
                        .orElse(10_000_000_000L);
        return new LeaksRequest(
                own == null ? alloc : own,
                own == null ? given.text("--alloc", "") : own.toString(),
                free,
                pids.isEmpty() ? 0 : pids.getFirst(),
                watch,
                nanos,
                given.nanos("--settle").orElse(6_000_000_000L),
                given.has("--all"),
                !given.has("--no-pages"),
                (int) given.number("--max-objects").orElse(0),
                filter(given),
                places(given, progress),
                origin);
    }

    private static @Nullable CommandWords own(GivenOptions given) throws SyscallException {
        List<String> words = given.words();
        boolean dashes = !words.isEmpty() && words.getFirst().equals("--");
        int count = words.size() - (dashes ? 1 : 0);
        return count == 0 ? null : CommandWords.lastArguments(count);
    }

    private static @Nullable CommandWords shell(@Nullable String command) {
        return command == null ? null : CommandWords.of("/bin/sh", "-c", command);
    }

    /** The folders of modules that the commands load are looked in, too. */
    private static GivenPlaces places(GivenOptions given, Consumer<String> progress) {
        GivenPlaces places = SymbolArguments.places(given, progress);
        List<String> folders = new ArrayList<>(places.folders());
        Matcher files = MODULE_FILE.matcher(given.text("--alloc", ""));
        while (files.find()) {
            Path folder = Path.of(files.group()).toAbsolutePath().getParent();
            if (folder != null && Files.isDirectory(folder)) {
                folders.add(folder.toString());
            }
        }
        return new GivenPlaces(folders, places.vmlinux(), places.servers());
    }

    private static LeakFilter filter(GivenOptions given) throws IOException {
        Set<String> modules = new HashSet<>();
        given.texts("--module").forEach(name -> modules.add(name.replace('-', '_')));
        Set<String> functions = new HashSet<>();
        List<Pattern> patterns = new ArrayList<>();
        for (String word : given.texts("--functions")) {
            Path file = Path.of(word);
            if (Files.isRegularFile(file)) {
                read(file).lines().forEach(line -> functions.add(line.strip().split("\\s", 2)[0]));
            } else if (word.contains("/")) {
                throw new OptionException(word + ": no such file");
            } else {
                patterns.add(Pattern.compile(globbed(word)));
            }
        }
        functions.remove("");
        List<String> sources = new ArrayList<>();
        for (String word : given.texts("--source")) {
            sources.add(word.replaceAll("^(\\./|/)+|/+$", ""));
            Path place = Path.of(word);
            if (Files.exists(place)) {
                defined(place, functions);
            }
        }
        return new LeakFilter(modules, functions, patterns, sources);
    }

    private static String globbed(String word) {
        StringBuilder pattern = new StringBuilder();
        for (char letter : word.toCharArray()) {
            pattern.append(
                    switch (letter) {
                        case '*' -> ".*";
                        case '?' -> ".";
                        default -> Pattern.quote(String.valueOf(letter));
                    });
        }
        return pattern.toString();
    }

    private static String read(Path file) throws IOException {
        if (Files.size(file) > MOST_BYTES) {
            throw new OptionException(file + " is larger than 16 MiB");
        }
        return Files.readString(file, java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    /** The functions that C files of a folder define: no debugging information is needed then. */
    private static void defined(Path place, Set<String> functions) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(place, FileVisitOption.FOLLOW_LINKS)) {
            files = all.filter(one -> one.toString().endsWith(".c")).limit(MOST_FILES).toList();
        }
        for (Path file : files) {
            Matcher matcher = DEFINED.matcher(read(file));
            while (matcher.find()) {
                if (NAME.matcher(matcher.group(1)).matches()) {
                    functions.add(matcher.group(1));
                }
            }
        }
    }
}
