package sonde.tools.leaks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import sonde.event.result.Frame;
import sonde.event.result.Report;
import sonde.event.result.Result;
import sonde.event.result.Table;
import sonde.event.result.TableBuilder;
import sonde.event.result.TextLayout;
import sonde.lang.output.GfpFlags;
import sonde.probe.kmem.AllocationKind;
import sonde.symbol.KernelRun;
import sonde.tools.leaks.UnfreedObjects.LeakVerdict;
import sonde.view.TextEscape;

/** Shows leaks: a sentence each, then stacks, then what is kept on purpose. */
final class LeakPage {
    private static final int SENTENCES = 5;

    /** In the text; JSON has all. */
    private static final int STACKS = 20;

    private LeakPage() {}

    static Result of(List<UnfreedObjects> groups, String when, List<String> notes) {
        List<UnfreedObjects> leaks = only(groups, LeakVerdict.LEAK);
        List<UnfreedObjects> rest =
                groups.stream().filter(one -> one.verdict() != LeakVerdict.LEAK).toList();
        List<String> answer = answer(leaks, when);
        List<Result> sections = new ArrayList<>();
        sections.add(table("leaks", leaks));
        sections.add(table("no leaks", rest));
        return new TextLayout(
                new Report("leaks", answer, notes, sections),
                out -> {
                    answer.forEach(line -> out.println(TextEscape.line(line)));
                    leaks.stream().limit(STACKS).forEach(one -> stack(one, out::println));
                    kept(rest, out::println);
                    notes.forEach(note -> out.println("note: " + TextEscape.line(note)));
                });
    }

    /** Which caches grew, and by which stacks. */
    static Result growth(
            List<UnfreedObjects> groups, List<SlabUse> grown, double seconds, List<String> notes) {
        List<UnfreedObjects> leaks = only(groups, LeakVerdict.LEAK);
        List<String> answer = new ArrayList<>();
        for (UnfreedObjects one : leaks.subList(0, Math.min(SENTENCES, leaks.size()))) {
            answer.add(
                    "%s allocated %s that are still there, %.1f a second."
                            .formatted(one.culprit(), one.amount(), one.objects() / seconds));
        }
        if (leaks.isEmpty()) {
            answer.add("No stack allocates more and more memory.");
        }
        Table caches =
                new TableBuilder<SlabUse>("caches that grew")
                        .text("cache", SlabUse::name)
                        .count("objects", SlabUse::objects)
                        .bytes("size", SlabUse::bytes)
                        .text("most by", one -> by(groups, one.name()))
                        .table(grown);
        Report report =
                new Report("growth", answer, notes, List.of(caches, table("stacks", groups)));
        return new TextLayout(
                report,
                out -> {
                    answer.forEach(line -> out.println(TextEscape.line(line)));
                    out.println("");
                    out.println(
                            "%-28s %10s %12s  %s"
                                    .formatted("cache", "objects", "bytes", "most by"));
                    for (SlabUse one : grown) {
                        out.println(
                                TextEscape.line(
                                        "%-28s %+10d %+12d  %s"
                                                .formatted(
                                                        one.name(),
                                                        one.objects(),
                                                        one.bytes(),
                                                        by(groups, one.name()))));
                    }
                    leaks.stream().limit(STACKS).forEach(one -> stack(one, out::println));
                    kept(only(groups, LeakVerdict.KEPT), out::println);
                    notes.forEach(note -> out.println("note: " + TextEscape.line(note)));
                });
    }

    /** Who allocated most of what is left in a cache. */
    private static String by(List<UnfreedObjects> groups, String cache) {
        return groups.stream()
                .filter(one -> one.cache().equals(cache) || one.cache().startsWith(cache + " "))
                .findFirst()
                .map(one -> one.culprit() + ", " + one.objects() + " left")
                .orElse("");
    }

    private static List<UnfreedObjects> only(List<UnfreedObjects> groups, LeakVerdict verdict) {
        return groups.stream().filter(one -> one.verdict() == verdict).toList();
    }

