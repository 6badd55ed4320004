package sonde.symbol.resolve;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.binary.MalformedInputException;
import sonde.binary.elf.ElfFile;
import sonde.binary.elf.ElfSegment;
import sonde.binary.machine.MachineDecoder;
import sonde.binary.machine.MachineInstruction;
import sonde.binary.machine.MachineOperand.MachineAccess;
import sonde.binary.machine.MachineOperand.MachineMemory;

/**
 * What the instructions before a sampled one do to memory. An interrupt is taken when an
 * instruction has retired: the slow one lies before.
 *
 * @param instruction prefix and mnemonic of an atomic instruction, empty for plain accesses
 * @param writes whether it writes
 * @param address in the ELF file, of what the instruction alone names; -1 when registers do
 * @param variable whose it is, empty when unknown
 */
public record MemoryAccess(String instruction, boolean writes, long address, String variable) {
    private static final int MOST_BYTES = 1 << 16;

    /** Plain accesses hold others up only when they retire. */
    private static final int BEFORE = 3;

    /** Arm Architecture Reference Manual, C3.2.12: LSE and exclusive stores. */
    private static final Pattern ARM_ATOMIC =
            Pattern.compile(
                    "(ld|st)(add|clr|eor|set|[su]max|[su]min)[alhb]*|(cas|swp)p?[alhb]*"
                            + "|stl?x[rp][hb]?");

    private static final Set<MachineAccess> WRITES =
            Set.of(MachineAccess.WRITE, MachineAccess.READ_WRITE);

    /** Says whose an address of the file is. */
    @FunctionalInterface
    interface VariableNames {
        String of(ElfFile elf, long address) throws MalformedInputException;
    }

    /**
     * The access at or before an offset of the file.
     *
     * @param distance how far the offset lies in its function
     */
    static Optional<MemoryAccess> before(
            ElfFile elf, long offset, long distance, VariableNames names)
            throws MalformedInputException {
        MachineDecoder decoder = MachineDecoder.of(elf.machine()).orElse(null);
        long from = offset - distance;
        if (decoder == null || distance < 0 || distance > MOST_BYTES) {
            return Optional.empty();
        }
        for (ElfSegment segment : elf.segments()) {
            long start = from - segment.offset();
            byte[] bytes =
                    segment.isCode()
                            ? elf.bytes(segment, start, distance + MachineDecoder.MAX_LENGTH)
                            : new byte[0];
            if (distance < bytes.length) {
                MemoryAccess found =
                        last(decoder, bytes, (int) distance, start + segment.address());
                return Optional.ofNullable(found).map(one -> one.named(elf, names));
            }
        }
        return Optional.empty();
    }

    private static @Nullable MemoryAccess last(
            MachineDecoder decoder, byte[] code, int end, long address) {
        Deque<MachineInstruction> last = new ArrayDeque<>();
        int at = 0;
        while (at < end) {
            MachineInstruction one = decoder.decode(code, at, code.length, address + at);
            last.addFirst(one);
            if (last.size() > BEFORE) {
                last.removeLast();
            }
            at += one.length();
        }
        if (at != end || last.isEmpty()) {
            return null;
        }
        if (isAtomic(last.getFirst())) {
            return of(last.getFirst());
        }
        last.addFirst(decoder.decode(code, at, code.length, address + at));
        MemoryAccess found = null;
        for (MachineInstruction one : last) {
            MemoryAccess access = isAtomic(one) ? null : of(one);
            if (access != null && access.address >= 0 && (found == null || access.writes)) {
                found = found == null || !found.writes ? access : found;
            }
        }
        return found;
    }

    private static boolean isAtomic(MachineInstruction one) {
        boolean exchange = one.mnemonic().startsWith("xchg") && memory(one) != null;
        return exchange
                || one.prefix().contains("lock")
                || ARM_ATOMIC.matcher(one.mnemonic()).matches();
    }

    private static @Nullable MachineMemory memory(MachineInstruction one) {
        return one.operands().stream()
                .filter(MachineMemory.class::isInstance)
                .map(MachineMemory.class::cast)
                .filter(memory -> memory.access() != MachineAccess.ADDRESS)
                .findFirst()
                .orElse(null);
    }

    private static @Nullable MemoryAccess of(MachineInstruction one) {
        MachineMemory memory = memory(one);
        if (memory == null) {
            return null;
        }
        boolean atomic = isAtomic(one);
        boolean absolute =
                memory.base().isEmpty() && memory.index().isEmpty() && memory.hasDisplacement();
        long at = absolute ? memory.displacement() : one.dataAddress().orElse(-1);
        boolean local = !memory.segment().isEmpty(); // of the thread
        return new MemoryAccess(
                atomic ? one.prefix() + one.mnemonic() : "",
                atomic || WRITES.contains(memory.access()),
                local ? -1 : at,
                "");
    }

    private MemoryAccess named(ElfFile elf, VariableNames names) {
        try {
            String name = address < 0 ? "" : names.of(elf, address);
            return new MemoryAccess(instruction, writes, address, name);
        } catch (MalformedInputException e) {
            return this;
        }
    }

    /** Whether no other thread comes between its read and its write. */
    public boolean isAtomic() {
        return !instruction.isEmpty();
    }
}
