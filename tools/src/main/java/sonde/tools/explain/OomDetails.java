package sonde.tools.explain;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the killer for lack of memory prints (mm/oom_kill.c, show_free_areas): why it came, what the
 * memory is used for, and the tasks that it could choose from.
 */
final class OomDetails {
    private static final int MOST_TASKS = 1 << 15;
    private static final int MOST_ROWS = 10;
    private static final int MOST_USES = 4;

    private static final Pattern CONSTRAINT =
            Pattern.compile(
                    "^oom-kill:constraint=(?<constraint>CONSTRAINT_\\w+)"
                            + "(?:.*?,oom_memcg=(?<memcg>[^,]+))?");

    private static final Pattern USAGE =
            Pattern.compile("^memory: usage (?<usage>\\d{1,15})kB, limit (?<limit>\\d{1,17})kB");

    private static final Pattern SWAP =
            Pattern.compile("^(?<which>Free|Total) swap +=? *(?<amount>\\d{1,15})kB");

    private static final Pattern COUNT =
            Pattern.compile("\\b(?<name>[a-z_]+):(?<pages>\\d{1,12})\\b");

    private static final Pattern RAM = Pattern.compile("^(?<pages>\\d{1,12}) pages RAM");

    private static final Pattern STAT =
            Pattern.compile(
                    "^(?:Memory cgroup stats for .*: ?)?(?<name>anon|file|kernel|slab|shmem|sock"
                            + "|pagetables|percpu) (?<bytes>\\d{1,18})$");

    private static final Pattern SLAB =
            Pattern.compile("^(?<name>[\\w:.-]+) +(?<used>\\d{1,12})KB +(?<total>\\d{1,12})KB$");

    /** A row of the table; kernels from 6.8 on have three columns more. */
    private static final Pattern ROW =
            Pattern.compile(
                    "^\\[ *(?<pid>\\d{1,9})\\] +\\d{1,10} +\\d{1,9} +\\d{1,15} +(?<rss>\\d{1,12})"
                            + "(?: +\\d{1,15}){1,5} +(?<swap>\\d{1,12}) +(?<adj>-?\\d{1,5}) "
                            + "(?<name>.{1,32})$");

    private static final Pattern KILLED =
            Pattern.compile(
                    "Killed process (?<pid>\\d{1,9}),? \\((?<name>.*?)\\).*? "
                            + "anon-rss:(?<anon>\\d{1,12})kB"
                            + ", file-rss:(?<file>\\d{1,12})kB(?:, "
                            + "shmem-rss:(?<shmem>\\d{1,12})kB)?");

    /** A task of the table; memory in pages. */
    private record Candidate(String pid, long rss, long swap, int adj, String name) {}

    private final List<Candidate> candidates = new ArrayList<>();
    private final Map<String, Long> counts = new LinkedHashMap<>();
    private final Map<String, Long> stats = new LinkedHashMap<>();
    private final Map<String, Long> slabs = new LinkedHashMap<>();
    private final List<String> sentences = new ArrayList<>();
    private final List<String> table = new ArrayList<>();
    private String victim = "";
    private long victimKb = -1;
    private long ram;
    private long freeSwap = -1;
    private long totalSwap = -1;
    private String why = "";

    private OomDetails() {}

    static OomDetails of(List<LogLine> lines) {
        OomDetails details = new OomDetails();
        for (LogLine line : lines) {
            details.take(line.text());
        }
        details.end();
        return details;
    }

    /** Sentences for people. */
    List<String> sentences() {
        return sentences;
    }

    /** The tasks with the most memory, largest first. */
    List<String> table() {
        return table;
    }

