package sonde.store;

import java.util.Map;
import java.util.Set;
import sonde.store.derive.DerivedTable;

/** Which derived tables the macros of {@code macros.sql} read. */
final class SqlMacros {
    private static final Map<String, Set<DerivedTable>> TABLES =
            Map.of(
                    "ancestor_slice", Set.of(DerivedTable.SLICE),
                    "descendant_slice", Set.of(DerivedTable.SLICE),
                    "callstack", Set.of(DerivedTable.STACK, DerivedTable.FRAME),
                    "callstack_text", Set.of(DerivedTable.STACK, DerivedTable.FRAME),
                    "thread_name", Set.of(DerivedTable.THREAD),
                    "critical_path", Set.of(DerivedTable.THREAD_STATE, DerivedTable.THREAD));

    private SqlMacros() {}

    static Set<DerivedTable> tables(String word) {
        return TABLES.getOrDefault(word, Set.of());
    }
}
