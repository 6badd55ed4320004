package sonde.lang.bpftrace.code;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import sonde.binary.btf.CHeader;
import sonde.bpf.inventory.BtfSources;
import sonde.lang.bpftrace.expand.CodeFile;

/**
 * The compiler of functions in C. Objects come through a pipe; a file is made only of the kernel's
 * types, for sources that include {@value #KERNEL_HEADER} and bring none, and closing removes it.
 */
final class Clang implements AutoCloseable {
    /** The variable of the environment that names another clang than that of the path. */
    static final String VARIABLE = "SONDE_CLANG";

    private static final String KERNEL_HEADER = "vmlinux.h";
    private static final String PLACES = "/usr/local/bin:/usr/bin:/bin";
    private static final Path SYSTEM_HEADERS = Path.of("/usr/include/x86_64-linux-gnu");
    private static final int SECONDS = 60;
    private static final int MOST_OBJECT = 64 << 20;
    private static final int MOST_WORDS = 8 << 10;

    private final Path program;
    private final List<Path> folders;
    private @Nullable Path headers;

    /**
     * What clang made of a source.
     *
     * @param object empty where it made none
     * @param words what it says, errors and warnings
     */
    record ClangResult(byte[] object, String words) {}

    private Clang(Path program, List<Path> folders) {
        this.program = program;
        this.folders = folders;
    }

    /**
     * The clang of a machine; null for none.
     *
     * @param folders of headers, to look in first
     */
    static @Nullable Clang find(Map<String, String> environment, List<Path> folders) {
        String named = environment.getOrDefault(VARIABLE, "");
        String wanted = named.isEmpty() ? "clang" : named;
        String path = wanted.contains("/") ? "" : environment.getOrDefault("PATH", PLACES);
        for (String folder : path.split(":", -1)) {
            try {
                Path program = Path.of(folder).resolve(wanted).toAbsolutePath();
                if (Files.isExecutable(program) && Files.isRegularFile(program)) {
                    return new Clang(program, folders);
                }
            } catch (InvalidPathException e) {
                continue;
            }
        }
        return null;
    }

    /**
     * Compiles a source.
     *
     * @throws IOException when clang cannot be started, or takes too long
     */
    ClangResult compile(CodeFile source) throws IOException {
        ClangResult result = run(source);
        boolean wantsTypes =
                result.object.length == 0
                        && headers == null
                        && result.words.contains("'" + KERNEL_HEADER + "' file not found");
        if (!wantsTypes) {
            return result;
        }
        Path folder = Files.createTempDirectory("sonde-clang");
        headers = folder;
        try (Writer out = Files.newBufferedWriter(folder.resolve(KERNEL_HEADER))) {
            CHeader.writeFile(BtfSources.kernel(), List.of(), out);
        }
        return run(source);
    }

    private List<String> command(CodeFile source) {
        List<String> words =
                new ArrayList<>(
                        List.of(
                                program.toString(),
                                "-target",
                                "bpf",
                                "-mcpu=v3",
                                "-O2",
                                "-g",
                                "-c",
                                "-fno-color-diagnostics",
                                "-fno-crash-diagnostics",
                                "-D__TARGET_ARCH_x86",
                                "-idirafter",
                                SYSTEM_HEADERS.toString()));
        folders.forEach(folder -> words.add("-I" + folder));
        if (headers != null) {
            words.add("-I" + headers);
        }
        words.addAll(List.of("-o", "-"));
        words.addAll(source.text() == null ? List.of(source.name()) : List.of("-x", "c", "-"));
        return words;
    }

    private ClangResult run(CodeFile source) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command(source));
        String text = source.text();
        if (text == null) {
            builder.redirectInput(Path.of("/dev/null").toFile());
        }
        Process process = builder.start();
        try {
            CompletableFuture<byte[]> object = read(process.getInputStream(), MOST_OBJECT);
            CompletableFuture<byte[]> words = read(process.getErrorStream(), MOST_WORDS);
            if (text != null) {
                try (OutputStream in = process.getOutputStream()) {
                    in.write(text.getBytes(StandardCharsets.UTF_8));
                }
            }
            if (!process.waitFor(SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("clang took more than " + SECONDS + " s");
            }
            String said = new String(words.join(), StandardCharsets.UTF_8);
            return process.exitValue() == 0
                    ? new ClangResult(object.join(), said)
                    : new ClangResult(
                            new byte[0],
                            said.isBlank() ? "exit status " + process.exitValue() : said);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    /** Reads to the end on a thread of its own, and keeps the beginning. */
    private static CompletableFuture<byte[]> read(InputStream from, int most) {
        CompletableFuture<byte[]> read = new CompletableFuture<>();
        Thread.ofPlatform()
                .daemon()
                .name("clang")
                .start(() -> {
                    try (from) {
                        byte[] kept = from.readNBytes(most);
                        from.transferTo(OutputStream.nullOutputStream());
                        read.complete(kept);
                    } catch (IOException e) {
                        read.completeExceptionally(new UncheckedIOException(e));
                    }
                });
        return read;
    }

    @Override
    public void close() throws IOException {
        Path folder = headers;
        headers = null;
        if (folder != null) {
            Files.deleteIfExists(folder.resolve(KERNEL_HEADER));
            Files.deleteIfExists(folder);
        }
    }
}
