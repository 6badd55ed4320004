package sonde.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Compiles C to BPF objects with the system's clang. What was compiled is kept under the source's
 * hash in {@code target/bpf-objects} of the project, where guests find it too.
 */
public final class Clang {
    private static final Path HEADERS = Path.of("/usr/include/bpf/bpf_helpers.h");
    private static final int SECONDS = 120;

    private Clang() {}

    /** What is missing to compile, with the remedy; empty when nothing. */
    public static Optional<String> lacks() {
        for (String folder : System.getenv().getOrDefault("PATH", "/usr/bin").split(":", -1)) {
            if (Files.isExecutable(Path.of(folder, "clang")) && Files.exists(HEADERS)) {
                return Optional.empty();
            }
        }
        return Optional.of("no clang or no libbpf headers; apt-get install clang libbpf-dev");
    }

    private static Path folder() {
        String root = System.getProperty("sonde.root", System.getProperty("java.io.tmpdir"));
        return Path.of(root, "target", "bpf-objects");
    }

    /** The object of a source, from before or compiled now. */
    public static Path object(Path source, String... options)
            throws IOException, InterruptedException {
        byte[] text = Files.readAllBytes(source);
        String name = source.getFileName().toString().replaceAll("\\.c$", "");
        Path kept = folder().resolve(hash(text, options)).resolve(name + ".o");
        if (Files.exists(kept)) {
            return kept;
        }
        Files.createDirectories(kept.getParent());
        Path draft = Files.createTempFile(kept.getParent(), name, ".draft");
        List<String> command =
                new ArrayList<>(
                        List.of(
                                "clang",
                                "-g",
                                "-O2",
                                "-target",
                                "bpf",
                                "-D__TARGET_ARCH_x86",
                                "-I/usr/include/x86_64-linux-gnu",
                                "-Wno-everything"));
        command.addAll(List.of(options));
        command.addAll(List.of("-c", source.toString(), "-o", draft.toString()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output;
        try (var in = process.getInputStream()) {
            output = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        if (!process.waitFor(SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroy();
            Files.deleteIfExists(draft);
            throw new IOException(source + ": " + output);
        }
        Files.move(draft, kept, StandardCopyOption.ATOMIC_MOVE);
        return kept;
    }

    /** Compiles every {@code *.bpf.c} of a folder. */
    public static void objects(Path folder) throws IOException, InterruptedException {
        List<Path> sources;
        try (var list = Files.list(folder)) {
            sources = list.filter(file -> file.toString().endsWith(".bpf.c")).sorted().toList();
        }
        for (Path source : sources) {
            object(source);
        }
    }

    private static String hash(byte[] text, String... options) {
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(String.join(" ", options).getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(digest.digest(text)).substring(0, 16);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
