package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import sonde.analysis.ThreadTable;
import sonde.analysis.sched.OffCpu;
import sonde.analysis.sched.OffCpu.OffCpuCause;
import sonde.analysis.sched.ThreadState;
import sonde.tools.report.OffCpuCauses;
import sonde.tools.report.ReportOperators;
import sonde.tools.report.answer.Evidence.ThreadGroup;

/**
 * Puts threads together that a reader takes for one thing: those with the same name but for
 * numbers. The first thread of a process, and the parent of others, do something else than those
 * that they made; of a few it is told who does what.
 */
final class ThreadGroups {
    private static final Pattern NUMBER = Pattern.compile("[-_#:/ ]*\\d+$");

    /** Groups of so many are split by what their threads spend most time in. */
    private static final int FEW = 4;

    private final ReportOperators found;
    private final OffCpu offCpu;
    private final ProgramFrames frames;

    ThreadGroups(ReportOperators found, OffCpu offCpu, ProgramFrames frames) {
        this.found = found;
        this.offCpu = offCpu;
        this.frames = frames;
    }

    private record Member(String name, String role) {}

    /** The group of each of these threads. */
    Map<Integer, ThreadGroup> of(List<Integer> threads) {
        Map<String, Set<String>> spellings =
                threads.stream()
                        .map(found.threads()::name)
                        .collect(
                                Collectors.groupingBy(
                                        ThreadGroups::plain,
                                        Collectors.toCollection(HashSet::new)));
        Map<Member, List<Integer>> members = new LinkedHashMap<>();
        for (int thread : threads) {
            String name = found.threads().name(thread);
            String shown =
                    spellings.getOrDefault(plain(name), Set.of()).size() > 1 ? plain(name) : name;
            members.computeIfAbsent(new Member(shown, ""), _ -> new ArrayList<>()).add(thread);
        }
        Map<Integer, ThreadGroup> groups = new HashMap<>();
        Map<Integer, String> doing = doing(threads);
        Map<Integer, Long> sizes =
                threads.stream()
                        .collect(
                                Collectors.groupingBy(found.threads()::pid, Collectors.counting()));
        members.forEach((member, all) ->
                roles(all, sizes).values().stream()
                        .flatMap(role -> split(role, doing).stream())
                        .forEach(part -> {
                            ThreadGroup group = group(member.name, part);
                            part.forEach(thread -> groups.put(thread, group));
                        }));
        return groups;
    }

    private static String plain(String name) {
        String plain = NUMBER.matcher(name).replaceFirst("");
        return plain.isEmpty() ? name : plain;
    }

    private Map<String, List<Integer>> roles(List<Integer> all, Map<Integer, Long> sizes) {
        ThreadTable table = found.threads();
        Set<Integer> pids = all.stream().map(table::pid).collect(Collectors.toSet());
        Set<Integer> parents =
                all.stream()
                        .map(table::parent)
                        .filter(parent -> parent >= 0)
                        .map(table::pid)
                        .filter(pids::contains)
                        .collect(Collectors.toSet());
        Map<String, List<Integer>> roles = new LinkedHashMap<>();
        for (int thread : all) {
            boolean leads = table.tid(thread) == table.pid(thread);
            boolean others = sizes.getOrDefault(table.pid(thread), 0L) > 1;
            String role =
                    !leads
                            ? ""
                            : parents.contains(table.pid(thread)) ? "parent" : others ? "main" : "";
            roles.computeIfAbsent(role, _ -> new ArrayList<>()).add(thread);
        }
        return roles;
    }

    private static Collection<List<Integer>> split(List<Integer> all, Map<Integer, String> doing) {
        return all.size() > FEW
                ? List.of(all)
                : all.stream()
                        .collect(
                                Collectors.groupingBy(
                                        thread -> doing.getOrDefault(thread, ""),
                                        LinkedHashMap::new,
                                        Collectors.toList()))
                        .values();
    }

    /**
     * What each thread spent most of its time in: a call and the place that made it, or running.
     */
    private Map<Integer, String> doing(List<Integer> threads) {
        Map<Integer, Map<String, Long>> times = new HashMap<>();
        for (OffCpu.Entry entry : offCpu.entries()) {
            OffCpuCause cause = entry.cause();
            if (cause.state() != ThreadState.WAITING && cause.state() != ThreadState.PREEMPTED) {
                ProgramPlace place = frames.of(cause.stack());
                String what = OffCpuCauses.callName(found, cause) + ' ' + place.chain();
                times.computeIfAbsent(cause.thread(), _ -> new HashMap<>())
                        .merge(what, entry.sum().nanos(), Long::sum);
            }
        }
        Map<Integer, String> doing = new HashMap<>();
        for (int thread : threads) {
            Map<String, Long> time = times.computeIfAbsent(thread, _ -> new HashMap<>());
            time.put("", time(List.of(thread), ThreadState.RUNNING));
            time.entrySet().stream()
                    .max(Map.Entry.comparingByValue(Comparator.naturalOrder()))
                    .ifPresent(most -> doing.put(thread, most.getKey()));
        }
        return doing;
    }

    private ThreadGroup group(String name, List<Integer> all) {
        boolean one = all.size() == 1;
        return new ThreadGroup(
                one ? found.threads().name(all.getFirst()) : name,
                one ? found.threads().tid(all.getFirst()) : 0,
                all.size(),
                all.stream().allMatch(found.threads()::isProcessTold)
                        ? (int) all.stream().map(found.threads()::pid).distinct().count()
                        : 1,
                all.stream().mapToLong(found.totals()::wallNanos).sum(),
                time(all, ThreadState.RUNNING),
                time(all, ThreadState.WAITING) + time(all, ThreadState.PREEMPTED));
    }

    private long time(List<Integer> threads, ThreadState state) {
        return threads.stream().mapToLong(thread -> found.totals().nanos(thread, state)).sum();
    }
}
