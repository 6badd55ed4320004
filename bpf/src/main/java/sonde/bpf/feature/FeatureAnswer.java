package sonde.bpf.feature;

/** What a probe found out about a feature of the running kernel. */
public sealed interface FeatureAnswer {
    /** It is there. */
    record Yes() implements FeatureAnswer {}

    /**
     * It is not there.
     *
     * @param why the kernel's words or errno
     */
    record No(String why) implements FeatureAnswer {}

    /**
     * It cannot be told, mostly because a policy answered before the feature could.
     *
     * @param why in words
     */
    record UnknownSupport(String why) implements FeatureAnswer {}

    /** Whether it is surely there. */
    default boolean isYes() {
        return this instanceof Yes;
    }

    /** {@code "yes"}, {@code "no"} or {@code "cannot tell"}. */
    default String word() {
        return switch (this) {
            case Yes _ -> "yes";
            case No _ -> "no";
            case UnknownSupport _ -> "cannot tell";
        };
    }

    /** The reason; empty for yes. */
    default String reason() {
        return switch (this) {
            case Yes _ -> "";
            case No no -> no.why();
            case UnknownSupport unknown -> unknown.why();
        };
    }
}
