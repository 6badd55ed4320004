package sonde.sys;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** How large the terminal behind a descriptor is. */
public final class TerminalSize {
    /** include/uapi/asm-generic/ioctls.h. */
    private static final int TIOCGWINSZ = 0x5413;

    /** struct winsize: u16 ws_row, ws_col, ws_xpixel, ws_ypixel. */
    private static final int WINSIZE_BYTES = 8;

    private static final int WS_COL = 2;

    private TerminalSize() {}

    /** Columns; 80 when the terminal does not say, 0 when there is no terminal. */
    public static int columns(int fd) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment winsize = arena.allocate(WINSIZE_BYTES, 2);
            Fd.ioctl(fd, TIOCGWINSZ, winsize);
            int columns = winsize.get(ValueLayout.JAVA_SHORT, WS_COL) & 0xffff;
            return columns == 0 ? 80 : columns;
        } catch (SyscallException e) {
            return 0; // ENOTTY
        }
    }
}
