package sonde.binary.archive;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongSupplier;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipInputStream;
import org.jspecify.annotations.Nullable;
import org.tukaani.xz.XZIOException;
import org.tukaani.xz.XZInputStream;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.archive.UnwrapSpool.ByteBudget;
import sonde.binary.archive.UnwrapSpool.SpooledInput;

/**
 * The files in an input: itself when it is not wrapped, what was compressed, or the regular files
 * of an archive. Owns what it opened and the input it was made from.
 */
public final class UnwrappedFiles implements AutoCloseable {
    private static final int XZ_MEMORY_KIB = 1 << 20;

    private final List<Input> opened = new ArrayList<>();
    private final List<Input> inputs = new ArrayList<>();
    private final List<String> notes = new ArrayList<>();
    private final UnwrapLimits limits;
    private final ByteBudget budget;
    private boolean archive;

    private UnwrappedFiles(Input input, UnwrapLimits limits) {
        this.limits = limits;
        this.budget = new ByteBudget(limits, input.sizeBytes());
        opened.add(input);
    }

    /**
     * Unwraps until nothing is wrapped.
     *
     * @throws MalformedInputException when nothing at all comes out, or too much
     */
    public static UnwrappedFiles of(Input input, UnwrapLimits limits) throws IOException {
        UnwrappedFiles unwrapped = new UnwrappedFiles(input, limits);
        try {
            unwrapped.add(input, 0);
            return unwrapped;
        } catch (IOException | RuntimeException e) {
            unwrapped.close();
            throw e;
        }
    }

    /** The files, by the names they had; the input's own name when there was only that. */
    public List<Input> inputs() {
        return List.copyOf(inputs);
    }

    /** Whether an archive was among the wrappers: the names say which file is which. */
    public boolean isArchive() {
        return archive;
    }

    /** What was damaged: the file and why. */
    public List<String> notes() {
        return List.copyOf(notes);
    }

    /** The bytes of a file, from its begin. */
    public static InputStream stream(Input input) {
        return new SegmentInput(input.segment());
    }

    /** What comes out of one wrapper that is no archive, while it is read; nothing is kept. */
    public static InputStream unwrapped(Input input, WrapperFormat wrapper) throws IOException {
        return stream(wrapper, input, new SegmentInput(input.segment()));
    }

    private void add(Input input, int depth) throws IOException {
        WrapperFormat wrapper = WrapperFormat.of(input);
        if (wrapper == null) {
            inputs.add(input);
            return;
        }
        if (depth == limits.mostDepth()) {
            throw new MalformedInputException(
                    input.name(), "wrappers", -1, "more than " + depth + " in one another");
        }
        archive |= wrapper.isArchive();
        switch (wrapper) {
            case GZIP, ZSTD, XZ, BZIP2, LZ4, LZ4_LEGACY -> {
                SegmentInput from = new SegmentInput(input.segment());
                try (InputStream stream = stream(wrapper, input, from)) {
                    LongSupplier taken =
                            switch (wrapper) {
                                case GZIP, XZ -> from::position;
                                case ZSTD -> ((ZstdInput) stream)::consumed;
                                default -> () -> -1;
                            };
                    add(spool(input.name(), stream, taken, wrapper, true), depth + 1);
                }
            }
            case TAR -> {
                for (Input file : new TarReader(input).files(limits.mostFiles())) {
                    add(file, depth + 1);
                }
            }
            case ZIP -> zip(input, depth);
        }
    }

    private static InputStream stream(WrapperFormat wrapper, Input input, SegmentInput from)
            throws IOException {
        try {
            return switch (wrapper) {
                case GZIP -> new GZIPInputStream(from, 1 << 16);
                case XZ -> new XZInputStream(from, XZ_MEMORY_KIB);
                case ZSTD -> new ZstdInput(input.segment());
                case BZIP2 -> CompressionCodec.BZIP2.stream(input.segment());
                case LZ4 -> new Lz4Frame(input.segment());
                case LZ4_LEGACY -> CompressionCodec.LZ4_LEGACY.stream(input.segment());
                case TAR, ZIP -> throw new IllegalArgumentException(wrapper + " is an archive");
            };
        } catch (ZipException | EOFException | XZIOException e) {
            throw malformed(input, wrapper, e);
        }
    }

    private static MalformedInputException malformed(
            Input input, WrapperFormat wrapper, IOException cause) {
        String why = cause.getMessage();
        return new MalformedInputException(
                input.name(),
                wrapper.name().toLowerCase(Locale.ROOT),
                0,
                why == null ? "cut short" : why);
    }

    private Input spool(
            String name,
            InputStream stream,
            LongSupplier taken,
            WrapperFormat wrapper,
            boolean needed)
            throws IOException {
        String format = wrapper.name().toLowerCase(Locale.ROOT);
        SpooledInput content = UnwrapSpool.of(name, stream, taken, budget, format);
        opened.add(content.input());
        if (!content.damage().isEmpty()) {
            if (needed && content.input().sizeBytes() == 0) {
                throw new MalformedInputException(name, format, 0, content.damage());
            }
            notes.add(
                    "%s: only the first %,d bytes come out of the %s: %s."
                            .formatted(
                                    name, content.input().sizeBytes(), format, content.damage()));
        }
        return content.input();
    }

    private void zip(Input input, int depth) throws IOException {
        SegmentInput from = new SegmentInput(input.segment());
        try (ZipInputStream zip = new ZipInputStream(from)) {
            int files = 0;
            ZipEntry entry = next(zip, input);
            while (entry != null) {
                if (!entry.isDirectory()) {
                    if (++files > limits.mostFiles()) {
                        throw new MalformedInputException(
                                input.name(), "files", -1, "more than " + limits.mostFiles());
                    }
                    String name = input.name() + "/" + entry.getName();
                    long start = from.position();
                    LongSupplier taken = () -> from.position() - start;
                    add(spool(name, zip, taken, WrapperFormat.ZIP, false), depth + 1);
                }
                entry = next(zip, input);
            }
        }
    }

    private @Nullable ZipEntry next(ZipInputStream zip, Input input) throws IOException {
        try {
            return zip.getNextEntry();
        } catch (IOException | IllegalArgumentException e) {
            // Not only ZipException: bytes given back beyond the buffer are an IOException.
            notes.add(input.name() + ": the zip archive is damaged: " + e.getMessage() + ".");
            return null;
        }
    }

    @Override
    public void close() {
        opened.reversed().forEach(Input::close);
    }
}
