package sonde.probe.syscall;

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

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import sonde.binary.btf.BtfType;
import sonde.binary.btf.BtfType.Int.IntEncoding;
import sonde.binary.btf.BtfWriter;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.BpfRegister;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.JumpCondition;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;
import sonde.recording.syscall.CallRecord;
import sonde.recording.syscall.CaptureOp;
import sonde.recording.syscall.FilePiece;

/**
 * The part of the programs that reads a traced process's memory by {@link CaptureOp}s and appends
 * it to a record.
 *
 * <p>Operations and the parts of a vector are bpf_loop callbacks (Linux 5.17), which the verifier
 * walks through once: unrolled, they would be more than a million steps. A callback gets a block on
 * its caller's stack. Registers of an operation: R6 its index, R7 the block of the main program, R9
 * the record.
 */
final class CapturedCode {
    /** Where a piece may begin in a record. */
    static final int POSITION_MASK = 0x7ff8;

    /** Bytes of a piece. */
    static final int MOST_PIECE = 32760;

    /** Room for a record: the last piece begins before 32 KiB and has at most as much. */
    static final int RECORD_BYTES = 1 << 16;

    /** Bytes of a plan: u32 wanted, u32 chooser + 1, and the operations of entry and exit. */
    static final int PLAN_BYTES = 8 + 16 * CaptureOp.MOST;

    static final int ENTRY_OPS = 8;
    static final int EXIT_OPS = 8 + 8 * CaptureOp.MOST;

    private static final int PAGE = 4096;

    // The block that an operation gets: the record, the plan, the thread's value, whether the call
    // ends, and the first operation.
    private static final int MAIN_BLOCK = -72;
    private static final int RECORD = 0;
    private static final int PLAN = 8;
    private static final int THREAD = 16;
    private static final int EXIT = 24;
    private static final int FIRST = 32;

    // The stack of an operation. The block that a part gets begins at PART_BLOCK with the record.
    private static final int OP = -8;
    private static final int WORD = -16;
    private static final int PART_BLOCK = -72;
    private static final int ADDRESS = PART_BLOCK + 8;
    private static final int HEADER = PART_BLOCK + 16;
    private static final int MOST = PART_BLOCK + 24;
    private static final int COUNT = PART_BLOCK + 32;
    private static final int MISSING = PART_BLOCK + 40;

    // struct msghdr and struct iovec of x86-64.
    private static final int MESSAGE_BYTES = 56;

    /**
     * How memory of the process is read.
     *
     * @param bytes a helper
     * @param string the number of a kernel function (bpf_copy_from_user_str, Linux 6.12); 0 for the
     *     helper that reads what is present
     */
    record UserReads(int bytes, int string) {
        /** What is present. */
        static final UserReads PRESENT = new UserReads(HelperFunctionId.PROBE_READ_USER, 0);

        /** R0 = the length with the NUL, or negative. */
        private void string(CodeBuilder code) {
            if (string == 0) {
                code.call(HelperFunctionId.PROBE_READ_USER_STR);
            } else {
                code.callKernel(string)
                        .shiftLeft(R0, 32)
                        .compute(AluOperation.SHIFT_RIGHT_SIGNED, R0, 32);
            }
        }
    }

    private final CodeBuilder code;
    private final UserReads reads;
    private final Map<String, Integer> starts = new LinkedHashMap<>();
    private final Label operation = new Label("operation");
    private final Label stringPart = new Label("string part");
    private final Label vectorPart = new Label("vector part");
    private final Label readBytes = new Label("read bytes");
    private final Label readString = new Label("read a string");
    private final Label readFile = new Label("read a file");
    private final Label filePart = new Label("file part");
    private final Label parent = new Label("parent");
    private final Map<String, Integer> files;
    private int labels;

    /**
     * Of a program.
     *
     * @param files of {@link FileCode#fields}; empty where no descriptors are to be followed
     */
    CapturedCode(CodeBuilder code, Map<String, Integer> files) {
        this(code, files, UserReads.PRESENT);
    }

    /** With another way to read. */
    CapturedCode(CodeBuilder code, Map<String, Integer> files, UserReads reads) {
        this.code = code;
        this.reads = reads;
        this.files = files;
    }

    private Label label(String name) {
        return new Label(name + " " + ++labels);
    }

