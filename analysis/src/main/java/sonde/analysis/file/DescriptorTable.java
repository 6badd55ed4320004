package sonde.analysis.file;

import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** The descriptors of a process, or of those that share a table (CLONE_FILES). */
final class DescriptorTable {
    /** Higher descriptors are not followed. */
    static final int LIMIT = 1 << 16;

    /** Whether every descriptor in it is known, so that the kernel's next choice is, too. */
    boolean whole;

    /** Whether it is known of every descriptor in it if exec closes it. */
    boolean marksKnown;

    /** Whether only what the next exec keeps was listed: that exec makes it whole. */
    boolean awaitsExec;

    private @Nullable OpenFile[] slots = new OpenFile[16];
    private final BitSet closedOnExec = new BitSet();

    DescriptorTable(boolean whole, boolean marksKnown) {
        this.whole = whole;
        this.marksKnown = marksKnown;
    }

    @Nullable OpenFile at(int fd) {
        return fd >= 0 && fd < slots.length ? slots[fd] : null;
    }

    void put(int fd, @Nullable OpenFile opened, boolean closeOnExec) {
        if (fd < 0 || fd >= LIMIT) {
            return;
        }
        if (fd >= slots.length) {
            if (opened == null) {
                return;
            }
            slots = Arrays.copyOf(slots, Math.max(fd + 1, 2 * slots.length));
        }
        slots[fd] = opened;
        closedOnExec.set(fd, closeOnExec && opened != null);
    }

    boolean closesOnExec(int fd) {
        return fd >= 0 && closedOnExec.get(fd);
    }

    void closeOnExec(int fd, boolean on) {
        if (at(fd) != null) {
            closedOnExec.set(fd, on);
        }
    }

    /** close_range(2). */
    void range(long first, long last, boolean onlyMark) {
        for (long fd = Math.max(first, 0); fd <= Math.min(last, slots.length - 1L); fd++) {
            if (onlyMark) {
                closeOnExec((int) fd, true);
            } else {
                put((int) fd, null, false);
            }
        }
    }

    /** The lowest free descriptor: what the kernel gives next (alloc_fd of fs/file.c). */
    int lowestFree() {
        int fd = 0;
        while (fd < slots.length && slots[fd] != null) {
            fd++;
        }
        return fd;
    }

    /** As fork leaves it to the child. */
    DescriptorTable copy() {
        DescriptorTable copy = new DescriptorTable(whole, marksKnown);
        copy.slots = slots.clone();
        copy.closedOnExec.or(closedOnExec);
        return copy;
    }

    /** As exec leaves it. */
    DescriptorTable afterExec() {
        DescriptorTable rest = copy();
        rest.whole = awaitsExec || whole && marksKnown;
        for (int fd = closedOnExec.nextSetBit(0); fd >= 0; fd = closedOnExec.nextSetBit(fd + 1)) {
            rest.put(fd, null, false);
        }
        for (int fd = 0; awaitsExec && fd < rest.slots.length; fd++) {
            OpenFile opened = rest.slots[fd];
            if (opened != null && opened.name == null && !opened.madeHere) {
                rest.put(fd, null, false);
            }
        }
        return rest;
    }
}