    private void take(String text) {
        if (text.length() > 1000) {
            return;
        }
        Matcher row = text.startsWith("[") ? ROW.matcher(text) : null;
        if (row != null && row.lookingAt()) {
            if (candidates.size() < MOST_TASKS) {
                candidates.add(
                        new Candidate(
                                row.group("pid"),
                                Long.parseLong(row.group("rss")),
                                Long.parseLong(row.group("swap")),
                                Integer.parseInt(row.group("adj")),
                                row.group("name")));
            }
            return;
        }
        Matcher constraint = CONSTRAINT.matcher(text);
        Matcher usage = USAGE.matcher(text);
        Matcher swap = SWAP.matcher(text);
        Matcher pages = RAM.matcher(text);
        Matcher stat = STAT.matcher(text);
        Matcher slab = SLAB.matcher(text);
        Matcher killed = KILLED.matcher(text);
        if (constraint.lookingAt()) {
            why = why(constraint.group("constraint"), constraint.group("memcg"));
        } else if (usage.lookingAt()) {
            sentences.add(
                    "the cgroup uses %s of its limit of %s"
                            .formatted(
                                    size(Long.parseLong(usage.group("usage"))),
                                    size(Long.parseLong(usage.group("limit")))));
        } else if (swap.lookingAt()) {
            long amount = Long.parseLong(swap.group("amount"));
            freeSwap = swap.group("which").equals("Free") ? amount : freeSwap;
            totalSwap = swap.group("which").equals("Total") ? amount : totalSwap;
        } else if (pages.lookingAt()) {
            ram = Long.parseLong(pages.group("pages"));
        } else if (stat.lookingAt()) {
            stats.putIfAbsent(stat.group("name"), Long.parseLong(stat.group("bytes")) >> 10);
        } else if (slab.lookingAt()) {
            slabs.putIfAbsent(slab.group("name"), Long.parseLong(slab.group("total")));
        } else if (killed.find()) {
            victim = victim.isEmpty() ? killed.group("pid") : victim;
            String shmem = killed.group("shmem");
            victimKb =
                    Long.parseLong(killed.group("anon"))
                            + Long.parseLong(killed.group("file"))
                            + (shmem == null ? 0 : Long.parseLong(shmem));
        } else if (ram == 0 && !text.startsWith("Node ")) {
            Matcher count = COUNT.matcher(text);
            boolean isCounts =
                    text.contains("_anon:")
                            || text.contains("slab_")
                            || text.contains("mapped:")
                            || text.contains("_file:")
                            || text.contains("free_pcp:");
            while (isCounts && count.find()) {
                counts.putIfAbsent(count.group("name"), Long.parseLong(count.group("pages")));
            }
        }
    }

    private static String why(String constraint, @Nullable String memcg) {
        return switch (constraint) {
            case "CONSTRAINT_MEMCG" ->
                    "the memory cgroup %s reached its limit"
                            .formatted(memcg == null ? "of the task" : memcg);
            case "CONSTRAINT_CPUSET" -> "the memory nodes of the task's cpuset have no free memory";
            case "CONSTRAINT_MEMORY_POLICY" ->
                    "the memory nodes of the task's memory policy have no free memory";
            default -> "the whole machine has no free memory";
        };
    }

    private void end() {
        if (!why.isEmpty()) {
            sentences.addFirst(why);
        }
        long page = page();
        uses(page);
        if (totalSwap == 0) {
            sentences.add("there is no swap");
        } else if (freeSwap >= 0 && totalSwap > 0) {
            sentences.add("%s of %s swap are free".formatted(size(freeSwap), size(totalSwap)));
        }
        candidates.sort(
                Comparator.comparingLong((Candidate one) -> one.rss() + one.swap()).reversed());
        choice(page);
        table(page);
    }

    /** Kilobytes of a page: the victim's memory is printed in both units. 0 where nobody knows. */
    private long page() {
        for (Candidate one : candidates) {
            if (one.pid().equals(victim) && victimKb > 0 && one.rss() > 0) {
                double ratio = (double) victimKb / one.rss();
                for (long size : new long[] {4, 8, 16, 64}) {
                    if (ratio > size * 0.8 && ratio < size * 1.25) {
                        return size;
                    }
                }
            }
        }
        return 0;
    }

