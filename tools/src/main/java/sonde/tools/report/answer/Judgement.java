package sonde.tools.report.answer;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The rules, and which of their sentences are worth saying. */
public final class Judgement {
    private static final int MOST = 4;

    /** What explains less is not said where something explains more than {@link #MUCH}. */
    private static final double LITTLE = 0.2;

    private static final double MUCH = 0.5;

    /** Of a shorter recording shares are chance. */
    private static final long SHORT_NANOS = 150_000_000;

    /** Judges one side of the evidence; says nothing that the evidence does not show. */
    @FunctionalInterface
    interface AnswerRule {
        List<Finding> judge(Evidence evidence);
    }

    private static final List<AnswerRule> RULES =
            List.of(
                    CpuRules::functions,
                    CpuRules::calls,
                    SharedEvidence::findings,
                    ResourceRules::throttled,
                    ResourceRules::starved,
                    ResourceRules::memory,
                    ResourceRules::network,
                    WaitRules::longest,
                    StormRules::starts,
                    StormRules::zombies,
                    StormRules::signals,
                    StormRules::faults,
                    StormRules::descriptors,
                    StormRules::failures,
                    StormRules::locks);

    private Judgement() {}

    /** At most four sentences, those that explain most first; none where nothing is clear. */
    public static List<String> sentences(Evidence evidence) {
        List<Finding> all = new ArrayList<>(DeathRules.deaths(evidence));
        boolean isShort = evidence.wallNanos() < SHORT_NANOS;
        for (AnswerRule rule : isShort ? List.<AnswerRule>of() : RULES) {
            all.addAll(rule.judge(evidence));
        }
        all.sort(Comparator.comparingDouble((Finding one) -> -one.explained()));
        double most = all.isEmpty() ? 0 : all.getFirst().explained();
        return all.stream()
                .filter(one -> one.explained() >= (most >= MUCH ? LITTLE : LITTLE / 2))
                .limit(MOST)
                .map(Finding::text)
                .distinct()
                .toList();
    }
}
