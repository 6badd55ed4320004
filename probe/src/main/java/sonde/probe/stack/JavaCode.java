package sonde.probe.stack;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R4;
import static sonde.bpf.insn.BpfRegister.R5;
import static sonde.bpf.insn.BpfRegister.R6;
import static sonde.bpf.insn.BpfRegister.R7;
import static sonde.bpf.insn.BpfRegister.R8;
import static sonde.bpf.insn.BpfRegister.R9;
import static sonde.bpf.insn.JumpCondition.EQUAL;
import static sonde.bpf.insn.JumpCondition.GREATER;
import static sonde.bpf.insn.JumpCondition.GREATER_OR_EQUAL;
import static sonde.bpf.insn.JumpCondition.LESS;
import static sonde.bpf.insn.JumpCondition.LESS_OR_EQUAL;
import static sonde.bpf.insn.JumpCondition.NOT_EQUAL;
import static sonde.probe.stack.UnwindScratch.AREA;
import static sonde.probe.stack.UnwindScratch.COUNT;
import static sonde.probe.stack.UnwindScratch.EXACT;
import static sonde.probe.stack.UnwindScratch.FRAMES;
import static sonde.probe.stack.UnwindScratch.IP;
import static sonde.probe.stack.UnwindScratch.JAVA_BLOB;
import static sonde.probe.stack.UnwindScratch.JAVA_BLOB_BYTES;
import static sonde.probe.stack.UnwindScratch.JAVA_BLOB_MASK;
import static sonde.probe.stack.UnwindScratch.JAVA_CODE;
import static sonde.probe.stack.UnwindScratch.JAVA_CODE_BEFORE;
import static sonde.probe.stack.UnwindScratch.JAVA_CODE_BYTES;
import static sonde.probe.stack.UnwindScratch.JAVA_KEY;
import static sonde.probe.stack.UnwindScratch.JAVA_KNOWN;
import static sonde.probe.stack.UnwindScratch.JAVA_REPORT;
import static sonde.probe.stack.UnwindScratch.JAVA_VM;
import static sonde.probe.stack.UnwindScratch.LEAF;
import static sonde.probe.stack.UnwindScratch.MM;
import static sonde.probe.stack.UnwindScratch.MOST_FRAMES;
import static sonde.probe.stack.UnwindScratch.PC;
import static sonde.probe.stack.UnwindScratch.R13;
import static sonde.probe.stack.UnwindScratch.RBP;
import static sonde.probe.stack.UnwindScratch.RSP;
import static sonde.probe.stack.UnwindScratch.WORD;

import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;
import sonde.probe.jvm.HotSpotVm;

/**
 * The subprogram that steps over a frame of code that HotSpot made: interpreted, compiled, or a
 * stub. {@link JvmTable} says where the code of a process is and how it is described.
 */
final class JavaCode {
    /** The subprogram's results; above them 2 + the ordinal of {@link UserStackEnd}. */
    static final int OTHER_CODE = 0;

    static final int STEPPED = 1;
    static final int ENDED = 2;

    /** Steps back in the map of segments: 254 segments of 64 or 128 bytes each. */
    private static final int MOST_BACK = 16;

    /** No frame of Java is larger, and none of the interpreter. */
    private static final int MOST_FRAME = 1 << 20;

    /** Words that code of a method may have pushed meanwhile, and the return address. */
    private static final int MOST_PUSHED = 6;

    // The interpreter's frame from rbp (src/hotspot/cpu/x86/frame_x86.hpp).
    private static final int INTERPRETED_FROM = -64;
    private static final int BYTECODE = 0;
    private static final int METHOD = 40;
    private static final int SENDER = 56;
    private static final int CALLER_RBP = 64;
    private static final int RETURN = 72;
    private static final int INTERPRETED_BYTES = 80;

    private final JvmTable table;
    private final CodeBuilder code;
    private final Label other = new Label("other code");
    private final Label stepped = new Label("stepped");
    private final Label unreadable = new Label("unreadable");
    private final Label bare = new Label("no frame yet");
    private final Label pushed = new Label("rbp is pushed");
    private final Label full = new Label("frame");
    private final Label stub = new Label("stub");
    private final Label noRow = new Label("no row");

    JavaCode(JvmTable table, CodeBuilder code) {
        this.table = table;
        this.code = code;
    }

