package sonde.tools.heap;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import sonde.event.heap.HeapFault;
import sonde.event.heap.HeapProfile;
import sonde.event.heap.HeapSize;
import sonde.event.heap.HeapStack;
import sonde.event.heap.HeapSums;
import sonde.event.result.Frame;
import sonde.event.result.Histogram;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.Unit;
import sonde.exchange.heap.HeapFile;
import sonde.tools.heap.HeapRanking.HeapPlace;
import sonde.view.NumberText;

/** A profile as sentences, totals, rankings, the curve, trees and the sizes of blocks. */
final class HeapReport {
    private static final int SUMMARY_ROWS = 5;
    private static final int SUMMARY_CURVE = 8;
    private static final int CURVE = 20;
    private static final Set<String> SNAPSHOTS =
            Set.of(HeapWatch.RUNNING, "massif", "jemalloc", "tcmalloc", "pprof");
    private static final int CALLERS = 3;
    private static final double MANY_TEMPORARY = 0.3;
    private static final long MANY_CALLS = 1000;
    private static final int LONG_NAME = 60;

    private final HeapFile file;
    private final HeapProfile profile;
    private final List<HeapStack> stacks;
    private final HeapView view;
    private final Set<String> programs;

    /** What the function called, by stacks that begin with it. */
    private final Map<HeapStack, Frame> through = new IdentityHashMap<>();

    HeapReport(HeapFile file, HeapView view) {
        this.file = file;
        this.profile = file.profile();
        this.stacks = profile.stacks();
        this.view = view;
        programs = programs(profile);
    }

    Report report() {
        List<String> notes = new ArrayList<>(profile.notes());
        notes.addAll(view.notes());
        List<Result> sections = new ArrayList<>();
        sections.add(totals());
        if (view.shows("curve") && !profile.curve().isEmpty()) {
            sections.add(CurveDrawing.of(file, view.isSummary() ? SUMMARY_CURVE : CURVE));
        }
        for (HeapMeasure measure : HeapMeasure.values()) {
            if (isShown(measure)) {
                HeapRanking places = new HeapRanking(stacks, measure, view.merged());
                sections.add(table(measure, places));
                if (!view.isSummary() && view.stacks() > 0) {
                    sections.add(
                            places.places(
                                    title(measure) + " by callers", view.rows(), view.stacks()));
                }
            }
        }
        HeapMeasure inTree = view.momentText().isEmpty() ? HeapMeasure.PEAK : HeapMeasure.LEAKED;
        if (view.shows("tree") && inTree.isKnown(stacks)) {
            String when = view.momentText().isEmpty() ? "the peak" : view.momentText();
            sections.add(HeapRanking.tree("tree at " + when, profile, inTree));
        }
        if (view.shows("sizes") && !profile.sizes().isEmpty()) {
            sections.add(histogram(profile.sizes()));
        }
        List<String> answer = new ArrayList<>(answer());
        if (!profile.faults().isEmpty()) {
            answer.addFirst(faultSentence());
            sections.add(1, faults());
        }
        return new Report(view.title(), answer, notes, sections);
    }

    private String faultSentence() {
        HeapFault most =
                Collections.max(profile.faults(), Comparator.comparingLong(HeapFault::calls));
        List<Frame> frames = most.frames();
        return "%s: %s, by %s%s."
                .formatted(
                        most.calls() == 1
                                ? "Wrong free"
                                : "%,d wrong frees".formatted(most.calls()),
                        most.kind(),
                        frames.isEmpty() ? "an unknown function" : at(frames.getFirst()),
                        frames.size() < 2 ? "" : ", called by " + at(frames.get(1)));
    }

    private Table faults() {
        return new TableBuilder<HeapFault>("wrong frees")
                .count("calls", HeapFault::calls)
                .column("block", Unit.ADDRESS, HeapFault::address)
                .text("what", HeapFault::kind)
                .text("function", fault -> chain(fault.frames()))
                .table(profile.faults());
    }