    /**
     * Follows the operations of a plan: R7 is the thread's value in the tree, R8 the plan, R9 the
     * record.
     *
     * @param exit first those of the entry whose bit the thread's value has, because their memory
     *     was not there, then those of the exit
     */
    void operations(boolean exit) {
        Label none = label("no operations");
        Label some = label("operations");
        code.step("follow the operations").move(R1, R8).add(R1, ENTRY_OPS).move(R3, 0);
        if (exit) {
            Label again = label("some were missing");
            code.load(Width.U32, R2, R7, 0)
                    .ifNotZero(R2, again)
                    .add(R1, EXIT_OPS - ENTRY_OPS)
                    .move(R3, CaptureOp.MOST)
                    .at(again)
                    .ifNotZero(R2, some);
        }
        code.load(Width.U8, R2, R1, 0)
                .ifZero(R2, none)
                .at(some)
                .store(Width.U64, R10, MAIN_BLOCK + FIRST, R3)
                .store(Width.U64, R10, MAIN_BLOCK + PLAN, R8)
                .store(Width.U64, R10, MAIN_BLOCK + RECORD, R9)
                .store(Width.U64, R10, MAIN_BLOCK + THREAD, R7)
                .store(Width.U64, R10, MAIN_BLOCK + EXIT, exit ? 1 : 0)
                .move(R1, exit ? 2 * CaptureOp.MOST : CaptureOp.MOST)
                .function(R2, operation)
                .move(R3, R10)
                .add(R3, MAIN_BLOCK)
                .move(R4, 0)
                .call(HelperFunctionId.LOOP)
                .at(none);
    }

    /** The subprograms, behind the end of the main program. */
    void subprograms() {
        begin("operation", operation);
        operation();
        begin("string_part", stringPart);
        stringPart();
        begin("vector_part", vectorPart);
        vectorPart();
        begin("read_bytes", readBytes);
        bytesReader();
        begin("read_string", readString);
        stringReader();
        if (!files.isEmpty()) {
            FileCode file = new FileCode(code, files, parent);
            begin("file_part", filePart);
            filePart();
            begin("read_file", readFile);
            fileReader(file);
            begin("parent", parent);
            file.parent();
        }
    }

    private void begin(String name, Label label) {
        starts.put(name, code.slot());
        code.at(label).step(name.replace('_', ' '));
    }

    /** Adds the types of the program and of the subprograms; an array of struct bpf_func_info. */
    byte[] types(BtfWriter types, String program) {
        int result = types.add(new BtfType.Int("int", 4, IntEncoding.SIGNED, 0, 32));
        int pointer = types.add(new BtfType.Ptr(0));
        int number = types.add(new BtfType.Int("u64", 8, IntEncoding.UNSIGNED, 0, 64));
        ByteBuffer records =
                ByteBuffer.allocate(8 * (starts.size() + 1)).order(ByteOrder.nativeOrder());
        records.putInt(0).putInt(function(types, program, result, List.of(pointer)));
        starts.forEach((name, slot) -> {
            List<Integer> parameters =
                    name.startsWith("read")
                            ? List.of(pointer, number, number, number)
                            : List.of(number, pointer);
            records.putInt(slot).putInt(function(types, name, result, parameters));
        });
        return records.array();
    }

    private static int function(BtfWriter types, String name, int result, List<Integer> all) {
        List<BtfType.Param> parameters =
                all.stream().map(type -> new BtfType.Param("a", type)).toList();
        int prototype = types.add(new BtfType.FuncProto(result, parameters));
        return types.add(new BtfType.Func(name, BtfType.Linkage.STATIC, prototype));
    }

