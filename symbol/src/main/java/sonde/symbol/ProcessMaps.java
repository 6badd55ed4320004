package sonde.symbol;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.symbol.CodeModule.Kind;

/**
 * What each process had mapped, followed forward in time. Records are fed in the order of their
 * times, and locations are asked for in between.
 *
 * <p>A location is a long that means a piece of code for the whole recording:
 *
 * <ul>
 *   <li>negative: an address of the kernel as it is;
 *   <li>else the number of a {@link CodeModule} in bits 40..62 and an offset in it in bits 0..39.
 * </ul>
 *
 * <p>Equal code in different processes, or mapped at different addresses, has equal locations.
 * {@link #location} takes the address of the instruction: of a caller's frame pass {@code ip - 1},
 * for its return address may be the first one of the next function. Not thread-safe.
 */
public final class ProcessMaps {
    private static final int OFFSET_BITS = 40;
    private static final long OFFSET_MASK = (1L << OFFSET_BITS) - 1;
    private static final int MODULE_LIMIT = 1 << 22;

    /** arch/x86/include/uapi/asm/vsyscall.h: VSYSCALL_ADDR. */
    private static final long VSYSCALL = 0xffffffffff600000L;

    private static final long VSYSCALL_BYTES = 4096;

    /** The most that user memory has: five levels of page tables on x86-64. */
    private static final int USER_BITS = 56;

    /** Processes that have ended are known this much longer: their last samples may come late. */
    private static final int EXITED_KEPT = 1024;

    private final Map<Integer, ProcessAddressSpace> spaces = new HashMap<>();
    private final ArrayDeque<ExitedProcess> exited = new ArrayDeque<>();
    private final Map<FileKey, Integer> files = new HashMap<>();
    private final List<CodeModule> modules = new ArrayList<>();
    private final ProcessAddressSpace kernel = new ProcessAddressSpace();
    private final KernelMaps kernelMaps = new KernelMaps();
    private final boolean keepsOverExec;
    private final int exitedKept;
    private int lastPid = -1;
    private @Nullable ProcessAddressSpace lastSpace;
    private long refused;
    private long stamps;
    private int runTime;

    private record FileKey(String path, String buildId, long device, long inode) {}

    private record ExitedProcess(int pid, ProcessAddressSpace space) {}

    /** No process is known yet. */
    public ProcessMaps() {
        this(false, EXITED_KEPT);
    }

    /**
     * As above, and what a process had mapped before an exec stays until something is mapped over
     * it, as in perf: samples of the exec itself have the call chain of the old program.
     */
    public static ProcessMaps keepingOverExec() {
        return keepingOverExec(EXITED_KEPT);
    }

    /** As above, and as many processes that have ended stay known. */
    public static ProcessMaps keepingOverExec(int exitedKept) {
        return new ProcessMaps(true, exitedKept);
    }

    private ProcessMaps(boolean keeps, int exitedKept) {
        keepsOverExec = keeps;
        this.exitedKept = exitedKept;
        // number 0 stands for everything once the limit of modules is reached
        CodeMapping nothing = new CodeMapping(0, 0, 0, "");
        modules.add(new CodeModule(0, Kind.UNMAPPED, -1, 0, 0, nothing));
    }

    /** What the kernel itself has mapped; fed by whoever feeds this. */
    public KernelMaps kernel() {
        return kernelMaps;
    }

    /** A mapping with execute permission came (PERF_RECORD_MMAP, MMAP2, /proc/PID/maps). */
    public void mapped(long timeNanos, int pid, CodeMapping mapping) {
        long end = mapping.start() + mapping.lengthBytes();
        if (mapping.lengthBytes() <= 0 || Long.compareUnsigned(end, mapping.start()) <= 0) {
            refused++;
            return;
        }
        if (mapping.start() < 0 || RuntimeFrames.has(mapping.start())) {
            return; // kernel text and modules, which kallsyms names; names for perf
        }
        ProcessAddressSpace space = writable(pid);
        Kind kind = kind(mapping);
        int module = ProcessAddressSpace.ANONYMOUS;
        long value = 0;
        if (kind != Kind.ANONYMOUS) {
            module = intern(timeNanos, pid, kind, mapping);
            // the vdso's offset in the record is that of no file
            long offset = kind == Kind.VDSO ? 0 : mapping.fileOffset();
            value = key(module, offset) - mapping.start();
        }
        if (!space.put(mapping.start(), end, module, value)) {
            refused++;
        }
    }