    private static boolean known(long value) {
        return value != HeapSums.UNKNOWN;
    }

    /** Whether all that is in use at the last is what was never freed. */
    private boolean isToTheEnd() {
        return view.momentText().isEmpty() && !file.cut() && !SNAPSHOTS.contains(profile.source());
    }

    /** What is in use at a moment is not called leaked. */
    private String title(HeapMeasure measure) {
        return measure == HeapMeasure.LEAKED && !isToTheEnd() ? "in use" : measure.section;
    }

    private boolean isShown(HeapMeasure measure) {
        boolean found = !stacks.isEmpty() || measure.of(profile.totals()) == 0;
        return view.shows(measure.section) && found && measure.isKnown(stacks);
    }

    private Table totals() {
        HeapSums all = profile.totals();
        TableBuilder<HeapProfile> table = new TableBuilder<>("totals");
        boolean isTime = profile.timeUnit().equals("ns");
        if (known(profile.nanos())) {
            table.nanos("runtime", HeapProfile::nanos);
        }
        if (known(all.calls())) {
            table.count("allocations", one -> all.calls());
            if (profile.nanos() > 0) {
                table.count("per second", one -> perSecond(all.calls(), one.nanos()));
            }
        }
        if (known(all.temporary())) {
            table.count("temporary", one -> all.temporary());
        }
        if (known(all.bytes())) {
            table.bytes("allocated", one -> all.bytes());
        }
        if (known(all.peakBytes())) {
            table.bytes("peak heap", one -> all.peakBytes());
        }
        if (known(profile.peakNanos())) {
            table.column("peak at", isTime ? Unit.NANOS : Unit.COUNT, HeapProfile::peakNanos);
        }
        if (known(profile.peakResident())) {
            table.bytes("peak RSS", HeapProfile::peakResident);
        }
        if (known(all.liveBytes())) {
            table.bytes(isToTheEnd() ? "not freed" : "in use", one -> all.liveBytes());
        }
        if (known(all.liveBlocks())) {
            table.count("blocks", one -> all.liveBlocks());
        }
        return table.table(List.of(profile));
    }

    private static long perSecond(long count, long nanos) {
        return Math.round(count * 1e9 / nanos);
    }

    private Table table(HeapMeasure measure, HeapRanking places) {
        double all = Math.max(1, measure.of(profile.totals()));
        TableBuilder<HeapPlace> table = new TableBuilder<>(title(measure));
        boolean bytes = measure.unit == Unit.BYTES;
        table.column(
                bytes ? "bytes" : measure.section, measure.unit, place -> measure.of(place.sums()));
        table.share("share", place -> measure.of(place.sums()) / all);
        if (stacks.stream().allMatch(one -> known(measure.beside.applyAsLong(one.sums())))) {
            table.column(
                    measure.besideName,
                    measure.besideUnit,
                    place -> measure.beside.applyAsLong(place.sums()));
        }
        table.text("function", place -> place.frame().shown());
        table.text("module", place -> lastName(place.frame().module()));
        table.text("called by", place -> chain(places.callers(place, CALLERS)));
        int rows = view.isSummary() ? Math.min(SUMMARY_ROWS, view.rows()) : view.rows();
        return table.table(places.places(), rows);
    }

    private static String chain(List<Frame> frames) {
        return frames.stream().map(Frame::shown).collect(Collectors.joining(" < "));
    }

    static String lastName(String path) {
        return path.substring(path.lastIndexOf('/') + 1);
    }

    /** The sizes in powers of two. */
    private static Histogram histogram(List<HeapSize> sizes) {
        long[] counts = new long[64];
        for (HeapSize size : sizes) {
            counts[size.to() <= 1 ? 0 : 64 - Long.numberOfLeadingZeros(size.to() - 1)] +=
                    size.calls();
        }
        int first = 0;
        int last = 63;
        while (first < last && counts[first] == 0) {
            first++;
        }
        while (last > first && counts[last] == 0) {
            last--;
        }
        List<Histogram.Bucket> buckets = new ArrayList<>();
        for (int i = first; i <= last && i < 63; i++) {
            long from = i == 0 ? 0 : (1L << (i - 1)) + 1;
            buckets.add(new Histogram.Bucket(from, (1L << i) + 1, counts[i]));
        }
        return new Histogram("sizes", Unit.BYTES, buckets);
    }

