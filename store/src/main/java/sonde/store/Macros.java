package sonde.store;

import java.util.Map;
import java.util.Set;
import sonde.store.derive.Derived;

/** Which derived tables the macros of {@code macros.sql} read. */
final class Macros {
    private static final Map<String, Set<Derived>> TABLES =
            Map.of(
                    "ancestor_slice", Set.of(Derived.SLICE),
                    "descendant_slice", Set.of(Derived.SLICE),
                    "callstack", Set.of(Derived.STACK, Derived.FRAME),
                    "callstack_text", Set.of(Derived.STACK, Derived.FRAME),
                    "thread_name", Set.of(Derived.THREAD),
                    "critical_path", Set.of(Derived.THREAD_STATE, Derived.THREAD));

    private Macros() {}

    static Set<Derived> tables(String word) {
        return TABLES.getOrDefault(word, Set.of());
    }
}
