package sonde.tools.bpf;

import java.io.IOException;

/** A file that is not a program, by the name that the user gave, with the place in it. */
public final class BpfInputException extends IOException {
    private static final long serialVersionUID = 1L;

    BpfInputException(String message) {
        super(message);
    }
}
