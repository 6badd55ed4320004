package sonde.tools.convert;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import sonde.analysis.Engine;
import sonde.analysis.stack.ProcessSymbols;
import sonde.event.FrameNames;
import sonde.event.Recording;
import sonde.format.export.ChainNames;
import sonde.format.export.ExportFormat;
import sonde.format.export.ExportRows;
import sonde.format.export.FileFormat;
import sonde.format.export.Losses;
import sonde.format.perfdata.PerfDataRecording;
import sonde.symbol.KernelSymbols;
import sonde.symbol.ProcessMaps;
import sonde.symbol.SymbolOptions;
import sonde.symbol.Symbolizer;
import sonde.tools.report.ReportSource;

/** Writes a recording of any format that is read in one of those that are written. */
public final class ConvertRecipe {
    /**
     * What came of it.
     *
     * @param losses what the format does not hold, a line each
     * @param notes what could not be read
     */
    public record Outcome(List<String> losses, List<String> notes) {}

    /** A recipe. */
    public ConvertRecipe() {
        // nothing is kept from one conversion to the next
    }

    /**
     * Converts.
     *
     * @param out stays open
     */
    public Outcome convert(Path in, OutputStream out, ExportFormat format) throws IOException {
        Losses losses = new Losses();
        try (ReportSource source = ReportSource.open(in)) {
            List<Recording> recordings = source.recordings();
            BufferedOutputStream buffered = new BufferedOutputStream(out, 1 << 16);
            try (ExportRows rows = ExportRows.of(recordings, names(recordings))) {
                format.write(rows, buffered, losses);
            }
            buffered.flush();
            return new Outcome(losses.lines(), source.notes());
        }
    }

    /**
     * Converts into a file or folder.
     *
     * @param target a new or empty file, for formats of several files an empty folder
     */
    public Outcome convert(Path in, Path target, ConvertTarget format) throws IOException {
        return switch (format) {
            case ConvertTarget.Parquet parquet -> ParquetExport.write(in, target, parquet.folder());
            case ConvertTarget.Files files -> files(in, target, files);
            case ConvertTarget.Stream stream -> {
                try (OutputStream out = Files.newOutputStream(target)) {
                    yield convert(in, out, stream.format());
                }
            }
        };
    }

    private static Outcome files(Path in, Path target, ConvertTarget.Files format)
            throws IOException {
        Losses losses = new Losses();
        try (ReportSource source = ReportSource.open(in)) {
            if (format.format() == FileFormat.PERFDATA) {
                source.keepRecordedStacks(); // registers and stacks go along, as they are
            }
            List<Recording> recordings = source.recordings();
            try (ExportRows rows = ExportRows.of(recordings, names(recordings))) {
                format.format().write(recordings, rows, target, losses);
            }
            return new Outcome(losses.lines(), source.notes());
        }
    }

    /** Names of addresses by the mappings that a perf.data tells, over all of it. */
    private static ChainNames names(List<Recording> recordings) throws IOException {
        List<Recording> perf = new ArrayList<>();
        for (Recording recording : recordings) {
            if (recording instanceof PerfDataRecording) {
                perf.add(recording);
            }
        }
        if (perf.isEmpty()) {
            return ChainNames.own();
        }
        ProcessMaps maps = new ProcessMaps();
        Path kallsyms = Path.of("/proc/kallsyms");
        KernelSymbols kernel =
                Files.isReadable(kallsyms)
                        ? KernelSymbols.parse(Files.readAllBytes(kallsyms))
                        : KernelSymbols.none();
        Symbolizer symbolizer = new Symbolizer(maps, kernel, SymbolOptions.here());
        ProcessSymbols symbols = new ProcessSymbols(maps, symbolizer::frame);
        Engine.run(perf, List.of(symbols), 0);
        return (recording, pid, entry) -> {
            FrameNames own = recording.frames();
            return own != null ? own.frame(entry) : symbols.frame(symbols.location(pid, entry));
        };
    }
}
