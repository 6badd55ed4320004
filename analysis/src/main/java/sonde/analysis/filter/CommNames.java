package sonde.analysis.filter;

import org.jspecify.annotations.Nullable;

/** Names of threads, for {@code COMM}. */
@FunctionalInterface
public interface CommNames {
    /** The name at the time of the row that is tested; null when unknown. */
    byte @Nullable [] comm(int tid);
}
