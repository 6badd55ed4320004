package sonde.tools.convert;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;
import sonde.analysis.Engine;
import sonde.analysis.LossAccount;
import sonde.analysis.Operator;
import sonde.analysis.RecordedLosses;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.Recording;
import sonde.event.Source;
import sonde.open.ReportSource;
import sonde.probe.launch.PrivateOutput;
import sonde.recording.perfdata.PerfAbi;
import sonde.recording.perfdata.PerfAttr;
import sonde.recording.perfdata.PerfDescription;
import sonde.symbol.files.GivenPlaces;
import sonde.tools.convert.ConvertRecipe.ConvertOutcome;
import sonde.tools.convert.ConvertRecipe.EventChoice;
import sonde.tools.query.OutputFormat;
import sonde.tools.query.QueryException;
import sonde.tools.query.QueryRecipe;
import sonde.tools.report.ChosenRows;

/**
 * Parquet by way of the SQL tables, sorted by time, zstd. A file has all events, their fields as
 * one JSON object; a folder has a file for each event type, with a column for each field.
 */
final class ParquetExport {
    /** Columns of an event's table that are no fields, or that another one repeats. */
    private static final Set<String> COLUMNS =
            Set.of(
                    "ts",
                    "cpu",
                    "utid",
                    "tid",
                    "weight",
                    "source",
                    "trace_id",
                    "common_type",
                    "common_pid");

    private static final int MOST_NAME = 120;

    private final QueryRecipe query;
    private final ChosenRows chosen;
    private final String where;

    private ParquetExport(QueryRecipe query, ChosenRows chosen, String where) {
        this.query = query;
        this.chosen = chosen;
        this.where = where;
    }

    /** Writes the events of a recording; what Parquet does not get is listed. */
    static ConvertOutcome write(
            Path in, GivenPlaces given, EventChoice choice, Path target, boolean folder)
            throws IOException {
        PrivateOutput output = PrivateOutput.of(folder ? target.resolve("rows") : target, true);
        List<String> notes = new ArrayList<>();
        try (ReportSource source = ReportSource.open(in);
                QueryRecipe query = QueryRecipe.open(List.of(in), given, output, false)) {
            ChosenRows chosen = choice.of(source, ChosenRows.Along.NOTHING);
            ParquetExport export = new ParquetExport(query, chosen, chosen.sql(source));
            List<String> names = export.names();
            notes.addAll(export.notes(names));
            if (folder) {
                export.folder(names, target);
            } else {
                export.file(names);
            }
            notes.addAll(source.notes());
            Chains chains = Chains.of(source, chosen);
            LossAccount account = new LossAccount(chains.losses, source.losses());
            return ConvertRecipe.outcome(chains.lacking(source), notes, account);
        } catch (QueryException e) {
            throw new IOException(e.getMessage(), e);
        }
    }

    private List<String> notes(List<String> names) throws IOException {
        String records = " WHERE name NOT LIKE 'perf_record.%'";
        long all = count(records);
        String list = String.join(", ", names.stream().map(ParquetExport::text).toList());
        String which = names.isEmpty() ? "false" : "name IN (" + list + ") AND " + where;
        return chosen.notes(all, all - count(records + " AND " + which));
    }