    private static List<String> answer(List<UnfreedObjects> leaks, String when) {
        if (leaks.isEmpty()) {
            return List.of(
                    "No leak: all that was allocated "
                            + when
                            + " was freed, or is kept on"
                            + " purpose.");
        }
        List<String> sentences = new ArrayList<>();
        for (UnfreedObjects one : leaks.subList(0, Math.min(SENTENCES, leaks.size()))) {
            sentences.add(one.culprit() + " leaked " + one.amount() + ", never freed.");
        }
        if (leaks.size() > SENTENCES) {
            List<UnfreedObjects> others = leaks.subList(SENTENCES, leaks.size());
            sentences.add(
                    "%d more stacks leaked %d bytes."
                            .formatted(
                                    others.size(),
                                    others.stream().mapToLong(UnfreedObjects::used).sum()));
        }
        return sentences;
    }

    /** Prints lines. */
    private interface LeakLines {
        void println(String line);
    }

    private static void stack(UnfreedObjects one, LeakLines out) {
        out.println("");
        String used = one.used() == one.requested() ? "" : " (" + one.used() + " used)";
        out.println(
                TextEscape.line(
                        "%d × %s%s = %d bytes%s, %s, %s"
                                .formatted(
                                        one.objects(),
                                        one.least() == one.most()
                                                ? one.least()
                                                : one.least() + " to " + one.most(),
                                        one.cache().isEmpty() ? "" : " in " + one.cache(),
                                        one.requested(),
                                        used,
                                        memory(one),
                                        tasks(one))));
        for (Frame frame : one.callers()) {
            String module = frame.module();
            boolean named = module.isEmpty() || module.equals(KernelRun.KERNEL);
            out.println("    " + TextEscape.line(frame.shown() + (named ? "" : " " + module)));
        }
    }

    private static String memory(UnfreedObjects one) {
        String flags =
                one.kind() == AllocationKind.VMALLOC && one.gfp() == 0
                        ? ""
                        : ", " + GfpFlags.text(Integer.toUnsignedLong(one.gfp()));
        return one.kind().shown() + flags;
    }

    private static String tasks(UnfreedObjects one) {
        return "by "
                + one.pids().stream()
                        .limit(3)
                        .map(pid -> name(pid))
                        .collect(Collectors.joining(", "))
                + (one.pids().size() > 3 ? " and " + (one.pids().size() - 3) + " more" : "");
    }

    private static String name(int pid) {
        try {
            return Files.readString(Path.of("/proc/" + pid + "/comm")).strip() + " (" + pid + ")";
        } catch (IOException e) {
            return "process " + pid;
        }
    }

    private static void kept(List<UnfreedObjects> rest, LeakLines out) {
        Map<String, long[]> reasons = new LinkedHashMap<>();
        for (UnfreedObjects one : rest) {
            long[] sums = reasons.computeIfAbsent(one.reason(), _ -> new long[2]);
            sums[0] += one.objects();
            sums[1] += one.used();
        }
        if (!reasons.isEmpty()) {
            out.println("");
            out.println("Not freed, and no leaks:");
            reasons.forEach((reason, sums) ->
                    out.println(
                            "  %,d objects, %,d bytes: %s".formatted(sums[0], sums[1], reason)));
        }
    }

    private static Table table(String title, List<UnfreedObjects> groups) {
        return new TableBuilder<UnfreedObjects>(title)
                .count("objects", UnfreedObjects::objects)
                .bytes("requested", UnfreedObjects::requested)
                .bytes("used", UnfreedObjects::used)
                .bytes("smallest", UnfreedObjects::least)
                .bytes("largest", UnfreedObjects::most)
                .text("kind", one -> one.kind().shown())
                .text("cache", UnfreedObjects::cache)
                .text("allocated by", UnfreedObjects::culprit)
                .text("gfp", one -> GfpFlags.text(Integer.toUnsignedLong(one.gfp())))
                .text(
                        "pids",
                        one ->
                                one.pids().stream()
                                        .sorted()
                                        .map(String::valueOf)
                                        .collect(Collectors.joining(",")))
                .text("reason", UnfreedObjects::reason)
                .text(
                        "stack",
                        one ->
                                one.frames().stream()
                                        .map(Frame::shown)
                                        .collect(Collectors.joining("; ")))
                .table(groups);
    }
}
