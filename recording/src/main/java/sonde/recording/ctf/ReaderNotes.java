package sonde.recording.ctf;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Sentences about what was odd in a recording; lanes of several threads may add to them. */
final class ReaderNotes {
    private static final int MOST = 100;

    private final List<String> sentences = new ArrayList<>();
    private final Set<String> disordered = new HashSet<>();
    private final Map<String, long[]> losses = new TreeMap<>();

    synchronized void add(String sentence) {
        if (sentences.size() < MOST && !sentences.contains(sentence)) {
            sentences.add(sentence);
        }
    }

    /** An event of that file was older than the one before it. */
    synchronized void disordered(String file) {
        if (disordered.size() < MOST && disordered.add(file)) {
            add(file + ": times go back.");
        }
    }

    /** Events or packets of that file were lost; told again when it is read again. */
    synchronized void lost(String file, long events, long packets) {
        long[] sums = losses.computeIfAbsent(file, name -> new long[2]);
        sums[0] += events;
        sums[1] += packets;
    }

    /** Begins again to count losses. */
    synchronized void clearLosses() {
        losses.clear();
    }

    synchronized List<String> all() {
        List<String> all = new ArrayList<>();
        losses.forEach((file, sums) -> {
            if (sums[0] != 0) {
                all.add(file + ": the tracer discarded " + sums[0] + " events.");
            }
            if (sums[1] != 0) {
                all.add(file + ": " + sums[1] + " packets are missing.");
            }
        });
        all.addAll(sentences);
        return all;
    }
}
