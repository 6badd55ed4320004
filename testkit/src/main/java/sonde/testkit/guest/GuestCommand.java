package sonde.testkit.guest;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Runs one command of this machine in a guest, for scripts. No build is needed:
 *
 * {@snippet lang=sh :
 * java -cp testkit/src/main/resources:jspecify.jar \
 *     testkit/src/main/java/sonde/testkit/guest/GuestCommand.java \
 *     6.12 /tmp/shared 600 nf_tables,xfs uname -a
 * }
 *
 * <p>The output lies in {@code cmd.out} of the shared folder and grows there while the command
 * runs; the guest's last words in {@code console}.
 */
public final class GuestCommand {
    private static final int MEMORY_MIB = 3072;

    private GuestCommand() {}

    /**
     * Runs.
     *
     * @param arguments the kernel's series, the folder that the guest sees as {@code /mnt}, the
     *     limit in seconds, kernel modules to load ("-" for none, else joined with commas), the
     *     command
     * @throws IOException when the guest does not come up or ends before the command does
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        List<String> words = List.of(arguments);
        GuestKernel kernel = GuestKernel.of(words.get(0));
        List<Step> steps = new ArrayList<>();
        try (Guest guest = new Guest(kernel, Path.of(words.get(1)), MEMORY_MIB)) {
            if (!words.get(3).equals("-")) {
                steps.add(guest.modules(List.of(words.get(3).split(",", -1))));
            }
            Step command =
                    new Step("cmd", words.subList(4, words.size()), Integer.parseInt(words.get(2)));
            steps.add(command);
            Guest.Outcome outcome = guest.run(steps);
            if (outcome.steps().stream().noneMatch(step -> step.name().equals(command.name()))) {
                throw new IOException("guest ended before the command: " + outcome.console());
            }
        }
    }
}
