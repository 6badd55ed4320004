package sonde.tools.kernel;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An object that kmemleak found no reference to (mm/kmemleak.c, print_unreferenced()).
 *
 * @param ageMillis 0 where the kernel does not tell: it does not before its second scan
 * @param stack functions with offsets, the allocator first
 */
record MemoryLeak(
        String address, long sizeBytes, String comm, int pid, long ageMillis, List<String> stack) {
    private static final Pattern HEAD =
            Pattern.compile(
                    "\\s*unreferenced object (0x[0-9a-f]{1,16}|\\S+) \\(size (\\d{1,18})\\):");
    private static final Pattern TASK =
            Pattern.compile(
                    "\\s+comm \"(.*)\", pid (-?\\d{1,9}), jiffies \\d+(?: \\(age"
                            + " (\\d{1,12})\\.(\\d{3})s\\))?.*");

    /** {@code [<ADDRESS>] f+0x1/0x2 [module]}; newer kernels print no address. */
    private static final Pattern FRAME = Pattern.compile("\\s+(?:\\[<[^>]*>\\]\\s*)?(\\S.*)");

    /** Functions that allocate for others: the frame behind them is the caller. */
    private static final Pattern ALLOCATOR =
            Pattern.compile(
                    "(__)?(kmem_cache_|kmalloc|kzalloc|kvmalloc|krealloc|kmemdup|kstrdup|slab_|"
                            + "vmalloc|vzalloc|vmemdup|alloc_|__alloc|__vmalloc|__get_free|"
                            + "kmemleak_|pcpu_|memblock_|create_object|devm_k|__do_kmalloc).*");

    /** Equal leaks: of one size and stack. */
    record LeakGroup(List<MemoryLeak> leaks) {
        MemoryLeak first() {
            return leaks.getFirst();
        }

        long bytes() {
            return leaks.stream().mapToLong(MemoryLeak::sizeBytes).sum();
        }

        /** The first function that is not an allocator. */
        String culprit() {
            return first().stack.stream()
                    .filter(frame -> !ALLOCATOR.matcher(frame).matches())
                    .findFirst()
                    .orElse("");
        }
    }

    static List<MemoryLeak> parse(String text) {
        List<MemoryLeak> all = new ArrayList<>();
        String address = "";
        long size = 0;
        String comm = "";
        int pid = 0;
        long age = 0;
        boolean inStack = false;
        List<String> stack = new ArrayList<>();
        for (String line : (text + "\nunreferenced object END (size 0):").split("\n")) {
            Matcher head = HEAD.matcher(line);
            Matcher task = TASK.matcher(line);
            Matcher frame = FRAME.matcher(line);
            if (head.matches()) {
                if (!address.isEmpty()) {
                    all.add(new MemoryLeak(address, size, comm, pid, age, List.copyOf(stack)));
                }
                address = head.group(1);
                size = Long.parseLong(head.group(2));
                comm = "";
                pid = 0;
                age = 0;
                stack.clear();
                inStack = false;
            } else if (task.matches()) {
                comm = task.group(1);
                pid = Integer.parseInt(task.group(2));
                age = task.group(3) == null ? 0 : Long.parseLong(task.group(3) + task.group(4));
            } else if (line.strip().startsWith("backtrace")) {
                inStack = true;
            } else if (inStack && frame.matches()) {
                stack.add(frame.group(1).strip());
            }
        }
        return all;
    }

    /** By stack and size, those with most bytes first. */
    static List<LeakGroup> groups(List<MemoryLeak> leaks) {
        Map<List<Object>, List<MemoryLeak>> equal = new LinkedHashMap<>();
        for (MemoryLeak leak : leaks) {
            equal.computeIfAbsent(List.of(leak.sizeBytes, leak.stack), _ -> new ArrayList<>())
                    .add(leak);
        }
        return equal.values().stream()
                .map(LeakGroup::new)
                .sorted((a, b) -> Long.compare(b.bytes(), a.bytes()))
                .toList();
    }
}