    /** A process came as a copy of another; threads (equal pids) change nothing. */
    public void forked(int parentPid, int pid) {
        if (parentPid == pid) {
            return;
        }
        ProcessAddressSpace space = spaces.get(parentPid);
        if (space == null) {
            put(pid, fresh());
        } else {
            space.isShared = true;
            put(pid, space);
        }
    }

    /** A process began a new program (PERF_RECORD_COMM with PERF_RECORD_MISC_COMM_EXEC). */
    public void execed(int pid) {
        if (!keepsOverExec) {
            put(pid, fresh());
        }
    }

    /** A process (not a mere thread) ended. */
    public void exited(int pid) {
        ProcessAddressSpace space = spaces.get(pid);
        if (space == null) {
            return;
        }
        exited.add(new ExitedProcess(pid, space));
        if (exited.size() > exitedKept) {
            ExitedProcess oldest = exited.remove();
            if (spaces.remove(oldest.pid(), oldest.space())) {
                lastPid = -1;
                lastSpace = null;
            }
        }
    }

    /**
     * A function of the kernel came (PERF_RECORD_KSYMBOL, registered). One that goes needs no word:
     * nothing runs there until another comes.
     */
    public void kernelSymbol(long timeNanos, long start, long lengthBytes, String name) {
        long end = start + lengthBytes;
        if (start >= 0 || lengthBytes <= 0 || Long.compareUnsigned(end, start) <= 0) {
            refused++;
            return;
        }
        CodeMapping mapping = new CodeMapping(start, lengthBytes, 0, name);
        int module = add(timeNanos, Kind.KERNEL_SYMBOL, -1, start, mapping);
        if (!kernel.put(start, end, module, key(module, 0) - start)) {
            refused++;
        }
    }

    /** Forgets what is mapped, not which code there is: the records come again from the first. */
    public void rewind() {
        spaces.clear();
        exited.clear();
        lastPid = -1;
        lastSpace = null;
    }

    /** The location of an address in a process. */
    public long location(int pid, long address) {
        if (address < 0) {
            int at = kernel.count() == 0 ? -1 : kernel.find(address);
            return at < 0 ? address : kernel.value(at) + address;
        }
        if (RuntimeFrames.has(address)) {
            return runTime(address);
        }
        ProcessAddressSpace space = pid == lastPid ? lastSpace : space(pid);
        if (space == null) {
            return 0;
        }
        int at = space.find(address);
        return at >= 0 && space.module(at) != ProcessAddressSpace.ANONYMOUS
                ? space.value(at) + address
                : withoutFile(space, pid, address, at >= 0);
    }

    /**
     * Whether a user address can be one of code: it lies in a mapping, or in the page of old entry
     * points. Where no mapping of the process is known every address of user memory may.
     */
    public boolean isCode(int pid, long address) {
        if (address < 0) {
            return Long.compareUnsigned(address - VSYSCALL, VSYSCALL_BYTES) < 0;
        }
        if (RuntimeFrames.has(address)) {
            return true;
        }
        ProcessAddressSpace space = pid == lastPid ? lastSpace : space(pid);
        if (space == null || space.count() == 0) {
            return address >>> USER_BITS == 0;
        }
        return space.find(address) >= 0;
    }

    /**
     * Begin of the file's code nearest below an address, behind which its data lies; -1 for none.
     */
    public long codeBelow(int pid, long address) {
        ProcessAddressSpace space = address < 0 ? null : spaces.get(pid);
        return space == null ? -1 : space.fileBelow(address);
    }

    /** A number that stays while the code that a process has mapped does; another afterwards. */
    public long stamp(int pid) {
        ProcessAddressSpace space = pid == lastPid ? lastSpace : space(pid);
        return space == null ? 0 : space.stamp;
    }