    private void uses(long page) {
        Map<String, Long> uses = new LinkedHashMap<>();
        if (!stats.isEmpty()) {
            Map<String, String> names =
                    Map.of("anon", "anonymous", "file", "page cache", "slab", "slab");
            stats.forEach((name, kb) -> uses.put(names.getOrDefault(name, name), kb));
            if (stats.containsKey("kernel")) {
                uses.remove("slab"); // a part of it
            }
        } else if (page > 0 && !counts.isEmpty()) {
            // Pages of tmpfs and shared memory are on the lists of anonymous pages.
            uses.put("anonymous and shared memory", sum(page, "active_anon", "inactive_anon"));
            uses.put("page cache", sum(page, "active_file", "inactive_file"));
            uses.put("unreclaimable slab", sum(page, "slab_unreclaimable"));
            uses.put("reclaimable slab", sum(page, "slab_reclaimable"));
            uses.put("page tables", sum(page, "pagetables"));
            uses.put("free", sum(page, "free"));
        }
        List<Map.Entry<String, Long>> sorted =
                uses.entrySet().stream()
                        .filter(one -> one.getValue() > 0)
                        .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                        .limit(MOST_USES)
                        .toList();
        if (sorted.isEmpty()) {
            return;
        }
        List<String> parts = new ArrayList<>();
        sorted.forEach(one -> parts.add(one.getKey() + " " + size(one.getValue())));
        boolean isAll = stats.isEmpty() && ram > 0;
        sentences.add(
                (isAll ? "of " + size(ram * page) + " memory: " : "its memory: ")
                        + String.join(", ", parts));
        long slab = sum(Math.max(page, 1), "slab_unreclaimable");
        if (isAll && slab > ram * page / 3) {
            sentences.add(
                    "more than a third is the kernel's own slab memory, which killing a task does"
                            + " not free"
                            + largestSlabs());
        }
    }

    private String largestSlabs() {
        List<String> largest =
                slabs.entrySet().stream()
                        .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
                        .limit(3)
                        .map(one -> one.getKey() + " " + size(one.getValue()))
                        .toList();
        return largest.isEmpty() ? "" : ": " + String.join(", ", largest);
    }

    private long sum(long page, String... names) {
        long pages = 0;
        for (String name : names) {
            pages += counts.getOrDefault(name, 0L);
        }
        return pages * page;
    }

    /** Why this task: the kernel adds memory, swap and oom_score_adj. */
    private void choice(long page) {
        int at = 0;
        while (at < candidates.size() && !candidates.get(at).pid().equals(victim)) {
            at++;
        }
        if (victim.isEmpty() || at == candidates.size()) {
            return;
        }
        Candidate killed = candidates.get(at);
        List<String> spared = new ArrayList<>();
        for (Candidate one : candidates.subList(0, at)) {
            if (spared.size() < 3) {
                spared.add("%s (%d)".formatted(one.name(), one.adj()));
            }
        }
        String amount = page == 0 ? killed.rss() + " pages" : size(killed.rss() * page);
        if (at == 0) {
            sentences.add(
                    "%s (pid %s) was chosen: of %d tasks it had the most memory, %s"
                            .formatted(killed.name(), victim, candidates.size(), amount));
        } else {
            sentences.add(
                    ("%s (pid %s) was chosen with %s and oom_score_adj %d; %d of %d tasks had more"
                                    + " memory: %s")
                            .formatted(
                                    killed.name(),
                                    victim,
                                    amount,
                                    killed.adj(),
                                    at,
                                    candidates.size(),
                                    String.join(", ", spared)));
        }
    }

    private void table(long page) {
        if (candidates.size() < 2) {
            return;
        }
        table.add("%8s  %10s  %10s  %6s  %s".formatted("pid", "resident", "swap", "adj", "task"));
        for (Candidate one : candidates.subList(0, Math.min(MOST_ROWS, candidates.size()))) {
            table.add(
                    "%8s  %10s  %10s  %6d  %s%s"
                            .formatted(
                                    one.pid(),
                                    page == 0 ? one.rss() + " p" : size(one.rss() * page),
                                    page == 0 ? one.swap() + " p" : size(one.swap() * page),
                                    one.adj(),
                                    one.name(),
                                    one.pid().equals(victim) ? "  <- killed" : ""));
        }
        if (candidates.size() > MOST_ROWS) {
            table.add("… %d more".formatted(candidates.size() - MOST_ROWS));
        }
    }

    private static String size(long kilobytes) {
        return kilobytes >= 10L << 20
                ? "%.1f GB".formatted(kilobytes / 1048576.0)
                : kilobytes >= 10 << 10
                        ? "%.0f MB".formatted(kilobytes / 1024.0)
                        : kilobytes + " kB";
    }
}
