package sonde.tools.leaks;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import sonde.probe.launch.CommandWords;
import sonde.probe.launch.InheritedState;
import sonde.symbol.files.GivenPlaces;
import sonde.tools.leaks.UnfreedObjects.LeakVerdict;

/** A module that leaks in nine ways, {@code leaky.c}, built against the guest's headers. */
@Tag("inguest")
final class LeaksInGuestTest {
    private static final long SECOND = 1_000_000_000L;

    private static List<UnfreedObjects> leaks(String options) throws Exception {
        String module = System.getProperty("sonde.guest.leaky");
        CommandWords alloc =
                CommandWords.of("/bin/sh", "-c", "busybox insmod " + module + " " + options);
        CommandWords free = CommandWords.of("/bin/sh", "-c", "busybox rmmod leaky || :");
        LeaksRequest request =
                new LeaksRequest(
                        alloc,
                        "insmod",
                        free,
                        0,
                        false,
                        0,
                        SECOND / 2,
                        false,
                        true,
                        0,
                        new LeakFilter(Set.of("leaky"), Set.of(), List.of(), List.of()),
                        new GivenPlaces(
                                List.of(module.substring(0, module.lastIndexOf('/'))),
                                Optional.empty(),
                                Optional.empty()),
                        InheritedState.capture());
        try (LeaksRun run = new LeaksRun(request)) {
            run.result();
            return run.groups().stream().filter(one -> one.verdict() != LeakVerdict.KEPT).toList();
        }
    }

    /** What is compared: place without the compiler's endings, objects, bytes. */
    private static Set<String> shown(List<UnfreedObjects> leaks) {
        Set<String> lines = new TreeSet<>();
        for (UnfreedObjects one : leaks) {
            String culprit = one.culprit().replaceAll("\\.(isra|constprop)\\.\\d+", "");
            lines.add(culprit + ": " + one.objects() + ", " + one.requested());
        }
        return lines;
    }

    @Test
    void eachLeakHasItsLineCountAndBytes() throws Exception {
        String fixed = "leak_area at leaky.c:42: 1, ";
        Set<String> found = shown(leaks(""));
        assertThat(found).anySatisfy(line -> assertThat(line).matches(fixed + "(100000|102400)"));
        found.removeIf(line -> line.startsWith(fixed));
        // SLUB merges the cache of 200 bytes with others of its size.
        found.removeIf(line -> line.matches("leak_items at leaky.c:50: 5, (1000|1280)"));
        assertThat(found)
                .containsExactly(
                        "leak_counters at leaky.c:60: 1, 64",
                        "leak_large at leaky.c:37: 1, 1048576",
                        "leak_middle at leaky.c:32: 3, 384",
                        "leak_pages at leaky.c:55: 1, 16384",
                        "leak_small at leaky.c:23: 7, 56",
                        "leak_words at leaky.c:65: 1, 12",
                        "leak_words at leaky.c:66: 1, 10");
    }

    @Test
    void anErrorPathThatForgetsMemoryIsFound() throws Exception {
        // busybox tries two system calls: the module fails twice.
        assertThat(leaks("fail=1"))
                .isNotEmpty()
                .allSatisfy(one -> {
                    assertThat(one.culprit()).isEqualTo("leaky_init at leaky.c:108");
                    assertThat(one.requested()).isEqualTo(300 * one.objects());
                });
    }

    @Test
    void theRepairedModuleLeaksNothing() throws Exception {
        assertThat(leaks("fixed=1")).isEmpty();
        assertThat(leaks("fixed=1 fail=1")).isEmpty();
    }
}
