package sonde.binary.unwind;

import org.jspecify.annotations.Nullable;

/**
 * The stubs through which calls of other libraries go, where a linker (lld, gold) has written no
 * call frame information for them. Their code is always of the same kind.
 */
final class Plt implements FrameSource {
    private static final int ENTRY_BYTES = 16;
    private static final int A64_HEAD_BYTES = 32;
    private static final int PUSH_IMMEDIATE = 0x68;
    private static final int PUSH_IMMEDIATE_BYTES = 5;
    private static final int PUSH_MEMORY = 0xff;
    private static final int PUSH_MEMORY_BYTES = 6;

    private final UnwindMachine machine;
    private final byte[] code;
    private final long address;

    /** Whether its first entry is the one that the others jump to. */
    private final boolean hasHead;

    Plt(UnwindMachine machine, byte[] code, long address, boolean hasHead) {
        this.machine = machine;
        this.code = code;
        this.address = address;
        this.hasHead = hasHead;
    }

    @Override
    public int functions() {
        return 0;
    }

    @Override
    public @Nullable FrameRule find(long at) {
        long offset = at - address;
        if (offset < 0 || offset >= code.length) {
            return null;
        }
        return switch (machine) {
            case X86_64, I386 -> x86((int) offset);
            case AARCH64 -> aarch64((int) offset);
            case ARM, RISCV64, LOONGARCH64, S390X -> null;
        };
    }

    /** A stub pushes the number of its relocation and jumps; the head pushes one word more. */
    private FrameRule x86(int offset) {
        int entry = offset - offset % ENTRY_BYTES;
        int pushed;
        if (hasHead && entry == 0) {
            boolean second = code[0] == (byte) PUSH_MEMORY && offset >= PUSH_MEMORY_BYTES;
            pushed = second ? 2 : 1;
        } else {
            pushed = hasHead && offset >= behindPush(entry) ? 1 : 0;
        }
        int word = machine.wordBytes();
        return new FrameRule.Builder(machine)
                .cfa(machine.stackPointer(), (long) word * (1 + pushed))
                .rule(machine.returnColumn(), FrameRule.OFFSET, -word)
                .build();
    }

    /** Offset behind the push of a stub: at its start, behind endbr, or behind a jump. */
    private int behindPush(int entry) {
        for (int before : new int[] {0, 4, 6}) {
            int at = entry + before;
            if (at < code.length && (code[at] & 0xff) == PUSH_IMMEDIATE) {
                return at + PUSH_IMMEDIATE_BYTES;
            }
        }
        return Integer.MAX_VALUE;
    }

    /** The head begins with {@code stp x16, x30, [sp, #-16]!}; the others leave the stack alone. */
    private FrameRule aarch64(int offset) {
        FrameRule.Builder rule = new FrameRule.Builder(machine);
        if (hasHead && offset > 0 && offset < A64_HEAD_BYTES) {
            return rule.cfa(machine.stackPointer(), 16)
                    .rule(machine.returnColumn(), FrameRule.OFFSET, -8)
                    .build();
        }
        return rule.cfa(machine.stackPointer(), 0).build();
    }
}
