package sonde.cli;

import java.io.IOException;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import sonde.bpf.Pins;

/** {@code pin} of programs, maps and links. */
final class BpfPins {
    private BpfPins() {}

    /**
     * Pins an object.
     *
     * @param rest the two words that name it, then the path
     */
    static int pin(List<String> rest, int fd, CommandLine line) throws IOException {
        if (rest.size() != 3) {
            throw new ParameterException(line, "say where: pin id 5 /sys/fs/bpf/NAME");
        }
        Pins.pin(fd, rest.get(2));
        return ExitCode.DONE;
    }
}
