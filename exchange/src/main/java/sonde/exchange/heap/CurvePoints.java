package sonde.exchange.heap;

import java.util.ArrayList;
import java.util.List;
import sonde.event.heap.HeapMoment;

/** Collects a curve in bounded memory: when it is full, the most of each two points remains. */
final class CurvePoints {
    private static final int MOST_POINTS = 4096;

    private List<HeapMoment> points = new ArrayList<>();
    private int joined = 1;
    private int pending;

    /** Adds the most since the point before. */
    void add(HeapMoment moment) {
        if (pending > 0) {
            points.add(most(points.removeLast(), moment));
        } else {
            if (points.size() == MOST_POINTS) {
                halve();
            }
            points.add(moment);
        }
        pending = (pending + 1) % joined;
    }

    private static HeapMoment most(HeapMoment one, HeapMoment later) {
        return new HeapMoment(
                later.nanos(),
                Math.max(one.liveBytes(), later.liveBytes()),
                Math.max(one.liveBlocks(), later.liveBlocks()),
                Math.max(one.residentBytes(), later.residentBytes()));
    }

    private void halve() {
        List<HeapMoment> half = new ArrayList<>();
        for (int i = 0; i + 1 < points.size(); i += 2) {
            half.add(most(points.get(i), points.get(i + 1)));
        }
        points = half;
        joined *= 2;
    }

    List<HeapMoment> points() {
        return points;
    }
}
