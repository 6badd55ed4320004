package sonde.lang.output;

import sonde.sys.Errno;

/** strerror. */
final class ErrorText {
    private ErrorText() {}

    static String of(long errno) {
        if (errno == 0) {
            return "Success";
        }
        String name = errno == (int) errno ? Errno.name((int) errno) : "errno ";
        return name.startsWith("errno ") ? "Unknown error " + errno : Errno.meaning((int) errno);
    }
}