    /** One operation: R1 counts, R2 the block of the main program. 1 ends the list. */
    private void operation() {
        Label end = label("end");
        Label next = label("next");
        Label once = label("once");
        Label last = label("last");
        code.move(R7, R2)
                .load(Width.U64, R6, R7, FIRST)
                .add(R6, R1)
                .branch(JumpCondition.GREATER_OR_EQUAL, R6, 2 * CaptureOp.MOST, end)
                .and(R6, 2 * CaptureOp.MOST - 1)
                .load(Width.U64, R9, R7, RECORD)
                .move(R4, 0)
                .load(Width.U64, R1, R7, EXIT)
                .ifZero(R1, once)
                .branch(JumpCondition.GREATER_OR_EQUAL, R6, CaptureOp.MOST, once)
                .load(Width.U64, R1, R7, THREAD)
                .load(Width.U32, R1, R1, 0)
                .compute(AluOperation.SHIFT_RIGHT, R1, R6)
                .and(R1, 1)
                .ifZero(R1, next)
                .move(R4, CallRecord.AGAIN << 16)
                .at(once)
                .move(R1, R6)
                .shiftLeft(R1, 3)
                .load(Width.U64, R2, R7, PLAN)
                .add(R1, R2)
                .add(R1, ENTRY_OPS)
                .load(Width.U64, R5, R1, 0)
                .store(Width.U64, R10, OP, R5)
                .load(Width.U8, R2, R1, 0)
                .ifZero(R2, last)
                .load(Width.U8, R3, R1, 1)
                .compute(AluOperation.OR, R4, R3)
                .store(Width.U64, R10, HEADER, R4);
        argument(R4, R3);
        Label any = label("any value");
        code.branch(JumpCondition.EQUAL, R2, CaptureOp.KIND_FILE, any)
                .ifZero(R4, next)
                .at(any)
                .load(Width.U16, R5, R1, 6)
                .store(Width.U64, R10, MOST, R5)
                .store(Width.U64, R10, ADDRESS, R4)
                .store(Width.U64, R10, PART_BLOCK, R9)
                .store(Width.U64, R10, MISSING, 0)
                .store(Width.U64, R10, COUNT, 0);
        Label done = label("done");
        kinds(done);
        code.at(done)
                .step("remember what was missing")
                .load(Width.U64, R1, R10, MISSING)
                .ifZero(R1, next)
                .move(R1, 1)
                .compute(AluOperation.SHIFT_LEFT, R1, R6)
                .load(Width.U64, R3, R7, THREAD)
                .load(Width.U32, R2, R3, 0)
                .compute(AluOperation.OR, R2, R1)
                .store(Width.U32, R3, 0, R2)
                .at(next)
                .exit(0)
                .at(last)
                .step("the entry's operations end before those of the exit")
                .branch(JumpCondition.NOT_EQUAL, R4, 0, next)
                .at(end)
                .exit(1);
    }

    /** {@code to} = the argument of that number. */
    private void argument(BpfRegister to, BpfRegister number) {
        code.move(to, number)
                .and(to, 7)
                .shiftLeft(to, 3)
                .add(to, R9)
                .load(Width.U64, to, to, CallRecord.ARGUMENTS);
    }

    private void kinds(Label done) {
        Label strings = label("strings");
        Label vector = label("vector");
        Label message = label("message");
        Label string = label("string");
        if (!files.isEmpty()) {
            files(done);
        }
        code.branch(JumpCondition.EQUAL, R2, CaptureOp.KIND_STRING, string)
                .branch(JumpCondition.EQUAL, R2, CaptureOp.KIND_STRINGS, strings)
                .branch(JumpCondition.EQUAL, R2, CaptureOp.KIND_VECTOR, vector)
                .branch(JumpCondition.EQUAL, R2, CaptureOp.KIND_MESSAGE, message);
        bytes(done);
        code.at(string).step("a string");
        part(readString, 0, MOST);
        code.store(Width.U64, R10, MISSING, R0).jump(done);
        code.at(strings).step("strings");
        strings(done);
        code.at(message).step("a message");
        message(done);
        code.at(vector).step("a vector");
        vectorLength();
        vector(0);
    }

    /** A descriptor, or an array of them. */
    private void files(Label done) {
        Label others = label("no files");
        Label array = label("files");
        Label ready = label("descriptor");
        code.branch(JumpCondition.EQUAL, R2, CaptureOp.KIND_FILES, array)
                .branch(JumpCondition.NOT_EQUAL, R2, CaptureOp.KIND_FILE, others)
                .step("a file")
                .load(Width.U8, R2, R10, OP + 2)
                .branch(JumpCondition.NOT_EQUAL, R2, CaptureOp.LENGTH_RESULT, ready)
                .load(Width.U64, R4, R9, CallRecord.RESULT)
                .store(Width.U64, R10, ADDRESS, R4)
                .at(ready);
        part(readFile, FilePiece.PART, MOST);
        Label counted = label("counted");
        Label result = label("result");
        code.jump(done)
                .at(array)
                .step("files")
                .load(Width.U8, R4, R10, OP + 3)
                .load(Width.U8, R2, R10, OP + 2)
                .branch(JumpCondition.EQUAL, R2, CaptureOp.LENGTH_FIXED, counted)
                .branch(JumpCondition.EQUAL, R2, CaptureOp.LENGTH_RESULT, result)
                .move(R3, R4);
        argument(R4, R3);
        code.jump(counted)
                .at(result)
                .load(Width.U64, R4, R9, CallRecord.RESULT)
                .branch(JumpCondition.SIGNED_LESS_OR_EQUAL, R4, 0, done)
                .at(counted)
                .store(Width.U64, R10, COUNT, R4);
        parts(filePart);
        code.jump(done).at(others);
    }

