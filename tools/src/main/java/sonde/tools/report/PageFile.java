package sonde.tools.report;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import sonde.event.result.Report;
import sonde.event.result.Timeline;
import sonde.probe.launch.PrivateOutput;
import sonde.view.HtmlRenderer;

/** The file of {@code --html}; {@code -} is standard output. */
public final class PageFile {
    private final Path file;
    private final boolean force;

    private PageFile(Path file, boolean force) {
        this.file = file;
        this.force = force;
    }

    /** A file that exists is refused before anything is read, unless it may be replaced. */
    public static PageFile of(Path file, boolean force) throws IOException {
        PageFile page = new PageFile(file, force);
        boolean there = Files.exists(file, LinkOption.NOFOLLOW_LINKS);
        if (!page.isOut() && !force && there && !PrivateOutput.isSpecial(file)) {
            throw new FileAlreadyExistsException(file.toString());
        }
        return page;
    }

    private boolean isOut() {
        return file.toString().equals("-");
    }

    /** Writes the page, to {@code out} where that was asked for; what is to be said of it. */
    public String write(Report report, Timeline timeline, OutputStream out) throws IOException {
        if (isOut()) {
            new HtmlRenderer().write(report, timeline, out);
            return "";
        }
        PrivateOutput.stream(file, force, to -> new HtmlRenderer().write(report, timeline, to));
        return "written: " + file;
    }
}
