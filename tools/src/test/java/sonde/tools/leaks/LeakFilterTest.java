package sonde.tools.leaks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import sonde.event.result.Frame;

/** Which frames belong to a driver, and which to the allocator. */
final class LeakFilterTest {
    private static final List<Frame> STACK =
            List.of(
                    new Frame("__kmalloc_cache_noprof", "[kernel]", Frame.Kind.KERNEL),
                    new Frame("kzalloc_noprof", "[nsim_x]", Frame.Kind.KERNEL)
                            .at("include/linux/slab.h", 900),
                    new Frame("nsim_add.isra.0", "[nsim_x]", Frame.Kind.KERNEL)
                            .at("drivers/net/nsim/dev.c", 7),
                    new Frame("kernfs_new_node", "[kernel]", Frame.Kind.KERNEL));

    private static boolean passes(
            Set<String> modules, Set<String> functions, String pattern, String source) {
        return new LeakFilter(
                        modules,
                        functions,
                        pattern.isEmpty() ? List.of() : List.of(Pattern.compile(pattern)),
                        source.isEmpty() ? List.of() : List.of(source))
                .passes(STACK);
    }

    @Test
    void aStackWithCodeOfTheDriverPasses() {
        assertThat(passes(Set.of("nsim_x"), Set.of(), "", "")).isTrue();
        assertThat(passes(Set.of("nsim"), Set.of(), "", "")).isFalse();
        assertThat(passes(Set.of(), Set.of("nsim_add"), "", "")).isTrue();
        assertThat(passes(Set.of(), Set.of("nsim"), "", "")).isFalse();
        assertThat(passes(Set.of(), Set.of(), "nsim_.*", "")).isTrue();
        assertThat(passes(Set.of(), Set.of(), "add", "")).isFalse();
        assertThat(passes(Set.of(), Set.of(), "", "net/nsim")).isTrue();
        assertThat(passes(Set.of(), Set.of(), "", "nsim/dev.c")).isTrue();
        assertThat(passes(Set.of(), Set.of(), "", "sim/dev.c")).isFalse();
    }

    @Test
    void framesOfTheAllocatorAreCutOffButNeverAll() {
        assertThat(LeakStacks.allocators(STACK)).isEqualTo(2);
        assertThat(LeakStacks.allocators(STACK.subList(0, 2))).isZero();
        for (String name :
                List.of(
                        "kmalloc_trace",
                        "__kmalloc_node_track_caller",
                        "kmem_cache_alloc_lru_noprof",
                        "kstrdup",
                        "kvmalloc_node",
                        "__alloc_pages_noprof",
                        "pcpu_alloc",
                        "vzalloc",
                        "__vmalloc_node_range_noprof",
                        "devm_kmalloc")) {
            List<Frame> two = List.of(new Frame(name, "", Frame.Kind.KERNEL), STACK.get(2));
            assertThat(LeakStacks.allocators(two)).as(name).isEqualTo(1);
        }
        for (String name : List.of("sk_prot_alloc", "alloc_netdev_mqs", "foo_kmalloc")) {
            List<Frame> two = List.of(new Frame(name, "", Frame.Kind.KERNEL), STACK.get(2));
            assertThat(LeakStacks.allocators(two)).as(name).isZero();
        }
    }

    @Test
    void growthIsWhatCachesHaveMoreThanBefore() {
        var before = Map.of("a", new SlabUse("a", 10, 8), "b", new SlabUse("b", 5, 64));
        var after =
                Map.of(
                        "a", new SlabUse("a", 12, 8),
                        "b", new SlabUse("b", 4, 64),
                        "new", new SlabUse("new", 1, 32));
        assertThat(SlabUse.growth(before, after))
                .containsExactly(new SlabUse("new", 1, 32), new SlabUse("a", 2, 8));
    }
}
