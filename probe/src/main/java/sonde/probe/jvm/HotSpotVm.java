package sonde.probe.jvm;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import sonde.probe.snapshot.ProcessMemory;

/**
 * Where a running HotSpot JVM keeps its code, and how it describes it (src/hotspot/share/code).
 * Read from the process, whose tables may lie: addresses are used for reading its memory only.
 *
 * @param low of the memory for code
 * @param high behind it
 * @param interpreterStart of the interpreter's code
 * @param interpreterEnd behind it
 * @param segmentBits a block of code begins at a segment of so many bits
 * @param blockBytes of the head of a block, before the blob
 * @param constMethod offset in a Method of the address of its ConstMethod
 * @param constMethodBytes of a ConstMethod, before the bytecode
 */
public record HotSpotVm(
        long low,
        long high,
        long interpreterStart,
        long interpreterEnd,
        List<CodeHeap> heaps,
        int segmentBits,
        int blockBytes,
        BlobFields blob,
        int constMethod,
        int constMethodBytes) {
    /** JDK 9 has three heaps. */
    public static final int MOST_HEAPS = 4;

    private static final int MOST_INTERPRETER = 64 << 20;

    /**
     * A part of the memory for code.
     *
     * @param segments address of a byte for each segment: 0 where a block begins, otherwise how far
     *     back to look, 0xff where there is none
     */
    public record CodeHeap(long start, long end, long segments) {}

    /**
     * A field of a blob of code. It holds an address, or (from JDK 23 on) an offset.
     *
     * @param isOffset whether it is an offset
     */
    public record Place(int offset, boolean isOffset) {}

    /**
     * Offsets in a CodeBlob and in the nmethod that begins with one.
     *
     * @param headerSize 16 bits; equal to {@code nmethodBytes} in compiled methods
     * @param frameComplete 16 bits: bytes of code until the frame is there
     * @param frameSize int: words of a frame with its return address; 0 for code without one
     * @param code where the code begins; offsets are from the blob
     * @param deoptimize what return addresses into a frame that is to be interpreted are replaced
     *     by
     * @param deoptimizeHandle the same for calls of method handles
     * @param verified where calls enter; offsets are 16 bits, from the code
     * @param originalPc int: offset in the frame of the return address that was replaced
     */
    public record BlobFields(
            int headerSize,
            int frameComplete,
            int frameSize,
            Place code,
            Place deoptimize,
            Place deoptimizeHandle,
            Place verified,
            int originalPc,
            int nmethodBytes) {}

    /**
     * Reads it.
     *
     * @throws IOException when the process is no JVM, or one without code yet
     */
    public static HotSpotVm read(int pid) throws IOException {
        try (ProcessMemory memory = new ProcessMemory(pid)) {
            return read(VmStructs.read(pid, memory), memory);
        }
    }

    /** As above, from tables that were read. */
    static HotSpotVm read(VmStructs vm, ProcessMemory memory) throws IOException {
        long low = word(memory, vm.address("CodeCache::_low_bound"));
        long high = word(memory, vm.address("CodeCache::_high_bound"));
        long queue = word(memory, vm.address("AbstractInterpreter::_code"));
        long interpreter = word(memory, queue + vm.offset("StubQueue::_stub_buffer"));
        int limit = number(memory, queue + vm.offset("StubQueue::_buffer_limit"));
        boolean isIn = interpreter >= low && interpreter < high;
        if (low <= 0 || high <= low || limit < 0 || limit > MOST_INTERPRETER || !isIn) {
            throw new IOException("the JVM has no code yet");
        }
        int[] bits = new int[1];
        List<CodeHeap> heaps = heaps(vm, memory, bits);
        return new HotSpotVm(
                low,
                high,
                interpreter,
                interpreter + limit,
                heaps,
                bits[0],
                vm.size("HeapBlock"),
                blob(vm),
                vm.offset("Method::_constMethod"),
                vm.size("ConstMethod"));
    }

    /**
     * @param bits gets the size of a segment
     */
    private static List<CodeHeap> heaps(VmStructs vm, ProcessMemory memory, int[] bits)
            throws IOException {
        long array = word(memory, vm.address("CodeCache::_heaps"));
        int count = number(memory, array + vm.offset("GrowableArrayBase::_len"));
        long data = word(memory, array + vm.offset("GrowableArray<int>::_data"));
        if (count < 1 || count > MOST_HEAPS) {
            throw new IOException("the JVM has " + count + " heaps of code");
        }
        int first = vm.offset("VirtualSpace::_low_boundary");
        int last = vm.offset("VirtualSpace::_high_boundary");
        List<CodeHeap> heaps = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long heap = word(memory, data + 8L * i);
            long space = heap + vm.offset("CodeHeap::_memory");
            long segments = heap + vm.offset("CodeHeap::_segmap");
            bits[0] = number(memory, heap + vm.offset("CodeHeap::_log2_segment_size"));
            if (bits[0] < 4 || bits[0] > 16) {
                throw new IOException("segments of 2^" + bits[0] + " bytes");
            }
            heaps.add(
                    new CodeHeap(
                            word(memory, space + first),
                            word(memory, space + last),
                            word(memory, segments + first)));
        }
        return heaps;
    }

    private static BlobFields blob(VmStructs vm) throws IOException {
        return new BlobFields(
                vm.offset("CodeBlob::_header_size"),
                vm.offset("CodeBlob::_frame_complete_offset"),
                vm.offset("CodeBlob::_frame_size"),
                place(vm, "CodeBlob::_code_begin", "CodeBlob::_code_offset"),
                place(vm, "CompiledMethod::_deopt_handler_begin", "nmethod::_deopt_handler_offset"),
                place(
                        vm,
                        "CompiledMethod::_deopt_mh_handler_begin",
                        "nmethod::_deopt_mh_handler_offset"),
                place(vm, "nmethod::_verified_entry_point", "nmethod::_verified_entry_offset"),
                vm.offset("nmethod::_orig_pc_offset"),
                vm.size("nmethod"));
    }

    /** A field that was an address and became an offset. */
    static Place place(VmStructs vm, String address, String offset) throws IOException {
        OptionalInt absolute = vm.find(address);
        return absolute.isPresent()
                ? new Place(absolute.getAsInt(), false)
                : new Place(vm.offset(offset), true);
    }

    static long word(ProcessMemory memory, long address) throws IOException {
        return bytes(memory, address, 8).getLong();
    }

    static int number(ProcessMemory memory, long address) throws IOException {
        return bytes(memory, address, 4).getInt();
    }

    /** All of so many bytes. */
    static ByteBuffer bytes(ProcessMemory memory, long address, int count) throws IOException {
        ByteBuffer read = memory.read(address, count);
        if (read.remaining() < count) {
            throw new IOException("address %x cannot be read".formatted(address));
        }
        return read;
    }
}
