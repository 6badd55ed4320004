package sonde.probe.dynamic;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Pattern;
import sonde.binary.MalformedInputException;
import sonde.binary.dwarf.location.EntryUnit;
import sonde.binary.dwarf.location.LineRows;
import sonde.binary.dwarf.location.SourceFunction;
import sonde.probe.dynamic.PointSpec.PointPlace;
import sonde.probe.dynamic.PointSpec.PointPlace.FunctionPoint;

/**
 * Source with the lines that probes can stand at.
 *
 * @param title the function, or the file
 * @param file as the compiler named it
 * @param read where its text was read; empty when it is not there
 * @param base what the numbers count from: the line of the function, 0 for a file
 */
public record SourceView(
        String title,
        String file,
        String read,
        int base,
        List<ViewedLine> rows,
        List<String> notes) {
    private static final int MOST_BYTES = 16 << 20;
    private static final int MORE_LINES = 30;

    /** {@code :10-20} behind a file. */
    private static final String RANGE = ":\\d{1,9}(-\\d{1,9})?$";

    private static final Pattern FILE =
            Pattern.compile(".*\\.[A-Za-z][A-Za-z+]{0,3}(:\\d{1,9}(-\\d{1,9})?)?");

    /**
     * A line.
     *
     * @param number in the file, from 1
     * @param text without its end; empty when the source is not there
     * @param hasCode whether a probe can stand there
     */
    public record ViewedLine(int number, String text, boolean hasCode) {}

    /**
     * The source of a function, or a source file.
     *
     * @param what {@code FUNCTION}, {@code FUNCTION@FILE}, {@code FILE}, {@code FILE:FROM-TO}
     * @param folders that have the source, searched before the compiler's own
     */
    public static List<SourceView> of(ProbedObject subject, String what, List<Path> folders)
            throws IOException {
        SourceFolders sources = new SourceFolders(subject, folders);
        if (FILE.matcher(what).matches() || what.startsWith("/")) {
            Optional<SourceView> view = ofFile(subject, what, sources);
            if (view.isPresent()) {
                return List.of(view.get());
            }
            // Functions of Go have dots in their names.
            if (what.startsWith("/") || new PointResolver(subject).functions(what, "").isEmpty()) {
                throw new ProbeException(
                        "no source file ends with " + what.replaceFirst(RANGE, ""));
            }
        }
        PointPlace place = PointSpec.place(what);
        if (!(place instanceof FunctionPoint wanted)) {
            throw new ProbeException("a function or a source file was expected: " + what);
        }
        PointResolver resolver = new PointResolver(subject);
        List<SourceView> views = new ArrayList<>();
        for (SourceFunction function : resolver.functions(wanted.name(), wanted.file())) {
            views.add(ofFunction(subject, function, sources));
        }
        if (views.isEmpty()) {
            resolver.spots(wanted); // says which names there are
            throw new ProbeException(
                    wanted.name() + " is known by its symbol alone: nothing says its lines");
        }
        return views;
    }

    private static SourceView ofFunction(
            ProbedObject subject, SourceFunction function, SourceFolders sources)
            throws IOException {
        FunctionLines lines = FunctionLines.of(subject, function);
        TreeSet<Integer> code = new TreeSet<>(lines.lines());
        int first = lines.first();
        code.removeIf(line -> line < first);
        int last = code.isEmpty() ? first : code.last();
        code.add(first);
        List<String> notes = new ArrayList<>();
        long inlined = function.copies().stream().filter(copy -> copy.isInlined()).count();
        if (inlined > 0) {
            notes.add(
                    function.name()
                            + " is inlined in "
                            + inlined
                            + (inlined == 1 ? " place" : " places")
                            + (inlined == function.copies().size()
                                    ? " and has no code of its own"
                                    : "")
                            + "; a probe is placed in all of them");
        }
        return view(function.name(), lines.file(), first, last, true, code, sources, notes);
    }

    /** Empty where there is no such file. */
    private static Optional<SourceView> ofFile(
            ProbedObject subject, String what, SourceFolders sources) throws IOException {
        String name = what.replaceFirst(RANGE, "");
        String range = what.substring(Math.min(what.length(), name.length()));
        TreeSet<Integer> code = new TreeSet<>();
        String full = "";
        for (EntryUnit unit : subject.entries().units()) {
            full = lines(subject, unit, name, code, full);
        }
        if (full.isEmpty()) {
            return Optional.empty();
        }
        int from = 1;
        int to = code.isEmpty() ? 1 : code.last();
        if (!range.isEmpty()) {
            String[] ends = range.substring(1).split("-");
            from = Integer.parseInt(ends[0]);
            to = ends.length > 1 ? Integer.parseInt(ends[1]) : from + 20;
        }
        TreeSet<Integer> shown = new TreeSet<>(code.subSet(from, true, Math.max(from, to), true));
        return Optional.of(
                view(full, full, 0, 0, false, shown, sources, new ArrayList<>()).between(from, to));
    }

    private static String lines(
            ProbedObject subject,
            EntryUnit unit,
            String name,
            TreeSet<Integer> code,
            String known) {
        try {
            LineRows rows = subject.lines(unit);
            String full = known;
            for (int i = 0; i < rows.count(); i++) {
                if (!rows.isEnd(i)
                        && rows.isStatement(i)
                        && rows.line(i) > 0
                        && PointResolver.endsWith(rows.file(i), name)
                        && (full.isEmpty() || full.equals(rows.file(i)))) {
                    full = rows.file(i);
                    code.add(rows.line(i));
                }
            }
            return full;
        } catch (MalformedInputException e) {
            return known;
        }
    }

    private SourceView between(int from, int to) {
        return new SourceView(
                title,
                file,
                read,
                base,
                rows.stream().filter(row -> row.number() >= from && row.number() <= to).toList(),
                notes);
    }

    private static SourceView view(
            String title,
            String file,
            int first,
            int last,
            boolean isFunction,
            TreeSet<Integer> code,
            SourceFolders sources,
            List<String> notes) {
        Optional<Path> found = sources.find(file);
        List<String> text = found.map(SourceView::read).orElse(List.of());
        if (found.isEmpty()) {
            notes.add("the source is not at " + file + "; say where it is: --source FOLDER");
        }
        List<ViewedLine> rows = new ArrayList<>();
        if (text.isEmpty()) {
            code.forEach(line -> rows.add(new ViewedLine(line, "", true)));
        } else {
            int end = isFunction ? end(text, first, last) : text.size();
            for (int line = Math.max(1, first); line <= Math.min(end, text.size()); line++) {
                rows.add(new ViewedLine(line, text.get(line - 1), code.contains(line)));
            }
        }
        return new SourceView(
                title, file, found.map(Path::toString).orElse(""), first, rows, notes);
    }

    /** The line of the bracket that closes a function whose last code is at a line. */
    private static int end(List<String> text, int first, int last) {
        int open = 0;
        for (int line = Math.max(1, first); line <= Math.min(text.size(), last); line++) {
            for (char c : text.get(line - 1).toCharArray()) {
                open += c == '{' ? 1 : c == '}' ? -1 : 0;
            }
        }
        if (open == 0 && last >= 1 && last <= text.size() && text.get(last - 1).endsWith("}")) {
            return last;
        }
        for (int line = last; line <= Math.min(text.size(), last + MORE_LINES); line++) {
            if (line > 0 && text.get(line - 1).startsWith("}")) {
                return line;
            }
        }
        return last;
    }

    private static List<String> read(Path path) {
        try {
            if (Files.size(path) > MOST_BYTES) {
                return List.of();
            }
            String text = new String(Files.readAllBytes(path), StandardCharsets.UTF_8);
            return text.lines().toList();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Where the source may be. */
    private record SourceFolders(ProbedObject subject, List<Path> folders) {
        /**
         * Under the folders by ever shorter ends of its path, then where the compiler had it, then
         * what the servers have.
         */
        Optional<Path> find(String file) {
            try {
                Path named = Path.of(file).normalize();
                for (Path folder : folders) {
                    for (int i = 0; i < named.getNameCount(); i++) {
                        Path place = folder.resolve(named.subpath(i, named.getNameCount()));
                        if (Files.isRegularFile(place)) {
                            return Optional.of(place);
                        }
                    }
                }
                return Files.isRegularFile(named)
                        ? Optional.of(named)
                        : subject.source(named.toString());
            } catch (InvalidPathException e) {
                return Optional.empty();
            }
        }
    }
}
