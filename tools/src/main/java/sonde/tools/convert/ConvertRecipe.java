package sonde.tools.convert;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import sonde.analysis.Engine;
import sonde.analysis.LossAccount;
import sonde.analysis.LossAccount.LossRow;
import sonde.analysis.stack.ProcessSymbols;
import sonde.event.Batch;
import sonde.event.FrameNames;
import sonde.event.Recording;
import sonde.event.result.Frame;
import sonde.exchange.export.ChainNames;
import sonde.exchange.export.CodePlace;
import sonde.exchange.export.ExportFormat;
import sonde.exchange.export.ExportLosses;
import sonde.exchange.export.ExportRows;
import sonde.exchange.export.FileFormat;
import sonde.open.ReportSource;
import sonde.symbol.files.GivenPlaces;
import sonde.tools.convert.ConvertTarget.FileTarget;
import sonde.tools.convert.ConvertTarget.StreamTarget;
import sonde.tools.report.ChainLocations;
import sonde.tools.report.ChosenRows;
import sonde.tools.report.ChosenRows.Along;
import sonde.tools.report.RecordedCode;
import sonde.tools.report.ReportOptions;

/** Writes a recording of any format that is read in one of those that are written. */
public final class ConvertRecipe {
    /**
     * What came of it.
     *
     * @param losses what the format does not hold, a line each
     * @param notes what could not be read
     */
    public record ConvertOutcome(List<String> losses, List<String> notes) {}

    /**
     * Which events are converted: those that a listing with these options shows.
     *
     * @param everybody whether also those of processes beside the ones that were to be recorded
     */
    public record EventChoice(ReportOptions options, boolean everybody) {
        ChosenRows of(ReportSource source, Along along) throws IOException {
            return new ChosenRows(source, options, everybody, along);
        }
    }

    private final GivenPlaces given;
    private final EventChoice choice;

    /** With symbols from the usual places. */
    public ConvertRecipe() {
        this(GivenPlaces.NONE);
    }

    /** With symbols from where the user said, too. */
    public ConvertRecipe(GivenPlaces given) {
        this(given, new EventChoice(ReportOptions.of(List.of()), false));
    }

    /** As above, of some events. */
    public ConvertRecipe(GivenPlaces given, EventChoice choice) {
        this.given = given;
        this.choice = choice;
    }

    /**
     * Converts.
     *
     * @param out stays open
     */
    public ConvertOutcome convert(Path in, OutputStream out, ExportFormat format)
            throws IOException {
        ExportLosses losses = new ExportLosses();
        try (ReportSource source = ReportSource.open(in, given)) {
            BufferedOutputStream buffered = new BufferedOutputStream(out, 1 << 16);
            Along along = format.hasEveryRow() ? Along.NOTHING : Along.NAMES;
            ChosenRows chosen = choice.of(source, along);
            write(
                    source,
                    format.hasLines(),
                    chosen,
                    (recordings, rows) -> format.write(rows, buffered, losses));
            buffered.flush();
            return outcome(losses, chosen, source);
        }
    }

    /**
     * Converts into a file or folder.
     *
     * @param target a new or empty file, for formats of several files an empty folder
     */
    public ConvertOutcome convert(Path in, Path target, ConvertTarget format) throws IOException {
        return switch (format) {
            case ConvertTarget.Parquet parquet ->
                    ParquetExport.write(in, given, choice, target, parquet.folder());
            case FileTarget files -> files(in, target, files);
            case StreamTarget stream -> {
                try (OutputStream out = Files.newOutputStream(target)) {
                    yield convert(in, out, stream.format());
                }
            }
        };
    }

    private ConvertOutcome files(Path in, Path target, FileTarget format) throws IOException {
        ExportLosses losses = new ExportLosses();
        try (ReportSource source = ReportSource.open(in, given)) {
            if (format.format() == FileFormat.PERFDATA) {
                source.keepRecordedStacks(); // registers and stacks go along, as they are
            }
            boolean perf = format.format() == FileFormat.PERFDATA;
            Along along = perf ? Along.RECORDS : Along.NOTHING;
            ChosenRows chosen = choice.of(source, along);
            write(
                    source,
                    false,
                    chosen,
                    (recordings, rows) -> format.format().write(recordings, rows, target, losses));
            return outcome(losses, chosen, source);
        }
    }

    private static ConvertOutcome outcome(
            ExportLosses losses, ChosenRows chosen, ReportSource source) throws IOException {
        List<String> notes = new ArrayList<>(chosen.notes());
        notes.addAll(source.notes());
        return outcome(losses.lines(), notes, new LossAccount(chosen.losses(), source.losses()));
    }

    /** With what the source itself lacks; no format has a place for an account beside its rows. */
    static ConvertOutcome outcome(List<String> lacking, List<String> notes, LossAccount account) {
        List<String> lines = new ArrayList<>(lacking);
        List<String> all = new ArrayList<>(notes);
        account.sentence().ifPresent(all::add);
        long unnoticed =
                account.unnoticed().stream()
                        .map(LossRow::events)
                        .mapToLong(events -> events == null ? 0 : events)
                        .sum();
        if (unnoticed > 0) {
            lines.add(unnoticed + " × lost event that only the recorder's account counts");
        }
        return new ConvertOutcome(lines, all);
    }

    /** Writes rows whose code has names. */
    private interface NamedRowWriting {
        void write(List<Recording> recordings, ExportRows rows) throws IOException;
    }

    /** Names of code, by the mappings that a perf.data tells until a row. */
    private record FollowedChains(RecordedCode code, ProcessSymbols symbols) implements ChainNames {
        @Override
        public void follow(Batch batch, int row) {
            symbols.accept(batch, row, row + 1);
        }

        @Override
        public List<Frame> frames(Recording recording, int pid, long entry) {
            FrameNames own = recording.frames();
            return own != null
                    ? List.of(own.frame(entry))
                    : code.frames(symbols.location(pid, entry));
        }

        @Override
        public @Nullable CodePlace place(Recording recording, int pid, long entry) {
            return recording.frames() != null ? null : code.place(symbols.location(pid, entry));
        }

        /** Goes over all rows once, for all code to be looked up together. */
        static FollowedChains of(RecordedCode code, List<Recording> perf) throws IOException {
            ProcessSymbols symbols = code.follower();
            ChainLocations chains = new ChainLocations(symbols);
            Engine.run(perf, List.of(symbols, chains), 0);
            code.learn(chains.all());
            code.rewind();
            return new FollowedChains(code, symbols);
        }
    }

    private static void write(
            ReportSource source, boolean lines, ChosenRows chosen, NamedRowWriting writing)
            throws IOException {
        List<Recording> recordings = source.recordings();
        List<Recording> perf = new ArrayList<>();
        for (Recording recording : recordings) {
            if (recording.hasKernelRecords()) {
                perf.add(recording);
            }
        }
        try (RecordedCode code = new RecordedCode(source, lines)) {
            ChainNames names = perf.isEmpty() ? ChainNames.own() : FollowedChains.of(code, perf);
            try (ExportRows rows = ExportRows.of(recordings, names, chosen)) {
                writing.write(recordings, rows);
            }
        } catch (UncheckedIOException e) {
            throw e.getCause();
        }
    }
}