    private List<String> answer() {
        List<String> answer = new ArrayList<>();
        HeapSums all = profile.totals();
        if (all.calls() == 0) {
            answer.add("No allocation was seen.");
        } else if (known(all.liveBytes()) && (all.liveBytes() > 0 || !isToTheEnd())) {
            answer.add(left(all));
        } else if (all.liveBytes() == 0) {
            answer.add("Every block was freed at the end.");
        }
        if (HeapMeasure.PEAK.isKnown(stacks) && all.peakBytes() > 0) {
            answer.add(
                    "The heap was largest "
                            + when(profile.peakNanos())
                            + " with "
                            + bytes(all.peakBytes())
                            + first(HeapMeasure.PEAK)
                            + ".");
        }
        if (all.calls() >= MANY_CALLS && all.temporary() > MANY_TEMPORARY * all.calls()) {
            HeapRanking ranking = owners(HeapMeasure.TEMPORARY);
            HeapPlace most = ranking.places().getFirst();
            answer.add(
                    NumberText.share((double) all.temporary() / all.calls())
                            + " of the allocations were freed before the next one, most of them ("
                            + NumberText.text(Unit.COUNT, most.sums().temporary(), true)
                            + ") of "
                            + place(ranking, most)
                            + ".");
        }
        return answer;
    }

    private String when(long time) {
        if (!known(time)) {
            return "";
        }
        return switch (profile.timeUnit()) {
            case "B" ->
                    "after "
                            + NumberText.text(Unit.BYTES, time, true)
                            + " had been allocated and freed,";
            case "i" -> "after %,d instructions,".formatted(time);
            case "calls" -> "after %,d calls,".formatted(time);
            default ->
                    time == 0
                            ? "at the start,"
                            : "after " + NumberText.text(Unit.NANOS, time, true) + ",";
        };
    }

    private String first(HeapMeasure measure) {
        HeapRanking ranking = owners(measure);
        if (ranking.places().isEmpty() || !measure.isKnown(stacks)) {
            return "";
        }
        HeapPlace most = ranking.places().getFirst();
        long value = measure.of(most.sums());
        long count = measure.count(most.sums());
        return "; "
                + bytes(value)
                + (known(count) ? " in " + blocks(count) : "")
                + " ("
                + NumberText.share(value / Math.max(1.0, measure.of(profile.totals())))
                + ") were allocated by "
                + place(ranking, most);
    }

    /** Who allocated most of what is in use. */
    private String left(HeapSums all) {
        String state =
                isToTheEnd()
                        ? "not freed"
                        : "in use "
                                + (view.momentText().isEmpty()
                                        ? profile.source().equals(HeapWatch.RUNNING)
                                                ? "when the watch ended"
                                                : "when the profile was written"
                                        : "at " + view.momentText());
        String sum =
                bytes(all.liveBytes())
                        + (known(all.liveBlocks()) ? " in " + blocks(all.liveBlocks()) : "");
        HeapRanking ranking = owners(HeapMeasure.LEAKED);
        if (ranking.places().isEmpty() || !HeapMeasure.LEAKED.isKnown(stacks)) {
            return sum + (all.liveBlocks() == 1 ? " was " : " were ") + state + ".";
        }
        HeapPlace most = ranking.places().getFirst();
        HeapSums own = most.sums();
        String place = place(ranking, most);
        return place
                + (place.equals(at(most.frame())) ? "" : ",")
                + " allocated "
                + bytes(own.liveBytes())
                + (known(own.liveBlocks()) ? " in " + blocks(own.liveBlocks()) : "")
                + (own.liveBlocks() == 1 ? " that was " : " that were ")
                + state
                + (known(own.oldestNanos()) && own.liveBlocks() > 1
                        ? ", the oldest "
                                + NumberText.text(Unit.NANOS, own.oldestNanos(), true)
                                + " ago"
                        : "")
                + (own.liveBytes() == all.liveBytes()
                        ? " (all that was left)."
                        : " ("
                                + NumberText.share(own.liveBytes() / (double) all.liveBytes())
                                + " of "
                                + sum
                                + ").");
    }

