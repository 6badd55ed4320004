package sonde.cli;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import sonde.sys.Fd;
import sonde.sys.SyscallException;
import sonde.view.Style;

/** What a standard stream is connected to. */
final class Terminal {
    static final int STDOUT = 1;
    static final int STDERR = 2;

    /** ioctl TIOCGWINSZ (include/uapi/asm-generic/ioctls.h). */
    private static final int TIOCGWINSZ = 0x5413;

    private Terminal() {}

    /** Columns of the terminal behind that descriptor; 0 when it is none. */
    static int width(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment winsize = arena.allocate(8, 2); // struct winsize: ws_row, ws_col, …
            Fd.ioctl(fd, TIOCGWINSZ, winsize);
            int columns = winsize.get(ValueLayout.JAVA_SHORT, 2) & 0xffff;
            return columns == 0 ? 80 : columns;
        } catch (SyscallException e) {
            return 0; // ENOTTY: no terminal
        }
    }

    /** How to write to that descriptor: colour only on a terminal and without NO_COLOR. */
    static Style style(int fd) {
        int width = width(fd);
        return width == 0 ? Style.PLAIN : new Style(width, System.getenv("NO_COLOR") == null, true);
    }
}
