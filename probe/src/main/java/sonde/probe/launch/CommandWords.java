package sonde.probe.launch;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;
import sonde.sys.FileCalls;
import sonde.sys.FileStatus;
import sonde.sys.SyscallException;

/**
 * The words of a command, as bytes: the kernel knows no character set.
 *
 * @param words the program as the user named it, then its arguments; at least one
 * @param shown what the program is called instead of the first word; empty for that word
 */
public record CommandWords(List<byte[]> words, String shown) {
    private static final int ARGUMENTS_LIMIT = 64 << 20;
    private static final String DEFAULT_PATH = "/bin:/usr/bin";

    /** Refuses a command without words. */
    public CommandWords {
        if (words.isEmpty()) {
            throw new IllegalArgumentException("no command");
        }
        words = List.copyOf(words);
    }

    /** Words as they are. */
    public CommandWords(List<byte[]> words) {
        this(words, "");
    }

    /** The same program under another name. */
    public CommandWords called(String name) {
        return new CommandWords(words, name);
    }

    /** The words that the program gets. */
    List<byte[]> arguments() {
        if (shown.isEmpty()) {
            return words;
        }
        List<byte[]> changed = new ArrayList<>(words);
        changed.set(0, shown.getBytes(StandardCharsets.UTF_8));
        return changed;
    }

    /** Words in UTF-8. */
    public static CommandWords of(String... words) {
        return new CommandWords(
                Arrays.stream(words).map(w -> w.getBytes(StandardCharsets.UTF_8)).toList());
    }

    /**
     * The last words of this process's own command line, byte for byte: the JVM has decoded what
     * main gets in some character set, and words outside it are damaged there.
     *
     * @param count how many arguments of main belong to the command
     */
    public static CommandWords lastArguments(int count) throws SyscallException {
        List<byte[]> all = split(FileCalls.readAll("/proc/self/cmdline", ARGUMENTS_LIMIT));
        if (count < 1 || count > all.size()) {
            throw new IllegalArgumentException(count + " of " + all.size() + " arguments");
        }
        return new CommandWords(all.subList(all.size() - count, all.size()));
    }

    /** Strings of which each ends with NUL. */
    static List<byte[]> split(byte[] block) {
        List<byte[]> strings = new ArrayList<>();
        int start = 0;
        for (int at = 0; at < block.length; at++) {
            if (block[at] == 0) {
                strings.add(Arrays.copyOfRange(block, start, at));
                start = at + 1;
            }
        }
        return strings;
    }

    /** The words for people, blanks and non-printing characters quoted as a shell would need. */
    @Override
    public String toString() {
        StringBuilder line = new StringBuilder();
        for (byte[] word : words) {
            String text = new String(word, StandardCharsets.UTF_8);
            line.append(line.isEmpty() ? "" : " ");
            if (text.matches("[-\\w./:=,@%+]+")) {
                line.append(text);
            } else {
                String printable = text.replaceAll("\\p{Cntrl}", "?");
                line.append('\'').append(printable.replace("'", "'\\''")).append('\'');
            }
        }
        return line.toString();
    }

    /**
     * The file a shell would execute, by the rules of execvp(3): a name with a slash is taken as it
     * is; otherwise the first executable one in PATH (unset: {@value #DEFAULT_PATH}; an empty entry
     * is the current directory); a file that may not be executed is remembered and passed over.
     *
     * @throws ExecException with 127 when there is none, 126 when one was found but refused
     */
    byte[] resolve(byte @Nullable [] path) throws ExecException {
        byte[] name = words.getFirst();
        if (name.length == 0) {
            throw new ExecException(this, Errno.ENOENT);
        }
        if (indexOf(name, (byte) '/', 0) >= 0) {
            int errno = refusal(name);
            if (errno != 0) {
                throw new ExecException(this, errno);
            }
            return name;
        }
        byte[] folders = path == null ? DEFAULT_PATH.getBytes(StandardCharsets.US_ASCII) : path;
        int answer = Errno.ENOENT;
        int start = 0;
        while (start <= folders.length) {
            int colon = indexOf(folders, (byte) ':', start);
            int end = colon < 0 ? folders.length : colon;
            byte[] candidate = join(folders, start, end, name);
            int errno = refusal(candidate);
            if (errno == 0) {
                return candidate;
            }
            if (errno == Errno.EACCES) {
                answer = errno;
            }
            start = end + 1;
        }
        throw new ExecException(this, answer);
    }

    private static byte[] join(byte[] folders, int start, int end, byte[] name) {
        if (start == end) {
            return name;
        }
        byte[] joined = Arrays.copyOfRange(folders, start, end + 1 + name.length);
        joined[end - start] = '/';
        System.arraycopy(name, 0, joined, end - start + 1, name.length);
        return joined;
    }

    private static int indexOf(byte[] bytes, byte wanted, int from) {
        for (int i = from; i < bytes.length; i++) {
            if (bytes[i] == wanted) {
                return i;
            }
        }
        return -1;
    }

    /** Why execve would refuse the file: an errno, or 0. */
    private static int refusal(byte[] file) {
        try {
            FileStatus status = FileCalls.statx(FileCalls.AT_FDCWD, file, 0);
            if (!status.isRegular()) {
                return Errno.EACCES;
            }
        } catch (SyscallException e) {
            return e.errno();
        }
        return FileCalls.access(FileCalls.AT_FDCWD, file, FileCalls.X_OK);
    }
}
