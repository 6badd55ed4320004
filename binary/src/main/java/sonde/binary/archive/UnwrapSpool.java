package sonde.binary.archive;

import java.io.BufferedOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.util.function.LongSupplier;
import java.util.zip.ZipException;
import org.tukaani.xz.XZIOException;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.UnnamedFile;

/** Puts streams into files without a name, mapped, to be read at random. */
public final class UnwrapSpool {
    /** Small: a read that meets damage loses what it had before it. */
    private static final int STEP_BYTES = 1 << 13;

    private static final int BUFFER_BYTES = 1 << 18;

    private UnwrapSpool() {}

    /**
     * Everything a stream has.
     *
     * @param name of the input, for messages
     */
    public static Input of(String name, InputStream stream) throws IOException {
        return of(name, stream, new ByteBudget(UnwrapLimits.DEFAULT, Long.MAX_VALUE), "stream")
                .input;
    }

    /**
     * What came out.
     *
     * @param damage what ended the stream before its end, empty for nothing
     */
    record SpooledInput(Input input, String damage) {}

    /** Bytes that may still come out. */
    static final class ByteBudget {
        private final UnwrapLimits limits;
        private final long inBytes;
        private long outBytes;

        ByteBudget(UnwrapLimits limits, long inBytes) {
            this.limits = limits;
            this.inBytes = inBytes;
        }

        /** Whether what comes in lies in memory: then it is damaged, not unreadable. */
        boolean inMemory() {
            return inBytes != Long.MAX_VALUE;
        }

        /**
         * Counts what came out of a stream.
         *
         * @param of all that came out of this stream
         * @param from what the stream took in so far; negative when it does not tell
         */
        void take(int bytes, long of, long from, String format) throws MalformedInputException {
            outBytes += bytes;
            if (!limits.allows(outBytes, inBytes)) {
                throw tooMuch(outBytes, inBytes, format);
            }
            if (from >= 0 && !limits.allows(of, from)) {
                throw tooMuch(of, from, format);
            }
        }

        private MalformedInputException tooMuch(long out, long in, String format) {
            String found = "%,d bytes and more from %,d".formatted(out, in);
            return limits.remedy().isEmpty()
                    ? new MalformedInputException(format, "size", -1, found)
                    : MalformedInputException.refusal(
                            "unpacks (" + format + ") to " + found + "; " + limits.remedy());
        }
    }

    /** As much as a stream gives; a stream that breaks off has given what it gave. */
    static SpooledInput of(String name, InputStream stream, ByteBudget budget, String format)
            throws IOException {
        return of(name, stream, () -> -1, budget, format);
    }

    /**
     * As above.
     *
     * @param taken what the stream took in so far; negative when it does not tell
     */
    static SpooledInput of(
            String name, InputStream stream, LongSupplier taken, ByteBudget budget, String format)
            throws IOException {
        try (FileChannel file = UnnamedFile.open()) {
            String damage = "";
            byte[] step = new byte[STEP_BYTES];
            long sum = 0;
            // Not closed: that would close the file, too.
            OutputStream out =
                    new BufferedOutputStream(Channels.newOutputStream(file), BUFFER_BYTES);
            try {
                int count = next(stream, step, budget.inMemory());
                while (count > 0) {
                    sum += count;
                    budget.take(count, sum, taken.getAsLong(), format);
                    out.write(step, 0, count);
                    count = next(stream, step, budget.inMemory());
                }
            } catch (BrokenStream e) {
                damage = e.why;
            }
            out.flush();
            return new SpooledInput(Input.of(name, file), damage);
        }
    }

    /** A stream that cannot be read on; told apart from a disk that cannot be written. */
    private static final class BrokenStream extends IOException {
        private static final long serialVersionUID = 1;
        private final String why;

        BrokenStream(IOException cause) {
            super(cause);
            boolean cut = cause instanceof EOFException;
            why = cut ? "it is cut short" : String.valueOf(cause.getMessage());
        }
    }

    private static int next(InputStream stream, byte[] step, boolean inMemory) throws IOException {
        try {
            return stream.read(step);
        } catch (EOFException | ZipException | XZIOException | MalformedInputException e) {
            throw new BrokenStream(e);
        } catch (IOException e) {
            // ZipInputStream says so when bytes given back do not fit its buffer.
            throw inMemory ? new BrokenStream(e) : e;
        }
    }
}
