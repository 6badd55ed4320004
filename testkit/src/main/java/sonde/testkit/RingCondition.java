package sonde.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Where tests tagged kernel, tracefs and inguest may run, besides what each of them asks for
 * itself.
 *
 * <p>A kernel in lockdown (security/lockdown/lockdown.c, Linux 5.4) refuses tracefs and BPF's
 * reading of its memory to root too, and nothing but a boot ends it. Tests that need them are
 * skipped there. What puts a kernel into such a state runs in a guest alone.
 */
public final class RingCondition implements ExecutionCondition {
    private static final Path LOCKDOWN = Path.of("/sys/kernel/security/lockdown");

    private static final boolean IS_LOCKED = isLocked();

    private static boolean isLocked() {
        try {
            return Files.readString(LOCKDOWN).contains("[confidentiality]");
        } catch (IOException e) {
            return false; // not mounted, or a kernel without it
        }
    }

    @Override
    public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
        if (context.getTags().contains("inguest") && !Boolean.getBoolean("sonde.inguest")) {
            return ConditionEvaluationResult.disabled(
                    "runs in a guest only: it changes the kernel");
        }
        boolean asksTheKernel =
                context.getTags().contains("kernel") || context.getTags().contains("tracefs");
        return asksTheKernel && IS_LOCKED
                ? ConditionEvaluationResult.disabled(
                        "kernel lockdown is confidentiality: no tracefs, no BPF that reads memory")
                : ConditionEvaluationResult.enabled("");
    }
}
