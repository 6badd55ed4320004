package sonde.probe.stack;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.map.ByteMap;
import sonde.probe.jvm.HotSpotVm;
import sonde.probe.jvm.HotSpotVm.Place;
import sonde.probe.jvm.JvmAttach;

/**
 * The JVMs that programs in the kernel know, by the address of the process's struct mm_struct and
 * its tgid. A program reports a process that runs code outside of files; if it is a JVM, its
 * description is read and kept.
 */
final class JvmTable implements AutoCloseable {
    /** In the place of a file's device in a report; its inode is struct mm_struct. */
    static final int REPORT_DEVICE = -1;

    // Value: u64 words, then ints.
    static final int LOW = 0;
    static final int HIGH = 8;
    static final int INTERPRETER = 16;
    static final int HEAPS = 32;
    static final int HEAP_BYTES = 24;
    static final int SEGMENT_BITS = HEAPS + HEAP_BYTES * HotSpotVm.MOST_HEAPS;
    static final int BLOCK_BYTES = SEGMENT_BITS + 4;
    static final int HEADER_SIZE = BLOCK_BYTES + 4;
    static final int FRAME_COMPLETE = HEADER_SIZE + 4;
    static final int FRAME_SIZE = FRAME_COMPLETE + 4;
    static final int ORIGINAL_PC = FRAME_SIZE + 4;
    static final int NMETHOD_BYTES = ORIGINAL_PC + 4;

    /** Each of these has its offset, then whether it holds an offset. */
    static final int CODE = NMETHOD_BYTES + 4;

    static final int DEOPTIMIZE = CODE + 8;
    static final int DEOPTIMIZE_HANDLE = DEOPTIMIZE + 8;
    static final int VERIFIED = DEOPTIMIZE_HANDLE + 8;
    static final int VALUE_BYTES = VERIFIED + 8 + 4;

    static final int KEY_BYTES = 16;
    private static final int MOST_PROCESSES = 4096;

    /** A JVM that has no code yet is looked at so often, every 20 ms. */
    private static final int MOST_TRIES = 250;

    private final BpfMap map;
    private final ByteMap values;
    private final BpfMap reports;
    private final Map<Integer, HotSpotVm> known = new ConcurrentHashMap<>();
    private List<Attempt> attempts = new ArrayList<>();

    /** A process whose JVM is not there yet. */
    private record Attempt(long memory, int pid, int left) {}

    JvmTable(BpfMap reports) throws IOException {
        this.reports = reports;
        map =
                BpfMap.create(
                        new MapSpec(
                                "sonde_uw_jvms",
                                MapType.LRU_HASH,
                                KEY_BYTES,
                                VALUE_BYTES,
                                MOST_PROCESSES));
        values = new ByteMap(map);
    }

    BpfMap map() {
        return map;
    }

    BpfMap reports() {
        return reports;
    }

    /** Whether a report of {@link UnwindTables#REPORT_BYTES} is of a process and not of a file. */
    static boolean isReport(byte[] report) {
        return report.length == UnwindTables.REPORT_BYTES
                && MemorySegment.ofArray(report).get(JAVA_INT_UNALIGNED, 8) == REPORT_DEVICE;
    }

    /** A report of the kernel's program. */
    void reported(long memory, int pid) {
        attempts.add(new Attempt(memory, pid, MOST_TRIES));
        read();
    }

    /** Looks again at JVMs that had no code. */
    void read() {
        List<Attempt> left = new ArrayList<>();
        for (Attempt one : attempts) {
            try {
                HotSpotVm vm = HotSpotVm.read(one.pid());
                put(one, vm);
                known.put(one.pid(), vm);
            } catch (IOException e) {
                if (one.left() > 0 && JvmAttach.hasLibjvm(one.pid())) {
                    left.add(new Attempt(one.memory(), one.pid(), one.left() - 1));
                }
            }
        }
        attempts = left;
    }

    private void put(Attempt one, HotSpotVm vm) throws IOException {
        byte[] key =
                ByteBuffer.allocate(KEY_BYTES)
                        .order(ByteOrder.nativeOrder())
                        .putLong(one.memory())
                        .putLong(one.pid())
                        .array();
        values.put(key, value(vm));
    }

    private static byte[] value(HotSpotVm vm) {
        ByteBuffer value = ByteBuffer.allocate(VALUE_BYTES).order(ByteOrder.nativeOrder());
        value.putLong(vm.low()).putLong(vm.high());
        value.putLong(vm.interpreterStart()).putLong(vm.interpreterEnd());
        for (HotSpotVm.CodeHeap heap : vm.heaps()) {
            value.putLong(heap.start()).putLong(heap.end()).putLong(heap.segments());
        }
        HotSpotVm.BlobFields blob = vm.blob();
        value.position(SEGMENT_BITS).putInt(vm.segmentBits()).putInt(vm.blockBytes());
        value.putInt(blob.headerSize()).putInt(blob.frameComplete()).putInt(blob.frameSize());
        value.putInt(blob.originalPc()).putInt(blob.nmethodBytes());
        for (Place place :
                List.of(
                        blob.code(),
                        blob.deoptimize(),
                        blob.deoptimizeHandle(),
                        blob.verified())) {
            value.putInt(place.offset()).putInt(place.isOffset() ? 1 : 0);
        }
        return value.array();
    }

    /** The JVM of a process; null when it is none, or not known yet. */
    @Nullable HotSpotVm of(int pid) {
        return known.get(pid);
    }

    @Override
    public void close() {
        map.close();
    }
}
