package sonde.probe.stack;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.LinkCloser;
import sonde.bpf.MapSpec;
import sonde.bpf.MapType;
import sonde.bpf.map.ByteMap;
import sonde.event.result.Frame;
import sonde.probe.jvm.CompiledCode;
import sonde.probe.jvm.HotSpotNames;
import sonde.probe.jvm.HotSpotVm;
import sonde.probe.jvm.HotSpotVm.Place;
import sonde.probe.jvm.JavaMethod;
import sonde.probe.jvm.JvmAttach;

/**
 * The JVMs that programs in the kernel know, by the address of the process's struct mm_struct and
 * its tgid. A program reports a process that runs code outside of files; if it is a JVM, its
 * description is read and kept.
 */
final class JvmTable implements AutoCloseable {
    /**
     * A report: u64 word of an object without position ({@link RuntimeWord}), u64 tgid; or 0, u64
     * tgid and struct mm_struct of a process that runs code outside of files.
     */
    static final int REPORT_BYTES = 24;

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

    /** Offset in a Method of the address of its ConstMethod, and the length of that. */
    static final int CONST_METHOD = VERIFIED + 8;

    static final int CONST_METHOD_BYTES = CONST_METHOD + 4;
    static final int VALUE_BYTES = CONST_METHOD_BYTES + 4 + 4;

    static final int KEY_BYTES = 16;
    private static final int MOST_PROCESSES = 4096;
    private static final int MOST_SEEN = 1 << 15;
    private static final int RING_BYTES = 1 << 18;

    /** JVMs whose memory is open. */
    private static final int MOST_OPEN = 256;

    /** A JVM that has no code yet is looked at so often, every 20 ms. */
    private static final int MOST_TRIES = 250;

    private final BpfMap map;
    private final ByteMap values;
    private final BpfMap seen;
    private final BpfMap reports;
    private final Deque<AutoCloseable> parts = new ArrayDeque<>();
    private final Map<Integer, HotSpotNames> machines =
            new LinkedHashMap<>(16, 0.75f, true) {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(Map.Entry<Integer, HotSpotNames> eldest) {
                    if (size() > MOST_OPEN) {
                        eldest.getValue().close();
                    }
                    return size() > MOST_OPEN;
                }
            };
    private List<PendingRead> attempts = new ArrayList<>();

    /** A process whose JVM is not there yet. */
    private record PendingRead(long memory, int pid, int left) {}

    JvmTable() throws IOException {
        try {
            map = made("sonde_uw_jvms", MapType.LRU_HASH, KEY_BYTES, VALUE_BYTES, MOST_PROCESSES);
            seen = made("sonde_uw_java", MapType.LRU_HASH, KEY_BYTES, 8, MOST_SEEN);
            reports = made("sonde_uw_tell", MapType.RING_BUFFER, 0, 0, RING_BYTES);
        } catch (IOException e) {
            close();
            throw e;
        }
        values = new ByteMap(map);
    }

    private BpfMap made(String name, MapType type, int keyBytes, int valueBytes, int most)
            throws IOException {
        BpfMap made = BpfMap.create(new MapSpec(name, type, keyBytes, valueBytes, most));
        parts.push(made);
        return made;
    }

    BpfMap map() {
        return map;
    }

    /** Objects that were reported. */
    BpfMap seen() {
        return seen;
    }

    BpfMap reports() {
        return reports;
    }

    /** A report of the kernel's program. */
    synchronized void reported(long memory, int pid) {
        attempts.add(new PendingRead(memory, pid, MOST_TRIES));
        read();
    }

    /** Looks again at JVMs that had no code. */
    synchronized void read() {
        List<PendingRead> left = new ArrayList<>();
        for (PendingRead one : attempts) {
            try {
                HotSpotNames opened = HotSpotNames.open(one.pid());
                HotSpotNames before = machines.put(one.pid(), opened);
                if (before != null) {
                    before.close();
                }
                put(one, opened.vm());
            } catch (IOException e) {
                if (one.left() > 0 && JvmAttach.hasLibjvm(one.pid())) {
                    left.add(new PendingRead(one.memory(), one.pid(), one.left() - 1));
                }
            }
        }
        attempts = left;
    }

    private void put(PendingRead one, HotSpotVm vm) throws IOException {
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
                List.of(blob.code(), blob.deoptimize(), blob.deoptimizeHandle(), blob.verified())) {
            value.putInt(place.offset()).putInt(place.isOffset() ? 1 : 0);
        }
        value.putInt(vm.constMethod()).putInt(vm.constMethodBytes());
        return value.array();
    }

    /** The code of a blob of a process, by its address / 8; null when it cannot be read. */
    synchronized @Nullable RuntimeObject code(int pid, long number) {
        HotSpotNames names = machines.get(pid);
        CompiledCode code = names == null ? null : names.code(number << 3);
        return code == null ? null : new JavaCodeObject(code);
    }

    /** A method of a process, by its address / 8; null when there is none. */
    synchronized @Nullable RuntimeObject method(int pid, long number) {
        HotSpotNames names = machines.get(pid);
        JavaMethod method = names == null ? null : names.method(number << 3);
        return method == null ? null : new InterpretedMethod(method);
    }

    private record JavaCodeObject(CompiledCode code) implements RuntimeObject {
        @Override
        public List<Frame> frames(int position) {
            return code.frames(position);
        }

        @Override
        public int firstLine() {
            return code.firstLine();
        }
    }

    private record InterpretedMethod(JavaMethod method) implements RuntimeObject {
        @Override
        public List<Frame> frames(int position) {
            return List.of(
                    method.frame(position == RuntimeWord.NO_POSITION ? -1 : position, false));
        }

        @Override
        public int firstLine() {
            return method.firstLine();
        }
    }

    @Override
    public synchronized void close() {
        machines.values().forEach(HotSpotNames::close);
        machines.clear();
        LinkCloser.all(parts);
    }
}
