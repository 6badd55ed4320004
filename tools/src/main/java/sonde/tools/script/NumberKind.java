package sonde.tools.script;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.IntStream;
import sonde.sys.Arch;
import sonde.sys.Errno;
import sonde.sys.SignalNames;
import sonde.sys.SyscallNames;
import sonde.tools.option.OptionException;

/** An option whose value is a number that people know by a name. */
enum NumberKind {
    SIGNAL("signal", "9 or KILL", NumberKind::signal),
    ERRNO("errno", "2 or ENOENT", NumberKind::errno),
    USER("user", "1000 or a name", NumberKind::user),
    SYSCALL("syscall", "0 or read", NumberKind::syscall),
    OPEN_FLAG("flag", "O_WRONLY or O_CREAT|O_EXCL", NumberKind::openFlags),
    STATE("state", "2 or D", NumberKind::state);

    private static final Path USERS = Path.of("/etc/passwd");
    private static final int MOST_ERRNO = 4095;

    /** include/uapi/asm-generic/fcntl.h; those that arm has of its own are not there. */
    private static final Map<String, Integer> OPEN_FLAGS =
            Map.ofEntries(
                    Map.entry("O_RDONLY", 0),
                    Map.entry("O_WRONLY", 01),
                    Map.entry("O_RDWR", 02),
                    Map.entry("O_CREAT", 0100),
                    Map.entry("O_EXCL", 0200),
                    Map.entry("O_NOCTTY", 0400),
                    Map.entry("O_TRUNC", 01000),
                    Map.entry("O_APPEND", 02000),
                    Map.entry("O_NONBLOCK", 04000),
                    Map.entry("O_DSYNC", 010000),
                    Map.entry("O_NOATIME", 01000000),
                    Map.entry("O_CLOEXEC", 02000000),
                    Map.entry("O_SYNC", 04010000),
                    Map.entry("O_PATH", 010000000));

    /**
     * From 040000 on as x86 has them; arm64 begins with the third
     * (arch/arm64/include/uapi/asm/fcntl.h).
     */
    private static final List<String> OF_MACHINES =
            List.of("O_DIRECT", "O_LARGEFILE", "O_DIRECTORY", "O_NOFOLLOW");

    /** The letters of ps, from TASK_RUNNING on: include/linux/sched.h. */
    private static final String STATES = "RSDTt";

    private final String word;
    private final String examples;
    private final Function<String, OptionalLong> reader;

    NumberKind(String word, String examples, Function<String, OptionalLong> reader) {
        this.word = word;
        this.examples = examples;
        this.reader = reader;
    }

    /** What it is called in a rule and in messages. */
    String word() {
        return word;
    }

    /**
     * The number that a word of the command line is.
     *
     * @param option with its dashes, for the message
     */
    long number(String option, String value) {
        OptionalLong number =
                value.matches("[0-9]{1,9}")
                        ? OptionalLong.of(Long.parseLong(value))
                        : reader.apply(value);
        return number.orElseThrow(() ->
                new OptionException(
                        option + ": '" + value + "' is no " + word + "; write " + examples));
    }

    private static OptionalLong of(OptionalInt number) {
        return number.isPresent() ? OptionalLong.of(number.getAsInt()) : OptionalLong.empty();
    }

    private static OptionalLong signal(String value) {
        return of(SignalNames.number(value));
    }

    private static OptionalLong errno(String value) {
        String name = value.toUpperCase(Locale.ROOT);
        return of(
                IntStream.rangeClosed(1, MOST_ERRNO)
                        .filter(number -> Errno.name(number).equals(name))
                        .findFirst());
    }

    private static OptionalLong syscall(String value) {
        int number = SyscallNames.of(Arch.current()).numberOf(value);
        return number < 0 ? OptionalLong.empty() : OptionalLong.of(number);
    }

    private static OptionalLong user(String value) {
        try {
            return Files.readAllLines(USERS).stream()
                    .map(line -> line.split(":", -1))
                    .filter(user -> user.length > 2 && user[0].equals(value))
                    .filter(user -> user[2].matches("[0-9]{1,10}"))
                    .mapToLong(user -> Long.parseLong(user[2]))
                    .findFirst();
        } catch (IOException e) {
            return OptionalLong.empty();
        }
    }

    private static OptionalLong openFlags(String value) {
        long flags = 0;
        for (String name : value.toUpperCase(Locale.ROOT).split("[|,]", -1)) {
            String whole = name.startsWith("O_") ? name : "O_" + name;
            int ofMachine = OF_MACHINES.indexOf(whole);
            Integer known = OPEN_FLAGS.get(whole);
            if (ofMachine < 0 && known == null) {
                return OptionalLong.empty();
            }
            flags |= known == null ? ofMachine(ofMachine) : known;
        }
        return OptionalLong.of(flags);
    }

    private static long ofMachine(int index) {
        int turn = Arch.current() == Arch.X86_64 ? 0 : 2;
        return 040000L << (index + turn) % OF_MACHINES.size();
    }

    private static OptionalLong state(String value) {
        int index = value.length() == 1 ? STATES.indexOf(value) : -1;
        return index < 0 ? OptionalLong.empty() : OptionalLong.of(index == 0 ? 0 : 1L << index - 1);
    }
}
