package sonde.tools.trace;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.ahead.AotFile;
import sonde.lang.bpftrace.ahead.AotReader;
import sonde.lang.source.SourceText;

/** Reads scripts: texts, files, and files that {@code --compile} wrote. */
public final class ScriptInput {
    private static final long MOST_FILE_BYTES = 64 << 20;

    private ScriptInput() {}

    /**
     * The text of a script.
     *
     * @param in standard input
     * @param err is told why there is none
     * @return null where there is none
     */
    public static @Nullable SourceText read(
            TraceRequest.ScriptChoice choice, InputStream in, PrintWriter err) throws IOException {
        String file = choice.file();
        if (choice.program().isPresent()) {
            return new SourceText(choice.name(), choice.program().get());
        }
        if (file == null) {
            return null;
        }
        if (file.equals("-")) {
            return new SourceText("stdin", new String(in.readAllBytes(), StandardCharsets.UTF_8));
        }
        Path path = Path.of(file.indexOf('{') >= 0 ? "." : file);
        if (file.indexOf('{') >= 0 && !Files.isRegularFile(path)) {
            return new SourceText("stdin", file);
        }
        if (Files.isReadable(path) && !Files.isDirectory(path)) {
            return new SourceText(path.getFileName().toString(), Files.readString(path));
        }
        err.println("ERROR: failed to open file '" + file + "': No such file or directory");
        if (file.indexOf('}') >= 0 || file.indexOf('(') >= 0) {
            err.println("HINT: a program has what it does in braces: 'begin { exit(); }'");
        } else if (file.matches("[\\w.*-]*(:[\\w.*-]*)+")) {
            err.println(
                    "HINT: a probe is not a program: 'sonde tool funccount "
                            + file
                            + "' counts, 'sonde trace -l' lists");
        }
        err.flush();
        return null;
    }

    /** Whether the file is a script that was compiled before. */
    public static boolean isCompiled(TraceRequest.ScriptChoice choice) throws IOException {
        String file = choice.file();
        if (file == null || file.indexOf('{') >= 0 || !Files.isRegularFile(Path.of(file))) {
            return false;
        }
        try (InputStream in = Files.newInputStream(Path.of(file))) {
            return AotReader.isCompiled(in.readNBytes(8));
        }
    }

    /** The script that was compiled before. */
    static AotFile compiled(TraceRequest.ScriptChoice choice) throws IOException {
        Path path = Path.of(choice.fileOr(""));
        if (Files.size(path) > MOST_FILE_BYTES) {
            throw new IOException(path + " has more than " + MOST_FILE_BYTES + " bytes");
        }
        return AotReader.read(path.toString(), Files.readAllBytes(path));
    }
}
