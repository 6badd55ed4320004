package sonde.exchange.export;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A format that any recording can be written in, as far as it holds it. */
public enum ExportFormat {
    /** Perfetto's packets: everything. */
    PERFETTO(List.of("perfetto-trace", "pftrace", "perfetto"), PerfettoWriter::new),
    /** Chrome's trace JSON: everything, samples with their stacks. */
    CHROME(List.of("json"), ChromeWriter::new),
    /** pprof's profile, gzipped: samples. */
    PPROF(List.of("pprof", "pb.gz", "pb"), PprofWriter::new),
    /** A processed profile of the Firefox Profiler: samples, slices, moments, counters. */
    FIREFOX(List.of("firefox.json", "firefox"), FirefoxWriter::new),
    /** speedscope's JSON: samples and nested slices. */
    SPEEDSCOPE(List.of("speedscope.json", "speedscope"), SpeedscopeWriter::new),
    /** {@code main;leaf count} lines: samples. */
    FOLDED(List.of("folded", "collapsed"), FoldedWriter::new),
    /** Captured packets. */
    PCAPNG(List.of("pcapng"), PcapngWriter::new),
    /** Every row, its fields in one column. */
    CSV(List.of("csv"), CsvWriter::new),
    /** Every row as an object in a line. */
    JSONL(List.of("jsonl", "ndjson"), JsonLinesWriter::new);

    private final List<String> endings;
    private final WriterFactory maker;

    @FunctionalInterface
    private interface WriterFactory {
        ExportWriter make();
    }

    ExportFormat(List<String> endings, WriterFactory maker) {
        this.endings = endings;
        this.maker = maker;
    }

    /** The format whose files end so; the longest ending wins. */
    public static Optional<ExportFormat> ofFile(String fileName) {
        Optional<ExportFormat> found = Optional.empty();
        int longest = 0;
        for (ExportFormat format : values()) {
            for (String ending : format.endings) {
                if (fileName.endsWith("." + ending) && ending.length() > longest) {
                    longest = ending.length();
                    found = Optional.of(format);
                }
            }
        }
        return found;
    }

    /** How users call it. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Whether a frame has the line that it is at: one function is then several frames. */
    public boolean hasLines() {
        return this == PPROF || this == FIREFOX || this == SPEEDSCOPE;
    }

    /** Whether rows stay rows, those about others too: nothing is drawn from them. */
    public boolean hasEveryRow() {
        return this == CSV || this == JSONL;
    }

    /** Writes all rows; what the format does not hold is counted in {@code losses}. */
    public void write(ExportRows rows, OutputStream out, ExportLosses losses) throws IOException {
        maker.make().write(rows, out, losses);
    }
}