    /** The module of a location; null when it is an address of the kernel. */
    public @Nullable CodeModule module(long location) {
        if (location < 0) {
            return null;
        }
        int index = (int) (location >>> OFFSET_BITS);
        return modules.get(index < modules.size() ? index : 0);
    }

    /** The offset of a location in its module; an address of the kernel as it is. */
    public static long offset(long location) {
        return location < 0 ? location : location & OFFSET_MASK;
    }

    /** All modules seen, by number. */
    public List<CodeModule> modules() {
        return List.copyOf(modules);
    }

    /** Records that made no sense (no length, past the end of memory) or passed a limit. */
    public long refused() {
        return refused;
    }

    private @Nullable ProcessAddressSpace space(int pid) {
        ProcessAddressSpace space = spaces.get(pid);
        if (space == null) {
            if (spaces.size() >= MODULE_LIMIT) {
                return null;
            }
            space = fresh();
            spaces.put(pid, space);
        }
        lastPid = pid;
        lastSpace = space;
        return space;
    }

    private ProcessAddressSpace fresh() {
        ProcessAddressSpace space = new ProcessAddressSpace();
        space.stamp = ++stamps;
        return space;
    }

    private void put(int pid, ProcessAddressSpace space) {
        spaces.put(pid, space);
        lastPid = -1;
        lastSpace = null;
    }

    private ProcessAddressSpace writable(int pid) {
        ProcessAddressSpace space = spaces.get(pid);
        if (space == null) {
            space = fresh();
            put(pid, space);
        } else if (space.isShared) {
            space = space.copy();
            put(pid, space);
        }
        space.stamp = ++stamps;
        return space;
    }

    private static Kind kind(CodeMapping mapping) {
        String path = mapping.path();
        if (path.equals("[vdso]")) {
            return Kind.VDSO;
        }
        boolean file =
                path.startsWith("/")
                        && !path.startsWith("//anon")
                        && !path.startsWith("/anon_hugepage")
                        && !path.startsWith("/dev/zero")
                        && !path.startsWith("/memfd:")
                        && !path.startsWith("/SYSV");
        long offset = mapping.fileOffset();
        boolean fits = offset >= 0 && offset <= OFFSET_MASK - mapping.lengthBytes();
        return file && fits ? Kind.FILE : Kind.ANONYMOUS;
    }

    private int intern(long timeNanos, int pid, Kind kind, CodeMapping m) {
        FileKey key = new FileKey(m.path(), m.buildIdHex(), m.device(), m.inode());
        Integer known = files.get(key);
        if (known != null) {
            return known;
        }
        int module = add(timeNanos, kind, pid, 0, m);
        files.put(key, module);
        return module;
    }

    private int add(long timeNanos, Kind kind, int pid, long start, CodeMapping mapping) {
        int index = modules.size();
        if (index >= MODULE_LIMIT) {
            refused++;
            return 0;
        }
        modules.add(new CodeModule(index, kind, pid, start, timeNanos, mapping));
        return index;
    }

    private long withoutFile(ProcessAddressSpace space, int pid, long address, boolean mapped) {
        long block = address >>> OFFSET_BITS;
        Integer module = space.blocks.get(block << 1 | (mapped ? 1 : 0));
        if (module == null) {
            Kind kind = mapped ? Kind.ANONYMOUS : Kind.UNMAPPED;
            CodeMapping nothing = new CodeMapping(0, 0, 0, mapped ? "//anon" : "");
            module = add(0, kind, pid, block << OFFSET_BITS, nothing);
            space.blocks.put(block << 1 | (mapped ? 1 : 0), module);
        }
        return key(module, address & OFFSET_MASK);
    }

    /** The location of a frame, by the even one of its addresses. */
    private long runTime(long address) {
        if (runTime == 0) {
            CodeMapping nothing = new CodeMapping(0, 0, 0, "");
            long base = RuntimeFrames.address(0, 0) - 1;
            runTime = add(0, Kind.RUN_TIME, RuntimeFrames.ALL, base, nothing);
        }
        return key(runTime, RuntimeFrames.offset(address));
    }

    private static long key(int module, long offset) {
        return (long) module << OFFSET_BITS | offset;
    }
}