    /** R1 = index, R2 = the block. */
    private void filePart() {
        Label end = label("end");
        code.load(Width.U64, R3, R2, COUNT - PART_BLOCK)
                .branch(JumpCondition.GREATER_OR_EQUAL, R1, R3, end)
                .move(R6, R1)
                .move(R7, R2)
                .load(Width.U16, R3, R7, OP + 4 - PART_BLOCK)
                .compute(AluOperation.MULTIPLY, R3, R6)
                .load(Width.U64, R2, R7, ADDRESS - PART_BLOCK)
                .add(R3, R2)
                .move(R1, R10)
                .add(R1, -16)
                .move(R2, 4)
                .call(reads.bytes())
                .ifNotZero(R0, end)
                .load(Width.U64, R1, R7, 0)
                .load(Width.U32, R2, R10, -16)
                .load(Width.U64, R3, R7, MOST - PART_BLOCK)
                .move(R4, R6)
                .add(R4, FilePiece.PART + 1)
                .shiftLeft(R4, 8)
                .load(Width.U64, R5, R7, HEADER - PART_BLOCK)
                .add(R4, R5)
                .call(readFile)
                .exit(0)
                .at(end)
                .exit(1);
    }

    private void fileReader(FileCode file) {
        Label full = label("full");
        Label fail = label("fail");
        Label close = label("close");
        open(full);
        file.reader(fail, close);
        code.at(close);
        close(0);
        code.at(fail).step("no such file").exit(0).at(full).exit(0);
    }

    /** Calls a reader for the address on the stack; R0 = 1 when memory was missing. */
    private void part(Label reader, int part, int length) {
        code.move(R1, R9)
                .load(Width.U64, R2, R10, ADDRESS)
                .load(Width.U64, R3, R10, length)
                .load(Width.U64, R4, R10, HEADER)
                .add(R4, part << 8)
                .call(reader);
    }

    /** Bytes, whose number depends on an argument or the result. */
    private void bytes(Label done) {
        Label sized = label("sized");
        Label fits = label("fits");
        Label fixed = label("fixed");
        Label behind = label("behind");
        Label byArgument = label("by argument");
        code.step("bytes")
                .load(Width.U8, R2, R10, OP + 2)
                .load(Width.U8, R3, R10, OP + 3)
                .branch(JumpCondition.EQUAL, R2, CaptureOp.LENGTH_FIXED, fixed)
                .branch(JumpCondition.EQUAL, R2, CaptureOp.LENGTH_ARGUMENT, byArgument)
                .branch(JumpCondition.EQUAL, R2, CaptureOp.LENGTH_BEHIND, behind)
                .load(Width.U64, R4, R9, CallRecord.RESULT)
                .jump(sized)
                .at(byArgument);
        argument(R4, R3);
        code.jump(sized).at(behind);
        argument(R3, R3);
        code.move(R1, R10)
                .add(R1, WORD)
                .store(Width.U64, R10, WORD, 0)
                .move(R2, 4)
                .call(reads.bytes())
                .load(Width.U32, R4, R10, WORD)
                .at(sized)
                .branch(JumpCondition.SIGNED_LESS_OR_EQUAL, R4, 0, done)
                .load(Width.U16, R5, R10, OP + 4)
                .compute(AluOperation.MULTIPLY, R4, R5)
                .load(Width.U64, R5, R10, MOST)
                .branch(JumpCondition.GREATER_OR_EQUAL, R4, R5, fits)
                .store(Width.U64, R10, MOST, R4)
                .jump(fits)
                .at(fixed)
                .load(Width.U64, R4, R10, ADDRESS)
                .load(Width.U16, R5, R10, OP + 4)
                .add(R4, R5)
                .store(Width.U64, R10, ADDRESS, R4)
                .at(fits);
        part(readBytes, 0, MOST);
        code.store(Width.U64, R10, MISSING, R0).jump(done);
    }

    /** Calls back for each part. */
    private void parts(Label callback) {
        code.move(R1, CaptureOp.PARTS)
                .function(R2, callback)
                .move(R3, R10)
                .add(R3, PART_BLOCK)
                .move(R4, 0)
                .call(HelperFunctionId.LOOP);
    }