    private long count(String condition) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        query.run("SELECT count(*) FROM events" + condition, OutputFormat.CSV, out);
        String text = out.toString(StandardCharsets.US_ASCII);
        return Long.parseLong(text.substring(text.indexOf('\n') + 1).strip());
    }

    private void file(List<String> names) throws IOException {
        StringJoiner rows = new StringJoiner(" UNION ALL ");
        for (String name : names) {
            StringJoiner fields = new StringJoiner(", ", "to_json({", "})");
            List<String> columns = query.columns(name.replace("\"", "\"\""));
            List<String> own = columns.stream().filter(one -> !COLUMNS.contains(one)).toList();
            own.forEach(column -> fields.add(text(column) + ": " + quoted(column)));
            rows.add(
                    ("SELECT ts, cpu, tid, %s AS name, %s AS weight, %s::VARCHAR AS args"
                                    + " FROM %s WHERE %s")
                            .formatted(
                                    text(name),
                                    columns.contains("weight") ? "weight" : "1::BIGINT",
                                    own.isEmpty() ? "'{}'" : fields.toString(),
                                    quoted(name),
                                    where));
        }
        String none =
                "SELECT ts, cpu, tid, name::VARCHAR AS name, weight, '{}' AS args FROM events"
                        + " WHERE false";
        String all = rows.length() == 0 ? none : rows.toString();
        query.runInto("SELECT * FROM (" + all + ") ORDER BY ts", OutputFormat.PARQUET);
    }

    private void folder(List<String> names, Path folder) throws IOException {
        Set<String> taken = new HashSet<>();
        for (String name : names) {
            String sql =
                    "SELECT * EXCLUDE (utid, trace_id) FROM %s WHERE %s ORDER BY ts"
                            .formatted(quoted(name), where);
            query.runInto(sql, OutputFormat.PARQUET);
            String plain = name.replaceAll("[^A-Za-z0-9_.:+-]", "_").replaceFirst("^\\.", "_");
            plain = plain.length() > MOST_NAME ? plain.substring(0, MOST_NAME) : plain;
            String file = plain;
            for (int i = 2; !taken.add(file); i++) {
                file = plain + "_" + i;
            }
            Files.move(folder.resolve("rows"), folder.resolve(file + ".parquet"));
        }
    }

    /** Event types that have rows and are asked for. */
    private List<String> names() throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        // Hexadecimal: a name may have any character in it.
        String sql = "SELECT DISTINCT hex(name::VARCHAR) FROM events ORDER BY 1";
        query.run(sql, OutputFormat.CSV, out);
        return out.toString(StandardCharsets.US_ASCII)
                .lines()
                .skip(1)
                .map(hex -> new String(HexFormat.of().parseHex(hex), StandardCharsets.UTF_8))
                .filter(chosen::takes)
                .toList();
    }

    private static String quoted(String name) {
        return '"' + name.replace("\"", "\"\"") + '"';
    }

    private static String text(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    private static void outputs(
            PerfDescription perf, List<Source> sources, Chains chains, Map<String, Long> lacking) {
        for (int i = 0; i < perf.attrs().size(); i++) {
            PerfAttr attr = perf.attrs().get(i).attr();
            EventType type = perf.typeOf(i);
            boolean output =
                    attr.type() == PerfAbi.PERF_TYPE_SOFTWARE
                            && attr.config() == PerfAbi.PERF_COUNT_SW_BPF_OUTPUT;
            for (Source of : output ? sources : List.<Source>of()) {
                long rows = chains.counts(of).rows[type.id()];
                if (rows > 0) {
                    lacking.merge("bytes of " + type.qualifiedName(), rows, Long::max);
                }
            }
        }
    }

    /** Counts the rows that were chosen, and of them those with a call chain. */
    private static final class Chains implements Operator {
        private final ChosenRows chosen;
        private final Map<Source, Counts> all = new IdentityHashMap<>();
        private final RecordedLosses losses = new RecordedLosses();

        private record Counts(long[] rows, long[] chains) {}

        private Chains(ChosenRows chosen) {
            this.chosen = chosen;
        }

        static Chains of(ReportSource source, ChosenRows chosen) throws IOException {
            Chains chains = new Chains(chosen);
            Engine.run(source.recordings(), List.of(chains, chains.losses), 0);
            return chains;
        }

        /** Call chains and what BPF programs put out are in no column. */
        List<String> lacking(ReportSource source) {
            Map<String, Long> lacking = new TreeMap<>();
            for (Recording recording : source.recordings()) {
                for (Source of : recording.sources()) {
                    for (EventType type : of.types()) {
                        long count = counts(of).chains[type.id()];
                        if (count > 0) {
                            String what = "call chain of " + type.qualifiedName();
                            lacking.merge(what, count, Long::sum);
                        }
                    }
                }
                recording
                        .capability(PerfDescription.class)
                        .ifPresent(perf -> outputs(perf, recording.sources(), this, lacking));
            }
            List<String> lines = new ArrayList<>();
            lacking.forEach((what, count) -> lines.add(count + " × " + what));
            return lines;
        }

        Counts counts(Source source) {
            int types = source.types().size();
            return all.computeIfAbsent(
                    source, ignored -> new Counts(new long[types], new long[types]));
        }

        @Override
        public int[] select(Source source) {
            int[] every = new int[source.types().size()];
            Arrays.fill(every, 1);
            return every;
        }

        @Override
        public void accept(Batch batch, int from, int to) {
            Counts counts = counts(batch.source());
            for (int row = from; row < to; row++) {
                if (chosen.accepts(batch, row)) {
                    counts.rows[batch.type(row)]++;
                    counts.chains[batch.type(row)] += batch.stackDepth(row) > 0 ? 1 : 0;
                }
            }
        }
    }
}
