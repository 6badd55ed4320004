package sonde.analysis.file;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/** Sums by name. What is opened is counted by itself until its name comes. */
final class FileLedger {
    /** Distinct names and failures kept; what comes after counts as one. */
    private static final int MAX_NAMES = 100_000;

    /** Names at an end of a pipe. */
    private static final int MAX_ENDS = 2;

    private static final String OTHERS = "(others)";

    private final IntFunction<String> comms;
    private final Map<Key, FileSums> byName = new HashMap<>();
    private final Map<FailureKey, Long> failures = new HashMap<>();
    private final Map<PathKey, Long> paths = new HashMap<>();
    private final List<OpenFile> unnamed = new ArrayList<>();

    /** Empty; {@code comms} names threads. */
    FileLedger(IntFunction<String> comms) {
        this.comms = comms;
    }

    private record Key(boolean peer, String name) {}

    private record FailureKey(String name, int errno, int thread) {}

    private record PathKey(String path, int number, int thread) {}

    /** The columns of a thread's calls for that file, see {@link FileSums}. */
    long[] columns(OpenFile opened, int thread, int number) {
        FileSums sums = opened.sums;
        if (sums == null) {
            if (opened.name != null) {
                sums = of(opened.isPeer(), opened.name);
            } else {
                sums = new FileSums();
                unnamed.add(opened);
                if (unnamed.size() > MAX_NAMES) {
                    settle();
                }
            }
            opened.sums = sums;
        }
        return sums.of(thread, number);
    }

    /** Names what has been opened, also for what was counted before. */
    void name(OpenFile opened, String name) {
        FileSums before = opened.sums;
        boolean first = opened.name == null;
        opened.name = name;
        opened.sums = null;
        if (first && before != null) {
            FileSums sums = of(opened.isPeer(), name);
            sums.add(before);
            opened.sums = sums;
        }
    }

    private FileSums of(boolean peer, String name) {
        Key key = new Key(peer, name);
        if (byName.size() >= MAX_NAMES && !byName.containsKey(key)) {
            key = new Key(peer, OTHERS);
        }
        return byName.computeIfAbsent(key, ignored -> new FileSums());
    }

    /** Gives everything that still has no name its label. */
    void settle() {
        for (OpenFile opened : unnamed) {
            FileSums sums = opened.sums;
            if (opened.name == null && sums != null) {
                String label = opened.madeHere ? pipe(opened, sums) : opened.label();
                FileSums all = of(opened.isPeer(), label);
                all.add(sums);
                opened.sums = all;
            }
        }
        unnamed.clear();
    }

    /** "pipe seq → sort": all pipes between programs of the same names together. */
    private String pipe(OpenFile opened, FileSums sums) {
        String writers = names(sums, FileSums.WRITTEN);
        String readers = names(sums, FileSums.READ);
        if (writers.isEmpty() && readers.isEmpty()) {
            return "pipe of " + opened.pid;
        }
        if (writers.isEmpty() || readers.isEmpty()) {
            return "pipe " + (writers.isEmpty() ? "read by " + readers : "written by " + writers);
        }
        return "pipe " + writers + " → " + readers;
    }

    private String names(FileSums sums, int column) {
        List<String> names = sums.threads(column).mapToObj(comms).distinct().sorted().toList();
        return names.size() <= MAX_ENDS
                ? String.join(", ", names)
                : String.join(", ", names.subList(0, MAX_ENDS)) + ", …";
    }

    /** Every name by thread and call. */
    void forEach(FileAccesses.UseSink sink) {
        byName.forEach((key, sums) ->
                sums.forEach((thread, number, columns) ->
                        sink.use(
                                new FileAccesses.DescriptorUse(
                                        thread,
                                        number,
                                        key.peer,
                                        key.name,
                                        columns[FileSums.OPENS],
                                        columns[FileSums.CALLS],
                                        columns[FileSums.READ] + columns[FileSums.WRITTEN],
                                        columns[FileSums.NANOS]))));
    }

    /** What it is called once everything is settled. */
    String text(OpenFile opened) {
        String name = opened.name;
        FileSums sums = opened.sums;
        if (name != null) {
            return name;
        }
        return opened.madeHere && sums != null ? pipe(opened, sums) : opened.label();
    }

    void failed(String name, int errno, int thread) {
        FailureKey key = new FailureKey(name, errno, thread);
        if (failures.size() >= MAX_NAMES && !failures.containsKey(key)) {
            key = new FailureKey(OTHERS, errno, thread);
        }
        failures.merge(key, 1L, Long::sum);
    }

    void sampled(String path, int number, int thread) {
        PathKey key = new PathKey(path, number, thread);
        boolean full = paths.size() >= MAX_NAMES && !paths.containsKey(key);
        paths.merge(full ? new PathKey(OTHERS, number, thread) : key, 1L, Long::sum);
    }

    void forEachPath(FileAccesses.PathSink sink) {
        paths.forEach((key, told) -> sink.path(key.thread, key.number, key.path, told));
    }

    List<FileAccesses.Entry> entries(IntPredicate which) {
        List<FileAccesses.Entry> result = new ArrayList<>();
        byName.forEach((key, sums) -> {
            long[] sum = sums.total(which);
            if (sum[FileSums.OPENS] + sum[FileSums.CALLS] + sum[FileSums.NANOS] > 0) {
                result.add(
                        new FileAccesses.Entry(
                                key.peer,
                                key.name,
                                sum[FileSums.OPENS],
                                sum[FileSums.CALLS],
                                sum[FileSums.READ],
                                sum[FileSums.WRITTEN],
                                sum[FileSums.NANOS]));
            }
        });
        result.sort(
                Comparator.comparingLong((FileAccesses.Entry entry) -> -entry.nanos())
                        .thenComparing(FileAccesses.Entry::name));
        return result;
    }

    List<FileAccesses.Failure> failures(IntPredicate which) {
        record Kind(String name, int errno) {}
        Map<Kind, Long> sums = new HashMap<>();
        failures.forEach((key, count) -> {
            if (which.test(key.thread)) {
                sums.merge(new Kind(key.name, key.errno), count, Long::sum);
            }
        });
        List<FileAccesses.Failure> result = new ArrayList<>();
        sums.forEach((kind, count) ->
                result.add(new FileAccesses.Failure(kind.name, kind.errno, count)));
        result.sort(
                Comparator.comparingLong((FileAccesses.Failure failure) -> -failure.count())
                        .thenComparing(FileAccesses.Failure::name)
                        .thenComparingInt(FileAccesses.Failure::errno));
        return result;
    }
}