    /** Addresses up to NULL, each with its string as a part. */
    private void strings(Label done) {
        code.store(Width.U64, R10, WORD, CaptureOp.PARTS * 8);
        part(readBytes, 0, WORD);
        parts(stringPart);
        code.jump(done);
    }

    /** R1 = index, R2 = the block. */
    private void stringPart() {
        Label end = label("end");
        Label missing = label("missing");
        partAddress(3, 8, 0);
        code.ifNotZero(R0, missing)
                .load(Width.U64, R2, R10, -16)
                .ifZero(R2, end)
                .load(Width.U64, R3, R7, MOST - PART_BLOCK);
        onePart(readString, missing);
        code.at(missing)
                .step("missing")
                .store(Width.U64, R7, MISSING - PART_BLOCK, 1)
                .exit(0)
                .at(end)
                .exit(1);
    }

    /** R6 = index, R7 = the block, and the element of the vector at -16 of the stack. */
    private void partAddress(int shift, int bytes, int offset) {
        code.move(R6, R1)
                .move(R7, R2)
                .move(R3, R6)
                .shiftLeft(R3, shift)
                .load(Width.U64, R2, R7, ADDRESS - PART_BLOCK)
                .add(R3, R2)
                .move(R1, R10)
                .add(R1, -16 + offset)
                .move(R2, bytes)
                .call(reads.bytes());
    }

    /** Reads the part of the index: R2 = address, R3 = length. */
    private void onePart(Label reader, Label missing) {
        code.load(Width.U64, R1, R7, 0)
                .move(R4, R6)
                .add(R4, 1)
                .shiftLeft(R4, 8)
                .load(Width.U64, R5, R7, HEADER - PART_BLOCK)
                .add(R4, R5)
                .call(reader)
                .ifNotZero(R0, missing)
                .exit(0);
    }

    /** {@link #COUNT} = how many parts a vector has; a pair of sets has one. */
    private void vectorLength() {
        Label counted = label("counted");
        code.move(R4, 1)
                .load(Width.U8, R2, R10, OP + 2)
                .branch(JumpCondition.EQUAL, R2, CaptureOp.LENGTH_FIXED, counted)
                .load(Width.U8, R3, R10, OP + 3);
        argument(R4, R3);
        code.at(counted).store(Width.U64, R10, COUNT, R4);
    }

    /**
     * The struct iovecs at {@link #ADDRESS}, {@link #COUNT} of them, and what they point to.
     *
     * @param part of the array; the parts behind it are its elements'
     */
    private void vector(int part) {
        Label few = label("few");
        Label none = label("none");
        code.load(Width.U64, R1, R10, COUNT)
                .branch(JumpCondition.LESS_OR_EQUAL, R1, CaptureOp.PARTS, few)
                .move(R1, CaptureOp.PARTS)
                .at(few)
                .ifZero(R1, none)
                .shiftLeft(R1, 4)
                .store(Width.U64, R10, WORD, R1);
        part(readBytes, part, WORD);
        code.load(Width.U64, R1, R10, HEADER).add(R1, part << 8).store(Width.U64, R10, HEADER, R1);
        parts(vectorPart);
        code.at(none);
    }

    /** R1 = index, R2 = the block. */
    private void vectorPart() {
        Label end = label("end");
        Label missing = label("missing");
        Label fits = label("fits");
        code.load(Width.U64, R3, R2, COUNT - PART_BLOCK)
                .branch(JumpCondition.GREATER_OR_EQUAL, R1, R3, end);
        partAddress(4, 16, 0);
        code.ifNotZero(R0, missing)
                .load(Width.U64, R2, R10, -16)
                .load(Width.U64, R3, R10, -8)
                .load(Width.U64, R4, R7, MOST - PART_BLOCK)
                .branch(JumpCondition.LESS_OR_EQUAL, R3, R4, fits)
                .move(R3, R4)
                .at(fits);
        onePart(readBytes, missing);
        code.at(missing)
                .step("missing")
                .store(Width.U64, R7, MISSING - PART_BLOCK, 1)
                .exit(0)
                .at(end)
                .exit(1);
    }

    /** struct msghdr: part 1 is the name, 2 the control messages, 3 the vector. */
    private void message(Label done) {
        Label fine = label("fine");
        code.store(Width.U64, R10, WORD, MESSAGE_BYTES).load(Width.U64, R8, R10, ADDRESS);
        part(readBytes, 0, WORD);
        code.ifZero(R0, fine).store(Width.U64, R10, MISSING, 1).jump(done).at(fine);
        field(0, ADDRESS);
        field(8, WORD);
        code.store(Width.U32, R10, WORD + 4, 0);
        optional(1, 128);
        field(32, ADDRESS);
        field(40, WORD);
        optional(2, 512);
        field(16, ADDRESS);
        field(24, COUNT);
        code.load(Width.U64, R1, R10, ADDRESS).ifZero(R1, done);
        vector(3);
        code.jump(done);
    }

