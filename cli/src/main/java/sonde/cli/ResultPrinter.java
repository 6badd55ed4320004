package sonde.cli;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import sonde.event.result.Listing;
import sonde.event.result.Listing.ListingForm;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.TextLayout;
import sonde.event.result.Timeline;
import sonde.probe.launch.PrivateOutput;
import sonde.tools.report.PageFile;
import sonde.view.CsvRenderer;
import sonde.view.JsonRenderer;
import sonde.view.ListingRenderer;
import sonde.view.TerminalStyle;
import sonde.view.TextRenderer;

/** Writes results to a standard stream. */
final class ResultPrinter {
    /** What a result becomes. */
    enum OutputForm {
        /** For people. */
        TEXT,
        /** For programs. */
        JSON,
        /** Comma-separated values, of what has rows. */
        CSV,
    }

    private static final int BUFFER = 1 << 16;

    private ResultPrinter() {}

    /** To standard output; {@link ExitCode#DONE}. */
    static int onOut(Result result, boolean json) throws IOException {
        return onOut(result, json ? OutputForm.JSON : OutputForm.TEXT);
    }

    /** To standard output; {@link ExitCode#DONE}. */
    static int onOut(Result result, OutputForm form) throws IOException {
        write(result, form, FileDescriptor.out, TerminalKind.STDOUT);
        return ExitCode.DONE;
    }

    /** To standard output when there is a result, else only the exit code given. */
    static int onOutIfAny(Optional<Result> result, boolean json, int otherwise) throws IOException {
        return result.isPresent() ? onOut(result.get(), json) : otherwise;
    }

    /** To a file, which is new or replaced by force. */
    static int inFile(Result result, OutputForm form, Path file, boolean force) throws IOException {
        try (OutputStream out = new BufferedOutputStream(newFile(file, force), BUFFER)) {
            render(result, form, out, TerminalStyle.PLAIN);
        }
        return ExitCode.DONE;
    }

    /**
     * A file to be written that holds nothing of a machine's, which is new or replaced by force.
     */
    static OutputStream newFile(Path file, boolean force) throws IOException {
        return Files.newOutputStream(
                file,
                force ? StandardOpenOption.CREATE : StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING);
    }

    /** To a file that can be read by its owner while it is written; over what was in it. */
    static int whileWritten(Result result, OutputForm form, Path file) throws IOException {
        try (OutputStream out = new BufferedOutputStream(PrivateOutput.open(file), BUFFER)) {
            render(result, form, out, TerminalStyle.PLAIN);
        } catch (IOException e) {
            throw PrivateOutput.isFull(e) ? new IOException(file + ": the disk is full", e) : e;
        }
        return ExitCode.DONE;
    }

    /** To a stream that stays open. */
    static void into(Result result, OutputForm form, OutputStream out) throws IOException {
        render(result, form, out, TerminalStyle.PLAIN);
        out.flush();
    }

    /** Bytes that are no result: ArchitectureTest lists who writes such. */
    static void bytes(byte[] bytes) throws IOException {
        new StandardOutput().write(bytes);
    }

    /** To standard error. */
    static void onErr(Result result) throws IOException {
        onErr(result, OutputForm.TEXT);
    }

    /** To standard error, in a form. */
    static void onErr(Result result, OutputForm form) throws IOException {
        write(result, form, FileDescriptor.err, TerminalKind.STDERR);
    }

    /** A page into its file, or to standard output. */
    static int page(PageFile file, Report report, Timeline timeline, CommandCall call)
            throws IOException {
        OutputStream out = stream(FileDescriptor.out);
        String written = file.write(report, timeline, out);
        out.flush();
        if (!written.isEmpty()) {
            call.err().println(written);
        }
        return ExitCode.DONE;
    }

    private static OutputStream stream(FileDescriptor stream) {
        boolean isOut = stream.equals(FileDescriptor.out);
        OutputStream out = isOut ? new StandardOutput() : new FileOutputStream(stream);
        return new BufferedOutputStream(out, BUFFER);
    }

    private static void write(Result result, OutputForm form, FileDescriptor stream, int fd)
            throws IOException {
        OutputStream out = stream(stream);
        // Lines that are made elsewhere have no style: the terminal is not asked.
        boolean styled =
                form == OutputForm.TEXT
                        && !(result instanceof Listing || result instanceof TextLayout);
        try {
            render(result, form, out, styled ? TerminalKind.style(fd) : TerminalStyle.PLAIN);
        } finally {
            out.flush(); // what stands before a damaged part is shown
        }
    }

    private static void render(
            Result result, OutputForm form, OutputStream out, TerminalStyle style)
            throws IOException {
        if (result instanceof Listing listing
                && form != OutputForm.CSV
                && listing.title().isEmpty()) {
            ListingRenderer.render(
                    listing,
                    form == OutputForm.JSON ? ListingForm.JSON_LINES : ListingForm.TEXT,
                    out);
            return;
        }
        switch (form) {
            case TEXT -> new TextRenderer().render(result, out, style);
            case JSON -> new JsonRenderer().render(result, out);
            case CSV -> new CsvRenderer().render(result, out);
        }
    }

    /**
     * Standard output, unbuffered. What fails says that it was here, and is kept for the exit code.
     */
    static final class StandardOutput extends OutputStream {
        private final OutputStream out = new FileOutputStream(FileDescriptor.out);
        private @Nullable IOException failure;

        @Override
        public void write(int value) throws IOException {
            write(new byte[] {(byte) value}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            WaitLine.outputBegins();
            try {
                out.write(bytes, offset, length);
            } catch (IOException e) {
                failure = new IOException("standard output: " + e.getMessage(), e);
                throw failure;
            }
        }

        /** Why the last write failed; null when all went well, or nobody reads any more. */
        @Nullable IOException failure() {
            return failure != null && FailureMessages.isBrokenPipe(failure) ? null : failure;
        }
    }
}
