package sonde.probe.syscall;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import sonde.recording.syscall.CallRecord;
import sonde.recording.syscall.CaptureOp;
import sonde.sys.Ptrace;

/**
 * Reads the memory of a stopped tracee by {@link CaptureOp}s, as {@link CapturedCode} does it in
 * the kernel.
 */
final class StoppedMemory {
    private static final int PAGE = 4096;
    private static final int MESSAGE_BYTES = 56; // struct msghdr

    private final Ptrace ptrace;
    private final ByteBuffer record;
    private int tid;

    /** Appends to that record. */
    StoppedMemory(Ptrace ptrace, ByteBuffer record) {
        this.ptrace = ptrace;
        this.record = record;
    }

    /** Follows the operations; the record has the arguments and the result. */
    void follow(List<CaptureOp> operations, int thread) {
        tid = thread;
        for (CaptureOp op : operations) {
            long address = argument(op.argument());
            if (address == 0) {
                continue;
            }
            switch (op.kind()) {
                case CaptureOp.KIND_STRING -> string(op.argument(), 0, address, op.most());
                case CaptureOp.KIND_STRINGS -> strings(op, address);
                case CaptureOp.KIND_VECTOR -> {
                    long count =
                            op.source() == CaptureOp.LENGTH_FIXED
                                    ? 1
                                    : argument(op.lengthArgument());
                    vector(op.argument(), 0, address, count, op.most());
                }
                case CaptureOp.KIND_MESSAGE -> message(op, address);
                case CaptureOp.KIND_BYTES -> bytes(op, address);
                default -> {}
            }
        }
    }

    private long argument(int index) {
        return record.getLong(CallRecord.ARGUMENTS + 8 * index);
    }

    private void bytes(CaptureOp op, long address) {
        long count =
                switch (op.source()) {
                    case CaptureOp.LENGTH_ARGUMENT -> argument(op.lengthArgument());
                    case CaptureOp.LENGTH_BEHIND ->
                            ptrace.read(tid, argument(op.lengthArgument()), 4, 0) < 4
                                    ? 0
                                    : ptrace.scratch().get(JAVA_INT_UNALIGNED, 0);
                    default -> record.getLong(CallRecord.RESULT);
                };
        if (op.source() == CaptureOp.LENGTH_FIXED) {
            piece(op.argument(), 0, address + op.element(), op.most());
        } else if (count > 0) {
            long length = count > op.most() ? op.most() : Math.min(op.most(), count * op.element());
            piece(op.argument(), 0, address, (int) length);
        }
    }

    /** Bytes as far as they are readable; whether they were all. */
    private boolean piece(int argument, int part, long address, int length) {
        int room = Math.min(length, CapturedCode.MOST_PIECE);
        int toPage = PAGE - (int) (address & PAGE - 1);
        int read = ptrace.read(tid, address, room, 0);
        if (read < room && toPage < room) {
            read = ptrace.read(tid, address, toPage, 0);
        }
        int flags = read == room ? 0 : read > 0 ? CallRecord.CUT : CallRecord.FAILED;
        append(argument, part, flags, read);
        return flags == 0;
    }

    private void string(int argument, int part, long address, int most) {
        int room = Math.min(most, CapturedCode.MOST_PIECE);
        int length = 0;
        int end = -1;
        while (length < room && end < 0) {
            int toPage = PAGE - (int) (address + length & PAGE - 1);
            int wanted = Math.min(Math.min(toPage, 256), room - length);
            int read = ptrace.read(tid, address + length, wanted, length);
            for (int i = length; i < length + read && end < 0; i++) {
                end = ptrace.scratch().get(JAVA_BYTE, i) == 0 ? i : -1;
            }
            if (read < wanted && end < 0) {
                append(argument, part, CallRecord.FAILED, 0);
                return;
            }
            length += read;
        }
        int last = end < 0 ? room - 1 : end;
        ptrace.scratch().set(JAVA_BYTE, last, (byte) 0); // as bpf_probe_read_user_str ends it
        append(argument, part, 0, last + 1);
    }

    private void strings(CaptureOp op, long address) {
        piece(op.argument(), 0, address, CaptureOp.PARTS * 8);
        for (int i = 0; i < CaptureOp.PARTS; i++) {
            if (ptrace.read(tid, address + 8L * i, 8, 0) < 8) {
                return;
            }
            long one = ptrace.scratch().get(JAVA_LONG_UNALIGNED, 0);
            if (one == 0) {
                return;
            }
            string(op.argument(), i + 1, one, op.most());
        }
    }

    private void vector(int argument, int part, long address, long count, int most) {
        int elements = (int) Math.min(count < 0 ? 0 : count, CaptureOp.PARTS);
        if (elements > 0) {
            piece(argument, part, address, 16 * elements);
        }
        for (int i = 0; i < elements; i++) {
            if (ptrace.read(tid, address + 16L * i, 16, 0) < 16) {
                return;
            }
            MemorySegment vector = ptrace.scratch();
            long base = vector.get(JAVA_LONG_UNALIGNED, 0);
            long length = vector.get(JAVA_LONG_UNALIGNED, 8);
            int bytes = (int) (length < 0 ? most : Math.min(length, most));
            piece(argument, part + i + 1, base, bytes);
        }
    }

    private void message(CaptureOp op, long address) {
        if (!piece(op.argument(), 0, address, MESSAGE_BYTES)) {
            return;
        }
        MemorySegment header = MemorySegment.ofArray(new byte[MESSAGE_BYTES]);
        header.copyFrom(ptrace.scratch().asSlice(0, MESSAGE_BYTES));
        optional(op, 1, header, 0, header.get(JAVA_INT_UNALIGNED, 8) & 0xffffffffL, 128);
        optional(op, 2, header, 32, header.get(JAVA_LONG_UNALIGNED, 40), 512);
        long vector = header.get(JAVA_LONG_UNALIGNED, 16);
        if (vector != 0) {
            vector(op.argument(), 3, vector, header.get(JAVA_LONG_UNALIGNED, 24), op.most());
        }
    }

    private void optional(
            CaptureOp op, int part, MemorySegment header, int pointer, long length, int most) {
        long address = header.get(JAVA_LONG_UNALIGNED, pointer);
        if (address != 0 && length > 0) {
            piece(op.argument(), part, address, (int) Math.min(length, most));
        }
    }

    /** Appends what was read last. */
    private void append(int argument, int part, int flags, int length) {
        int at = record.getInt(CallRecord.LENGTH);
        if (at > CapturedCode.POSITION_MASK) {
            return;
        }
        record.put(at, (byte) argument).put(at + 1, (byte) part).putShort(at + 2, (short) flags);
        record.putInt(at + 4, length);
        MemorySegment.copy(ptrace.scratch(), JAVA_BYTE, 0, record.array(), at + 8, length);
        record.putInt(CallRecord.LENGTH, at + 8 + (length + 7 & -8));
    }
}