    /** Reads 8 bytes of the struct at R8 to the stack. */
    private void field(int offset, int to) {
        code.store(Width.U64, R10, to, 0)
                .move(R3, R8)
                .add(R3, offset)
                .move(R1, R10)
                .add(R1, to)
                .move(R2, 8)
                .call(reads.bytes());
    }

    /** Reads a part when it has an address and a length. */
    private void optional(int part, int most) {
        Label none = label("none");
        Label fits = label("fits");
        code.load(Width.U64, R1, R10, ADDRESS)
                .ifZero(R1, none)
                .load(Width.U64, R1, R10, WORD)
                .ifZero(R1, none)
                .branch(JumpCondition.LESS_OR_EQUAL, R1, most, fits)
                .store(Width.U64, R10, WORD, most)
                .at(fits);
        part(readBytes, part, WORD);
        code.ifZero(R0, none).store(Width.U64, R10, MISSING, 1).at(none);
    }

    /** R6 = record, R7 = address, R8 = length, R9 = header; R1 = place of the piece, also at -8. */
    private void open(Label full) {
        code.move(R6, R1)
                .move(R7, R2)
                .move(R8, R3)
                .move(R9, R4)
                .load(Width.U32, R1, R6, CallRecord.LENGTH)
                .branch(JumpCondition.GREATER, R1, POSITION_MASK, full)
                .and(R1, POSITION_MASK)
                .add(R1, R6)
                .store(Width.U64, R10, -8, R1);
    }

    /** Writes the piece's header and adds its length in R8 to the record's. */
    private void close(int result) {
        code.load(Width.U64, R1, R10, -8)
                .store(Width.U32, R1, 0, R9)
                .store(Width.U32, R1, 4, R8)
                .load(Width.U32, R2, R6, CallRecord.LENGTH)
                .add(R8, 15)
                .and(R8, -8)
                .add(R2, R8)
                .store(Width.U32, R6, CallRecord.LENGTH, R2)
                .exit(result);
    }

    private void bytesReader() {
        Label full = label("full");
        Label clamped = label("clamped");
        Label fail = label("fail");
        Label fine = label("fine");
        open(full);
        code.branch(JumpCondition.LESS_OR_EQUAL, R8, MOST_PIECE, clamped)
                .move(R8, MOST_PIECE)
                .at(clamped);
        copy();
        code.ifZero(R0, fine).step("up to the end of the page").move(R2, R7);
        code.and(R2, PAGE - 1).move(R1, PAGE);
        code.compute(AluOperation.SUBTRACT, R1, R2)
                .branch(JumpCondition.GREATER_OR_EQUAL, R1, R8, fail)
                .move(R8, R1)
                .load(Width.U64, R1, R10, -8);
        copy();
        code.ifNotZero(R0, fail).move(R1, CallRecord.CUT << 16).compute(AluOperation.OR, R9, R1);
        close(1);
        code.at(fine);
        close(0);
        failure(fail, full);
    }

    private void copy() {
        code.load(Width.U64, R1, R10, -8).add(R1, 8).move(R2, R8).move(R3, R7).call(reads.bytes());
    }

    private void stringReader() {
        Label full = label("full");
        Label clamped = label("clamped");
        Label fail = label("fail");
        open(full);
        code.branch(JumpCondition.LESS_OR_EQUAL, R8, MOST_PIECE, clamped)
                .move(R8, MOST_PIECE)
                .at(clamped)
                .load(Width.U64, R1, R10, -8)
                .add(R1, 8)
                .move(R2, R8)
                .move(R3, R7)
                .move(R4, 0);
        reads.string(code);
        code.branch(JumpCondition.SIGNED_LESS_OR_EQUAL, R0, 0, fail).move(R8, R0).and(R8, 0x7fff);
        close(0);
        failure(fail, full);
    }

    private void failure(Label fail, Label full) {
        code.at(fail)
                .step("not readable")
                .move(R1, CallRecord.FAILED << 16)
                .compute(AluOperation.OR, R9, R1)
                .move(R8, 0);
        close(1);
        code.at(full).exit(0);
    }
}
