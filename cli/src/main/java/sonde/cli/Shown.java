package sonde.cli;

import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Timeline;
import sonde.view.HtmlRenderer;
import sonde.view.JsonRenderer;
import sonde.view.TextRenderer;

/** Writes results to a standard stream, as text or as JSON. */
final class Shown {
    private Shown() {}

    /** To standard output. */
    static void onOut(Result result, boolean json) throws IOException {
        write(result, json, FileDescriptor.out, Terminal.STDOUT);
    }

    /** To standard error. */
    static void onErr(Result result) throws IOException {
        write(result, false, FileDescriptor.err, Terminal.STDERR);
    }

    /** A page to standard output. */
    static void page(Report report, Timeline timeline) throws IOException {
        OutputStream out =
                new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16);
        new HtmlRenderer().write(report, timeline, out);
        out.flush();
    }

    private static void write(Result result, boolean json, FileDescriptor stream, int fd)
            throws IOException {
        OutputStream out = new BufferedOutputStream(new FileOutputStream(stream), 1 << 16);
        if (json) {
            new JsonRenderer().render(result, out);
        } else {
            new TextRenderer().render(result, out, Terminal.style(fd));
        }
        out.flush();
    }
}
