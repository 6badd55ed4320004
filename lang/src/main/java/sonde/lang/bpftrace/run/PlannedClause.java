package sonde.lang.bpftrace.run;

import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import sonde.lang.bpftrace.check.ScriptClause;
import sonde.lang.probes.ProbeGroup;

/**
 * A clause and the probes that share a program of it.
 *
 * @param attachment of a script for any machine; null for others
 * @param atReturn the block that runs when the group's functions return; null for none
 */
record PlannedClause(
        ScriptClause clause,
        ProbeGroup group,
        @Nullable PortableAttachment attachment,
        @Nullable PlannedClause atReturn) {
    PlannedClause(ScriptClause clause, ProbeGroup group, @Nullable PortableAttachment attachment) {
        this(clause, group, attachment, null);
    }

    /** This and what was put together with it. */
    Stream<PlannedClause> parts() {
        return Stream.concat(Stream.of(this), Stream.ofNullable(atReturn));
    }
}
