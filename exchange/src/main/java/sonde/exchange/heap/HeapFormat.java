package sonde.exchange.heap;

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PushbackInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.archive.UnwrappedFiles;
import sonde.binary.archive.WrapperFormat;
import sonde.event.heap.HeapSums;

/** The files of heap profilers, recognised by their content. */
public enum HeapFormat {
    /** heaptrack, after it was interpreted. */
    HEAPTRACK("heaptrack"),
    /** valgrind's massif, also as heaptrack_print writes it. */
    MASSIF("massif"),
    /** glibc's mtrace. */
    MTRACE("mtrace"),
    /** jemalloc's profiles. */
    JEMALLOC("jemalloc"),
    /** Texts of gperftools' tcmalloc. */
    TCMALLOC("tcmalloc"),
    /** pprof's messages, as Go writes them. */
    PPROF("pprof"),
    /** memusage -d. */
    MEMUSAGE("memusage");

    private static final int HEAD_BYTES = 1 << 14;
    private static final Pattern HEAPTRACK_HEAD =
            Pattern.compile(
                    "(#[^\n]*\n)*v [0-9a-f]{1,8}( [0-9a-f]{1,4})?\n[A-Za-z+#-].*", Pattern.DOTALL);

    private final String label;

    HeapFormat(String label) {
        this.label = label;
    }

    /** How users call it. */
    public String label() {
        return label;
    }

    /** The format of a file that begins so; null for none of these. */
    static @Nullable HeapFormat of(byte[] head) {
        String text = new String(head, StandardCharsets.ISO_8859_1);
        if (HEAPTRACK_HEAD.matcher(text).matches()) {
            return HEAPTRACK;
        }
        int close = text.indexOf('\n');
        String first = close < 0 ? text : text.substring(0, close);
        // heaptrack_print 1.4 writes no header.
        if (text.startsWith("#-----------\nsnapshot=")
                || first.startsWith("desc:")
                        && text.contains("\ncmd:")
                        && text.contains("\ntime_unit:")) {
            return MASSIF;
        }
        if (first.strip().equals("= Start")) {
            return MTRACE;
        }
        if (SampledHeapProfile.JEMALLOC.matcher(first).matches()) {
            return JEMALLOC;
        }
        if (SampledHeapProfile.TCMALLOC.matcher(first).matches()) {
            return TCMALLOC;
        }
        if (PprofHeapProfile.isOne(head)) {
            return PPROF;
        }
        return MemusageProfile.isOne(head) ? MEMUSAGE : null;
    }

    /** Whether a file has one of these formats; false when there is none, or it is not readable. */
    public static boolean isOne(Path path) throws IOException {
        if (!Files.isRegularFile(path) || !Files.isReadable(path)) {
            return false;
        }
        try (Input input = Input.open(path);
                InputStream stream = unwrapped(input)) {
            return of(stream.readNBytes(HEAD_BYTES)) != null;
        } catch (MalformedInputException e) {
            return false;
        }
    }

    private static InputStream unwrapped(Input input) throws IOException {
        WrapperFormat wrapper = WrapperFormat.of(input);
        return wrapper == null || wrapper.isArchive()
                ? UnwrappedFiles.stream(input)
                : UnwrappedFiles.unwrapped(input, wrapper);
    }

    /**
     * Sums up a file, which may be compressed.
     *
     * @param until the time, in the unit of the file's curve, at which reading ends: what is in use
     *     then is what is not freed; {@link HeapSums#UNKNOWN} for the end
     * @throws MalformedInputException when it is of none of these formats
     */
    public static HeapFile read(Path path, long until) throws IOException {
        if (!Files.exists(path)) {
            throw new NoSuchFileException(path.toString());
        }
        if (!Files.isRegularFile(path)) {
            try (InputStream stream = Files.newInputStream(path)) {
                return read(stream, until);
            }
        }
        try (Input input = Input.open(path)) {
            if (WrapperFormat.of(input) != null) {
                try (InputStream stream = unwrapped(input)) {
                    return read(stream, until);
                }
            }
        }
        // Not from a mapping: the pages of a large one would count as this program's memory.
        try (InputStream stream = new FileInputStream(path.toFile())) {
            return read(stream, until);
        }
    }

    /** Sums up a stream that is not compressed. */
    public static HeapFile read(InputStream stream, long until) throws IOException {
        byte[] head = stream.readNBytes(HEAD_BYTES);
        HeapFormat format = of(head);
        if (format == null) {
            throw MalformedInputException.refusal(
                    "is none of the heap profiles that sonde reads: "
                            + Arrays.stream(values())
                                    .map(HeapFormat::label)
                                    .collect(Collectors.joining(", ")));
        }
        // Not closed: whoever opened the stream does that.
        PushbackInputStream whole = new PushbackInputStream(stream, HEAD_BYTES);
        whole.unread(head);
        return switch (format) {
            case HEAPTRACK -> HeaptrackProfile.read(whole, until);
            case MASSIF -> MassifProfile.read(whole, until);
            case MTRACE -> MtraceProfile.read(whole, until);
            case JEMALLOC, TCMALLOC -> SampledHeapProfile.read(whole);
            case PPROF -> PprofHeapProfile.read(whole);
            case MEMUSAGE -> MemusageProfile.read(whole, until);
        };
    }
}