    /** The stacks by the nearest function of the program itself, where they have one. */
    private HeapRanking owners(HeapMeasure measure) {
        return new HeapRanking(stacks.stream().map(this::fromOwner).toList(), measure, true);
    }

    private HeapStack fromOwner(HeapStack stack) {
        List<Frame> frames = HeapRanking.frames(stack);
        List<Predicate<Frame>> kinds =
                List.of(
                        frame -> isScript(frame) && !frame.file().contains("/lib/python"),
                        HeapReport::isScript,
                        this::isOwn);
        for (Predicate<Frame> kind : kinds) {
            for (int at = 0; at < frames.size(); at++) {
                if (kind.test(frames.get(at))) {
                    List<Frame> rest = frames.subList(at, frames.size());
                    HeapStack owned = new HeapStack(stack.pid(), rest, stack.sums());
                    if (at > 0 && kind.equals(kinds.getLast())) {
                        through.put(owned, frames.get(at - 1));
                    }
                    return owned;
                }
            }
        }
        return stack;
    }

    private String place(HeapRanking ranking, HeapPlace most) {
        String text = at(most.frame());
        Frame called = through.get(most.stacks().getFirst());
        if (called != null) {
            boolean isAll = most.stacks().stream().allMatch(one -> called.equals(through.get(one)));
            return text + (isAll ? ", through " : ", mostly through ") + brief(called.name());
        }
        return ranking.callers(most, Integer.MAX_VALUE - 1).stream()
                .filter(frame -> !isScript(most.frame()) || isScript(frame))
                .findFirst()
                .map(caller -> text + ", called by " + at(caller))
                .orElse(text);
    }

    /** A function of C++ without the arguments of templates and its own, where it is long. */
    private static String brief(String name) {
        String plain = name;
        for (String last = ""; !plain.equals(last) && !name.contains("operator"); ) {
            last = plain;
            plain = plain.replaceAll("<[^<>]*>|\\([^()]*\\)( const)?$", "");
        }
        return name.length() <= LONG_NAME ? name : plain.substring(plain.lastIndexOf(' ') + 1);
    }

    private static String at(Frame frame) {
        String place = frame.place();
        return brief(frame.name()) + (place.isEmpty() ? "" : " at " + place);
    }

    private static boolean isScript(Frame frame) {
        return frame.kind() == Frame.Kind.JIT;
    }

    /** Whether it is code of the program, not of a library or of a template of one. */
    private boolean isOwn(Frame frame) {
        return programs.contains(lastName(frame.module()))
                && !frame.name().startsWith("std::")
                && !frame.name().startsWith("__gnu_cxx::")
                && !frame.file().startsWith("/usr/include/");
    }

    /** The files with {@code main}, and that of the command. */
    private static Set<String> programs(HeapProfile profile) {
        String program = profile.command();
        int blank = program.indexOf(' ');
        Set<String> all =
                new HashSet<>(Set.of(lastName(blank < 0 ? program : program.substring(0, blank))));
        for (HeapStack stack : profile.stacks()) {
            stack.frames().stream()
                    .filter(frame -> frame.name().equals("main"))
                    .forEach(frame -> all.add(lastName(frame.module())));
        }
        all.remove("");
        return all;
    }

    private static String bytes(long bytes) {
        String scaled = NumberText.text(Unit.BYTES, bytes, true);
        return bytes < 1_000_000 ? "%,d bytes".formatted(bytes) : scaled;
    }

    private static String blocks(long count) {
        return count == 1 ? "1 block" : "%,d blocks".formatted(count);
    }
}