    /** R1 = scratch memory; anonymous memory is at PC. */
    void write() {
        code.move(R6, R1);
        machine();
        bounds();
        interpreted();
        Label block = new Label("block");
        blob(block);
        code.at(block);
        piece();
        compiled();
        stubs();
        code.at(stepped)
                .store(Width.U64, R6, EXACT, 0)
                .store(Width.U64, R6, LEAF, 0)
                .exit(STEPPED)
                .at(unreadable)
                .exit(ENDED + UserStackEnd.UNREADABLE.ordinal())
                .at(noRow)
                .exit(ENDED + UserStackEnd.NO_ROW.ordinal())
                .at(other)
                .exit(OTHER_CODE);
    }

    /** Goes on with the JVM of the process in JAVA_VM. A process is reported when first seen. */
    private void machine() {
        Label known = new Label("known process");
        Label copied = new Label("copied");
        code.step("the JVM of the process")
                .load(Width.U64, R7, R6, MM)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .shiftRight(R0, 32)
                .move(R8, R0)
                .load(Width.U64, R1, R6, JAVA_KNOWN)
                .branch(NOT_EQUAL, R1, R7, copied)
                .load(Width.U64, R1, R6, JAVA_KNOWN + 8)
                .branch(EQUAL, R1, R8, known)
                .at(copied)
                .store(Width.U64, R6, JAVA_KEY, R7)
                .store(Width.U64, R6, JAVA_KEY + 8, R8)
                .map(R1, table.map().fd())
                .move(R2, R6)
                .add(R2, JAVA_KEY)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM);
        Label found = new Label("found");
        code.ifNotZero(R0, found);
        report();
        code.jump(other)
                .at(found)
                .load(Width.U64, R1, R0, JvmTable.HIGH)
                .ifZero(R1, other)
                .move(R3, R0)
                .move(R1, R6)
                .add(R1, JAVA_VM)
                .move(R2, JvmTable.VALUE_BYTES)
                .call(HelperFunctionId.PROBE_READ_KERNEL)
                .ifNotZero(R0, other)
                .store(Width.U64, R6, JAVA_KNOWN, R7)
                .store(Width.U64, R6, JAVA_KNOWN + 8, R8)
                .at(known);
    }

    /** R7 = the process's memory, R8 = tgid. */
    private void report() {
        code.step("report a process")
                .store(Width.U64, R6, JAVA_VM + JvmTable.LOW, 0)
                .store(Width.U64, R6, JAVA_VM + JvmTable.HIGH, 0)
                .store(Width.U64, R6, JAVA_KNOWN, 0)
                .map(R1, table.map().fd())
                .move(R2, R6)
                .add(R2, JAVA_KEY)
                .move(R3, R6)
                .add(R3, JAVA_VM)
                .move(R4, 1) // BPF_NOEXIST
                .call(HelperFunctionId.MAP_UPDATE_ELEM)
                .ifNotZero(R0, other)
                .store(Width.U64, R6, JAVA_REPORT, 0)
                .store(Width.U64, R6, JAVA_REPORT + 8, R8)
                .store(Width.U64, R6, JAVA_REPORT + 16, R7);
        reportOut();
    }

    private void reportOut() {
        code.map(R1, table.reports().fd())
                .move(R2, R6)
                .add(R2, JAVA_REPORT)
                .move(R3, JvmTable.REPORT_BYTES)
                .move(R4, 0)
                .call(HelperFunctionId.RINGBUF_OUTPUT);
    }

    /** R7 = PC, which lies in the memory for code. */
    private void bounds() {
        code.step("is it code of the JVM")
                .load(Width.U64, R7, R6, PC)
                .load(Width.U64, R1, R6, JAVA_VM + JvmTable.LOW)
                .branch(LESS, R7, R1, other)
                .load(Width.U64, R1, R6, JAVA_VM + JvmTable.HIGH)
                .branch(GREATER_OR_EQUAL, R7, R1, other);
    }

    private void interpreted() {
        Label not = new Label("not interpreted");
        Label early = new Label("before the frame");
        code.step("interpreted frame")
                .load(Width.U64, R1, R6, JAVA_VM + JvmTable.INTERPRETER)
                .branch(LESS, R7, R1, not)
                .load(Width.U64, R1, R6, JAVA_VM + JvmTable.INTERPRETER + 8)
                .branch(GREATER_OR_EQUAL, R7, R1, not)
                .load(Width.U64, R8, R6, RBP)
                .load(Width.U64, R1, R6, RSP)
                .branch(LESS, R8, R1, early)
                .move(R3, R8)
                .add(R3, INTERPRETED_FROM)
                .move(R1, R6)
                .add(R1, AREA)
                .move(R2, INTERPRETED_BYTES)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, early)
                .load(Width.U64, R1, R6, AREA + METHOD)
                .ifZero(R1, early)
                .load(Width.U64, R2, R6, AREA + SENDER)
                .branch(LESS_OR_EQUAL, R2, R8, early)
                .move(R1, R2)
                .compute(AluOperation.SUBTRACT, R1, R8)
                .branch(GREATER, R1, MOST_FRAME, early)
                .store(Width.U64, R6, RSP, R2)
                .load(Width.U64, R1, R6, AREA + CALLER_RBP)
                .store(Width.U64, R6, RBP, R1)
                .load(Width.U64, R1, R6, AREA + RETURN)
                .store(Width.U64, R6, IP, R1);
        method();
        code.jump(stepped)
                .at(early)
                // A method's entry: the return address is on top, the caller's rsp is in r13.
                .load(Width.U64, R1, R6, LEAF)
                .ifZero(R1, noRow)
                .load(Width.U64, R3, R6, RSP);
        word(R3);
        inCode(R2, noRow);
        code.store(Width.U64, R6, IP, R2)
                .load(Width.U64, R2, R6, R13)
                .load(Width.U64, R1, R6, RSP)
                .branch(LESS_OR_EQUAL, R2, R1, noRow)
                .store(Width.U64, R6, RSP, R2)
                .jump(stepped)
                .at(not);
    }

    /** Puts the method and the index of its bytecode into the place of the frame's address. */
    private void method() {
        Label index = new Label("index");
        Label spilled = new Label("spilled");
        Label none = new Label("no method");
        code.step("the method")
                .load(Width.U64, R3, R6, AREA + METHOD)
                .load(Width.U32, R1, R6, JAVA_VM + JvmTable.CONST_METHOD)
                .and(R1, 0xffff)
                .add(R3, R1)
                .move(R1, R6)
                .add(R1, WORD)
                .move(R2, 8)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, none)
                .load(Width.U64, R4, R6, WORD)
                .load(Width.U32, R1, R6, JAVA_VM + JvmTable.CONST_METHOD_BYTES)
                .add(R4, R1)
                // r13 points to the bytecode while it is executed, the frame while it calls.
                .load(Width.U64, R1, R6, LEAF)
                .ifZero(R1, spilled)
                .load(Width.U64, R2, R6, R13)
                .compute(AluOperation.SUBTRACT, R2, R4)
                .branch(LESS_OR_EQUAL, R2, RuntimeWord.MOST_POSITION, index)
                .at(spilled)
                .load(Width.U64, R2, R6, AREA + BYTECODE)
                .compute(AluOperation.SUBTRACT, R2, R4)
                .branch(LESS_OR_EQUAL, R2, RuntimeWord.MOST_POSITION, index)
                .move(R2, RuntimeWord.NO_POSITION)
                .at(index)
                .load(Width.U64, R3, R6, AREA + METHOD);
        runtimeWord(RuntimeWord.JAVA);
        code.at(none);
    }

    /**
     * The last frame becomes a {@link RuntimeWord}: R3 = its object, R2 = position. The object is
     * reported at first sight, for its process may end.
     */
    private void runtimeWord(int kind) {
        Label known = new Label("known object");
        code.shiftRight(R3, 3)
                .shiftLeft(R3, 20)
                .shiftRight(R3, 4)
                .compute(AluOperation.OR, R3, R2)
                .move(R1, RuntimeWord.of(kind, 0, 0))
                .compute(AluOperation.OR, R3, R1)
                .load(Width.U64, R1, R6, COUNT)
                .add(R1, -1)
                .and(R1, MOST_FRAMES)
                .shiftLeft(R1, 3)
                .add(R1, R6)
                .store(Width.U64, R1, FRAMES, R3)
                .shiftRight(R3, RuntimeWord.POSITION_BITS)
                .shiftLeft(R3, RuntimeWord.POSITION_BITS)
                .store(Width.U64, R6, JAVA_REPORT, R3)
                .load(Width.U64, R1, R6, JAVA_KNOWN + 8)
                .store(Width.U64, R6, JAVA_REPORT + 8, R1)
                .map(R1, table.seen().fd())
                .move(R2, R6)
                .add(R2, JAVA_REPORT)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifNotZero(R0, known)
                .map(R1, table.seen().fd())
                .move(R2, R6)
                .add(R2, JAVA_REPORT)
                .move(R3, R2)
                .move(R4, 1) // BPF_NOEXIST
                .call(HelperFunctionId.MAP_UPDATE_ELEM)
                .ifNotZero(R0, known);
        reportOut();
        code.at(known);
    }

    /** R2 = the word at an address of the process. */
    private void word(BpfRegister address) {
        code.move(R3, address)
                .move(R1, R6)
                .add(R1, WORD)
                .move(R2, 8)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, unreadable)
                .load(Width.U64, R2, R6, WORD);
    }

    /** Goes to the label when an address is not in the memory for code. */
    private void inCode(BpfRegister address, Label out) {
        code.load(Width.U64, R1, R6, JAVA_VM + JvmTable.LOW)
                .branch(LESS, address, R1, out)
                .load(Width.U64, R1, R6, JAVA_VM + JvmTable.HIGH)
                .branch(GREATER_OR_EQUAL, address, R1, out);
    }

    /** JAVA_BLOB = the blob that holds PC, R9 = its address. */
    private void blob(Label done) {
        Label inHeap = new Label("in a heap");
        Label start = new Label("start of the block");
        code.step("the heap");
        for (int i = 0; i < HotSpotVm.MOST_HEAPS; i++) {
            Label next = new Label("next heap");
            int heap = JAVA_VM + JvmTable.HEAPS + JvmTable.HEAP_BYTES * i;
            code.load(Width.U64, R9, R6, heap)
                    .load(Width.U64, R2, R6, heap + 8)
                    .load(Width.U64, R8, R6, heap + 16)
                    .branch(LESS, R7, R9, next)
                    .branch(LESS, R7, R2, inHeap)
                    .at(next);
        }
        code.jump(other)
                .at(inHeap)
                .step("the block")
                // R8 = where the byte of the segment is
                .store(Width.U64, R10, -8, R8)
                .move(R1, R7)
                .compute(AluOperation.SUBTRACT, R1, R9)
                .load(Width.U32, R2, R6, JAVA_VM + JvmTable.SEGMENT_BITS)
                .and(R2, 63)
                .compute(AluOperation.SHIFT_RIGHT, R1, R2)
                .add(R8, R1);
        for (int i = 0; i < MOST_BACK; i++) {
            code.move(R1, R6)
                    .add(R1, WORD)
                    .move(R2, 1)
                    .move(R3, R8)
                    .call(HelperFunctionId.PROBE_READ_USER)
                    .ifNotZero(R0, other)
                    .load(Width.U8, R1, R6, WORD)
                    .ifZero(R1, start)
                    .branch(EQUAL, R1, 0xff, other)
                    .compute(AluOperation.SUBTRACT, R8, R1);
        }
        code.jump(other)
                .at(start)
                .load(Width.U64, R1, R10, -8)
                .compute(AluOperation.SUBTRACT, R8, R1)
                .load(Width.U32, R2, R6, JAVA_VM + JvmTable.SEGMENT_BITS)
                .and(R2, 63)
                .compute(AluOperation.SHIFT_LEFT, R8, R2)
                .add(R9, R8)
                .load(Width.U32, R2, R6, JAVA_VM + JvmTable.BLOCK_BYTES)
                .add(R9, R2)
                .step("the blob")
                .move(R1, R6)
                .add(R1, JAVA_BLOB)
                .move(R2, JAVA_BLOB_BYTES)
                .move(R3, R9)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, other)
                .jump(done);
    }

    /** Puts the blob and the offset in it into the place of the frame's address. */
    private void piece() {
        Label far = new Label("far");
        code.step("piece of code")
                .load(Width.U64, R2, R6, IP)
                .compute(AluOperation.SUBTRACT, R2, R9)
                .branch(GREATER, R2, RuntimeWord.MOST_POSITION, far)
                .move(R3, R9);
        runtimeWord(RuntimeWord.COMPILED_JAVA);
        code.at(far);
    }

    /** {@code to} = a field of the blob; its offset is in the JVM's description. */
    private void field(Width width, BpfRegister to, int place) {
        code.load(Width.U32, to, R6, JAVA_VM + place)
                .and(to, JAVA_BLOB_MASK)
                .add(to, R6)
                .load(width, to, to, JAVA_BLOB);
    }

    /** {@code to} = an address of the code: a field has it, or its distance from a base. */
    private void address(BpfRegister to, int place, Width width, BpfRegister base) {
        Label absolute = new Label("absolute");
        Label done = new Label("address");
        code.load(Width.U32, R1, R6, JAVA_VM + place + 4).ifZero(R1, absolute);
        field(width, to, place);
        code.add(to, base).jump(done).at(absolute);
        field(Width.U64, to, place);
        code.at(done);
    }

    /** R7 = PC, R9 = the blob. */
    private void compiled() {
        Label plain = new Label("no method");
        Label inner = new Label("caller");
        code.step("compiled frame");
        field(Width.U32, R8, JvmTable.FRAME_SIZE);
        code.ifZero(R8, stub).shiftLeft(R8, 3).branch(GREATER, R8, MOST_FRAME, other);
        field(Width.U16, R1, JvmTable.HEADER_SIZE);
        code.load(Width.U32, R2, R6, JAVA_VM + JvmTable.NMETHOD_BYTES)
                .branch(NOT_EQUAL, R1, R2, plain)
                .load(Width.U64, R1, R6, EXACT)
                .ifZero(R1, inner);
        leaf();
        shifted();
        code.jump(full).at(inner);
        deoptimized();
        code.jump(full).at(plain);
        // A stub with a frame: at the leaf it may not be there.
        code.load(Width.U64, R1, R6, EXACT)
                .ifZero(R1, full)
                .load(Width.U64, R3, R6, RSP)
                .add(R3, R8)
                .add(R3, -8);
        word(R3);
        inCode(R2, stub);
        code.at(full)
                .step("frame of known size")
                .load(Width.U64, R7, R6, RSP)
                .add(R7, R8)
                .move(R3, R7)
                .add(R3, -16)
                .move(R1, R6)
                .add(R1, AREA)
                .move(R2, 16)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, unreadable)
                .load(Width.U64, R1, R6, AREA + 8)
                .store(Width.U64, R6, IP, R1)
                .store(Width.U64, R6, RSP, R7)
                .load(Width.U64, R1, R6, AREA)
                .store(Width.U64, R6, RBP, R1)
                .jump(stepped);
        pushed();
    }

    /** Return address on top of the stack, with or without rbp above it. */
    private void pushed() {
        code.at(pushed).step("behind the push of rbp").load(Width.U64, R3, R6, RSP).move(R7, R3);
        word(R3);
        code.store(Width.U64, R6, RBP, R2)
                .add(R7, 8)
                .store(Width.U64, R6, RSP, R7)
                .at(bare)
                .step("no frame")
                .load(Width.U64, R7, R6, RSP);
        word(R7);
        code.store(Width.U64, R6, IP, R2).add(R7, 8).store(Width.U64, R6, RSP, R7).jump(stepped);
    }

    /**
     * Where a method is entered or left its frame is not whole: R7 = PC, R8 = bytes of the frame,
     * R9 = the blob. Goes on where it is.
     */
    private void leaf() {
        Label left = new Label("not entered just now");
        Label whole = new Label("whole");
        Label body = new Label("body");
        code.step("code at the leaf")
                .move(R1, R6)
                .add(R1, JAVA_CODE)
                .move(R2, JAVA_CODE_BYTES)
                .move(R3, R7)
                .add(R3, -JAVA_CODE_BEFORE)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, whole);
        address(R3, JvmTable.CODE, Width.U32, R9);
        address(R4, JvmTable.VERIFIED, Width.U16, R3);
        code.branch(LESS_OR_EQUAL, R7, R4, bare);
        field(Width.U16, R5, JvmTable.FRAME_COMPLETE);
        code.add(R3, R5).branch(GREATER_OR_EQUAL, R7, R3, left);
        // Entry: a touch of the stack's end, push rbp, [mov rbp, rsp,] sub rsp.
        ifCode(0, 0x55, bare);
        ifCode(-1, 0x55, pushed);
        Label noMove = new Label("no frame pointer");
        unlessCode(noMove, -4, 0x55, 0x48, 0x8b, 0xec);
        code.jump(pushed).at(noMove);
        // sub rsp may come first: rbp is the caller's until the frame is complete.
        code.load(Width.U64, R1, R6, RBP)
                .load(Width.U64, R2, R6, RSP)
                .branch(LESS, R1, R2, body)
                .add(R2, R8)
                .branch(LESS, R1, R2, whole)
                .at(body)
                .load(Width.U64, R7, R6, RSP)
                .add(R7, R8)
                .add(R7, -8)
                .store(Width.U64, R6, RSP, R7)
                .jump(bare)
                .at(left);
        // Exit: add rsp, pop rbp, cmp rsp with the poll, ja, ret.
        ifCode(0, 0xc3, bare);
        ifCode(0, 0x5d, pushed);
        for (int byteOf : new int[] {0x67, 0xa7}) {
            int length = byteOf == 0x67 ? 4 : 7;
            Label next = new Label("next form");
            unlessCode(next, -1, 0x5d, 0x49, 0x3b, byteOf);
            code.jump(bare).at(next);
            Label behind = new Label("behind");
            unlessCode(behind, -length - 1, 0x5d, 0x49, 0x3b, byteOf);
            unlessCode(behind, 0, 0x0f, 0x87);
            code.jump(bare).at(behind);
        }
        code.at(whole);
    }

    /**
     * Intrinsic code in the middle of a method pushes words for a while (string_compare of
     * macroAssembler_x86.cpp): R8 = bytes to the return address, which is in code of the JVM.
     */
    private void shifted() {
        code.step("return address of the leaf")
                .move(R1, R6)
                .add(R1, AREA)
                .move(R2, 8 * MOST_PUSHED)
                .load(Width.U64, R3, R6, RSP)
                .add(R3, R8)
                .add(R3, -8)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, full);
        for (int i = 0; i < MOST_PUSHED; i++) {
            Label next = new Label("next word");
            code.load(Width.U64, R2, R6, AREA + 8 * i);
            inCode(R2, next);
            code.add(R8, 8 * i).jump(full).at(next);
        }
    }

    private void ifCode(int at, int value, Label target) {
        code.load(Width.U8, R1, R6, JAVA_CODE + JAVA_CODE_BEFORE + at)
                .branch(EQUAL, R1, value, target);
    }

    private void unlessCode(Label target, int at, int... values) {
        for (int i = 0; i < values.length; i++) {
            code.load(Width.U8, R1, R6, JAVA_CODE + JAVA_CODE_BEFORE + at + i)
                    .branch(NOT_EQUAL, R1, values[i], target);
        }
    }

    /** The return address into a frame that is to be interpreted: that which was replaced. */
    private void deoptimized() {
        Label replaced = new Label("replaced");
        Label none = new Label("not deoptimized");
        code.step("deoptimized frame").load(Width.U64, R4, R6, IP);
        address(R3, JvmTable.DEOPTIMIZE, Width.U32, R9);
        code.branch(EQUAL, R3, R4, replaced);
        address(R3, JvmTable.DEOPTIMIZE_HANDLE, Width.U32, R9);
        code.branch(NOT_EQUAL, R3, R4, none).at(replaced);
        field(Width.U32, R2, JvmTable.ORIGINAL_PC);
        code.load(Width.U64, R3, R6, RSP).add(R3, R2);
        word(R3);
        code.compute(AluOperation.SUBTRACT, R2, R9)
                .branch(GREATER, R2, RuntimeWord.MOST_POSITION, none)
                .move(R3, R9);
        runtimeWord(RuntimeWord.COMPILED_JAVA);
        code.at(none);
    }

    /** Code without a frame of its own, or with one that rbp leads to. */
    private void stubs() {
        Label byRbp = new Label("by rbp");
        code.at(stub)
                .step("stub")
                .load(Width.U64, R1, R6, EXACT)
                .ifZero(R1, byRbp)
                .load(Width.U64, R3, R6, RSP);
        word(R3);
        inCode(R2, byRbp);
        code.jump(bare)
                .at(byRbp)
                .load(Width.U64, R7, R6, RBP)
                .load(Width.U64, R1, R6, RSP)
                .branch(LESS, R7, R1, noRow)
                .move(R3, R7)
                .move(R1, R6)
                .add(R1, AREA)
                .move(R2, 16)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, unreadable)
                .load(Width.U64, R1, R6, AREA)
                .store(Width.U64, R6, RBP, R1)
                .load(Width.U64, R1, R6, AREA + 8)
                .store(Width.U64, R6, IP, R1)
                .add(R7, 16)
                .store(Width.U64, R6, RSP, R7);
    }
}
