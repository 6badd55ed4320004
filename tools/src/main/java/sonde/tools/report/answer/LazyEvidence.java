package sonde.tools.report.answer;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Evidence that is made once, when it is first asked for. */
public final class LazyEvidence {
    private @Nullable Evidence evidence;

    /** Not made yet. */
    public LazyEvidence() {}

    /** The evidence; {@code maker} makes it the first time. */
    public Evidence of(Supplier<Evidence> maker) {
        Evidence known = evidence;
        if (known == null) {
            known = maker.get();
            evidence = known;
        }
        return known;
    }
}
