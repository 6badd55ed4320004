package sonde.probe.stack;

import static sonde.bpf.insn.BpfRegister.R0;
import static sonde.bpf.insn.BpfRegister.R1;
import static sonde.bpf.insn.BpfRegister.R10;
import static sonde.bpf.insn.BpfRegister.R2;
import static sonde.bpf.insn.BpfRegister.R3;
import static sonde.bpf.insn.BpfRegister.R4;
import static sonde.bpf.insn.BpfRegister.R6;
import static sonde.bpf.insn.BpfRegister.R7;
import static sonde.bpf.insn.BpfRegister.R8;
import static sonde.bpf.insn.BpfRegister.R9;
import static sonde.bpf.insn.JumpCondition.EQUAL;
import static sonde.bpf.insn.JumpCondition.GREATER_OR_EQUAL;
import static sonde.bpf.insn.JumpCondition.LESS;
import static sonde.bpf.insn.JumpCondition.LESS_OR_EQUAL;
import static sonde.bpf.insn.JumpCondition.NOT_EQUAL;
import static sonde.bpf.insn.JumpCondition.SIGNED_GREATER_OR_EQUAL;
import static sonde.probe.stack.RuntimeScratch.AREA;
import static sonde.probe.stack.RuntimeScratch.BASE;
import static sonde.probe.stack.RuntimeScratch.CFRAME;
import static sonde.probe.stack.RuntimeScratch.FIELDS;
import static sonde.probe.stack.RuntimeScratch.FOUND;
import static sonde.probe.stack.RuntimeScratch.FRAME;
import static sonde.probe.stack.RuntimeScratch.FS_BASE;
import static sonde.probe.stack.RuntimeScratch.HIGH;
import static sonde.probe.stack.RuntimeScratch.INTERPRETER;
import static sonde.probe.stack.RuntimeScratch.LOW;
import static sonde.probe.stack.RuntimeScratch.NOW;
import static sonde.probe.stack.RuntimeScratch.OBJECT;
import static sonde.probe.stack.RuntimeScratch.OUTER_CFRAME;
import static sonde.probe.stack.RuntimeScratch.RUN;
import static sonde.probe.stack.RuntimeScratch.RUN_COUNT;
import static sonde.probe.stack.RuntimeScratch.RUN_FRAME;
import static sonde.probe.stack.RuntimeScratch.RUN_IP;
import static sonde.probe.stack.RuntimeScratch.STATE;
import static sonde.probe.stack.RuntimeScratch.THREAD;
import static sonde.probe.stack.RuntimeScratch.WORDS;
import static sonde.probe.stack.UnwindScratch.COUNT;
import static sonde.probe.stack.UnwindScratch.CURRENT;
import static sonde.probe.stack.UnwindScratch.FRAMES;
import static sonde.probe.stack.UnwindScratch.MOST_FRAMES;

import java.util.function.Consumer;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;
import sonde.probe.stack.PythonLayout.LayoutField;

/**
 * The subprograms that tell the functions of a Python program in place of the interpreter's frames:
 * one native frame of {@code _PyEval_EvalFrameDefault} runs one Python function (CPython 3.10 and
 * older) or a run of them, up to that with which C code called it. R6 = the scratch memory.
 *
 * <p>The thread's state is found in the lists of {@code _PyRuntime} by {@code pthread_self()} and
 * then remembered. A run is told only where the frame with which it began is known to be of the
 * native frame; otherwise the native frame stays.
 */
final class PythonCode {
    private static final int MOST_TASKS = 1024;
    private static final int SECOND = 1_000_000_000;
    private static final int TENTH = SECOND / 10;
    private static final int MOST_SKIPPED = 3;
    private static final int USER_BITS = 47;
    private static final long IDENTITY_FACTOR = 0x9e3779b97f4a7c15L;
    private static final int SHIM_OWNER = 3;

    private final KernelFields kernel;
    private final RuntimeMaps maps;
    private final Label run = new Label("python");
    private final Label step = new Label("python_step");
    private final Label thread = new Label("python_find");
    private final Label oneThread = new Label("python_thread");
    private final Label object = new Label("python_object");

    PythonCode(KernelFields kernel, UnwindTables tables) {
        this.kernel = kernel;
        maps = tables.runtimes();
    }

    /** At a native frame of the interpreter: R1 = scratch memory. */
    Label run() {
        return run;
    }

    /** The next frame of a run: R1 = scratch memory. */
    Label step() {
        return step;
    }

    /**
     * Writes them.
     *
     * @param begins is told before each
     */
    void subprograms(CodeBuilder code, Consumer<Label> begins) {
        begins.accept(run);
        begin(code);
        begins.accept(step);
        oneFrame(code);
        begins.accept(thread);
        findThread(code);
        begins.accept(oneThread);
        compareThread(code);
        begins.accept(object);
        report(code);
    }

    private static int field(LayoutField field) {
        return FIELDS + 8 * field.ordinal();
    }

    /** Reads bytes of user memory at R3. */
    private static void read(CodeBuilder code, int place, int sizeBytes, Label failed) {
        code.move(R1, R6)
                .add(R1, place)
                .move(R2, sizeBytes)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, failed);
    }

    /** R3 = a word at a field of the struct at R3. */
    private static void word(CodeBuilder code, LayoutField of, Label failed) {
        code.load(Width.U64, R1, R6, field(of)).add(R3, R1);
        read(code, WORDS, 8, failed);
        code.load(Width.U64, R3, R6, WORDS);
    }

    private void begin(CodeBuilder code) {
        Label have = new Label("have the frames");
        Label started = new Label("started");
        Label aRun = new Label("a run");
        Label out = new Label("out");
        code.move(R6, R1)
                .load(Width.U64, R1, R6, STATE)
                .branch(EQUAL, R1, 1, have)
                .ifNotZero(R1, out)
                .store(Width.U64, R6, STATE, 2)
                .call(HelperFunctionId.KTIME_GET_NS)
                .store(Width.U64, R6, NOW, R0)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .shiftRight(R0, 32)
                .store(Width.U32, R6, OBJECT + 8, R0)
                .store(Width.U32, R6, OBJECT + 12, RuntimeWord.PYTHON)
                .step("its fields")
                .load(Width.U32, R1, R6, CURRENT + 24)
                .store(Width.U32, R10, -4, R1)
                .map(R1, maps.files().fd())
                .move(R2, R10)
                .add(R2, -4)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, out);
        for (int i = 0; i < PythonLayout.FIELDS; i++) {
            code.load(Width.U64, R1, R0, 8 * i).store(Width.U64, R6, FIELDS + 8 * i, R1);
        }
        code.load(Width.U64, R1, R6, field(LayoutField.RUNTIME))
                .load(Width.U64, R2, R6, CURRENT + 16)
                .compute(AluOperation.SUBTRACT, R1, R2)
                .store(Width.U64, R6, BASE, R1)
                .move(R1, R6)
                .call(thread)
                .ifZero(R0, out)
                .move(R3, R0);
        word(code, LayoutField.TOP, out);
        code.store(Width.U64, R6, FRAME, R3)
                .store(Width.U64, R6, OUTER_CFRAME, R3)
                .load(Width.U64, R1, R6, field(LayoutField.CFRAME))
                .branch(EQUAL, R1, -1, started);
        outer(code, out);
        code.at(started)
                .store(Width.U64, R6, STATE, 1)
                .at(have)
                .load(Width.U64, R1, R6, field(LayoutField.ENTRY))
                .branch(NOT_EQUAL, R1, PythonLayout.MARKED, aRun);
        // Frames of an interpreter whose native frames were not recognised are left out.
        Label fits = new Label("fits");
        for (int i = 0; i < MOST_SKIPPED; i++) {
            code.load(Width.U64, R1, R6, CFRAME)
                    .load(Width.U64, R2, R6, LOW)
                    .branch(GREATER_OR_EQUAL, R1, R2, fits);
            outer(code, out);
        }
        code.load(Width.U64, R1, R6, CFRAME)
                .load(Width.U64, R2, R6, LOW)
                .branch(LESS, R1, R2, out)
                .at(fits)
                .load(Width.U64, R2, R6, HIGH)
                .branch(GREATER_OR_EQUAL, R1, R2, out)
                .at(aRun)
                .load(Width.U64, R1, R6, FRAME)
                .ifZero(R1, out)
                .store(Width.U64, R6, RUN_FRAME, R1)
                .store(Width.U64, R6, RUN, 1)
                .load(Width.U64, R1, R6, COUNT)
                .store(Width.U64, R6, RUN_COUNT, R1)
                .add(R1, -1);
        frameAddress(code);
        code.load(Width.U64, R2, R1, FRAMES).store(Width.U64, R6, RUN_IP, R2).at(out).exit(0);
    }

    /** R1 = R6 + 8 * R1, bounded. */
    private static void frameAddress(CodeBuilder code) {
        code.and(R1, MOST_FRAMES).shiftLeft(R1, 3).add(R1, R6);
    }

    /** From a struct _PyCFrame to the one outside of it. */
    private static void outer(CodeBuilder code, Label failed) {
        code.load(Width.U64, R3, R6, OUTER_CFRAME)
                .ifZero(R3, failed)
                .store(Width.U64, R6, CFRAME, R3)
                .load(Width.U64, R1, R6, field(LayoutField.CFRAME))
                .add(R3, R1);
        // current_frame and previous
        read(code, WORDS, 16, failed);
        code.load(Width.U64, R1, R6, WORDS)
                .store(Width.U64, R6, FRAME, R1)
                .load(Width.U64, R1, R6, WORDS + 8)
                .store(Width.U64, R6, OUTER_CFRAME, R1);
    }

    /** R1 = a field of the frame that was read, R2 is lost. */
    private static void frameField(CodeBuilder code, LayoutField of, Width width) {
        code.load(Width.U64, R2, R6, field(of))
                .and(R2, width == Width.U8 ? RuntimeScratch.AREA_BYTES - 1 : 0x78)
                .add(R2, R6)
                .load(width, R1, R2, AREA);
    }

    private void oneFrame(CodeBuilder code) {
        Label lost = new Label("lost");
        Label shim = new Label("shim");
        Label python = new Label("python");
        Label last = new Label("last instruction");
        Label forward = new Label("not negative");
        Label placed = new Label("placed");
        Label known = new Label("known");
        Label ended = new Label("ended");
        Label out = new Label("out");
        code.move(R6, R1)
                .load(Width.U64, R7, R6, FRAME)
                .ifZero(R7, lost)
                .move(R1, R6)
                .add(R1, AREA)
                .load(Width.U64, R2, R6, field(LayoutField.FRAME_BYTES))
                .and(R2, RuntimeScratch.AREA_BYTES - 1)
                .move(R3, R7)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, lost)
                .load(Width.U64, R1, R6, field(LayoutField.ENTRY))
                .branch(NOT_EQUAL, R1, PythonLayout.SHIM, python);
        frameField(code, LayoutField.OWNER, Width.U8);
        code.branch(GREATER_OR_EQUAL, R1, SHIM_OWNER, shim).at(python).step("its code");
        frameField(code, LayoutField.CODE, Width.U64);
        code.move(R8, R1)
                .and(R8, -8)
                .ifZero(R8, lost)
                .shiftRight(R1, USER_BITS)
                .ifNotZero(R1, lost)
                .step("its position");
        frameField(code, LayoutField.POSITION, Width.U64);
        code.load(Width.U64, R3, R6, field(LayoutField.CODE_START))
                .ifZero(R3, last)
                .compute(AluOperation.SUBTRACT, R1, R8)
                .compute(AluOperation.SUBTRACT, R1, R3)
                .jump(placed)
                .at(last)
                .shiftLeft(R1, 32)
                .compute(AluOperation.SHIFT_RIGHT_SIGNED, R1, 32)
                .at(placed)
                .load(Width.U64, R2, R6, field(LayoutField.UNIT_SHIFT))
                .and(R2, 1)
                .compute(AluOperation.SHIFT_RIGHT_SIGNED, R1, R2)
                // Before the first instruction.
                .branch(SIGNED_GREATER_OR_EQUAL, R1, 0, forward)
                .move(R1, 0)
                .at(forward)
                .branch(LESS_OR_EQUAL, R1, RuntimeWord.MOST_POSITION, known)
                .move(R1, RuntimeWord.NO_POSITION)
                .at(known)
                .move(R9, R1);
        identify(code, lost);
        code.move(R1, R0)
                .shiftLeft(R1, RuntimeWord.POSITION_BITS)
                .compute(AluOperation.OR, R9, R1)
                .move(R1, RuntimeWord.of(RuntimeWord.PYTHON, 0, 0))
                .compute(AluOperation.OR, R9, R1);
        tell(code);
        code.move(R1, R6).move(R2, R8).call(object);
        frameField(code, LayoutField.PREVIOUS, Width.U64);
        code.store(Width.U64, R6, FRAME, R1)
                .load(Width.U64, R1, R6, field(LayoutField.ENTRY))
                .branch(EQUAL, R1, PythonLayout.EACH, ended)
                .branch(EQUAL, R1, PythonLayout.SHIM, out);
        frameField(code, LayoutField.OWNER, Width.U8);
        code.ifZero(R1, out);
        outer(code, lost);
        code.jump(ended).at(shim);
        shim(code, ended, out);
        code.at(lost)
                .store(Width.U64, R6, STATE, 2)
                .at(ended)
                .store(Width.U64, R6, RUN, 0)
                .at(out)
                .exit(0);
    }

    /**
     * R0 = OBJECT = a hash of the code object at R8 and of what it points to, of so many bits as a
     * word has: the memory of a code object is soon used for another.
     */
    private static void identify(CodeBuilder code, Label lost) {
        code.step("its identity").load(Width.U64, R3, R6, field(LayoutField.FILE)).add(R3, R8);
        read(code, WORDS, RuntimeScratch.WORDS_BYTES, lost);
        code.move(R0, R8).move(R4, IDENTITY_FACTOR);
        for (LayoutField of :
                new LayoutField[] {LayoutField.FILE, LayoutField.NAME, LayoutField.LINES}) {
            code.load(Width.U64, R1, R6, field(of))
                    .load(Width.U64, R2, R6, field(LayoutField.FILE))
                    .compute(AluOperation.SUBTRACT, R1, R2)
                    .and(R1, RuntimeScratch.WORDS_BYTES - 8)
                    .add(R1, R6)
                    .load(Width.U64, R1, R1, WORDS)
                    .compute(AluOperation.MULTIPLY, R0, R4)
                    .move(R2, R0)
                    .shiftRight(R2, 29)
                    .compute(AluOperation.XOR, R0, R2)
                    .compute(AluOperation.XOR, R0, R1);
        }
        code.compute(AluOperation.MULTIPLY, R0, R4)
                .shiftRight(R0, 64 - RuntimeWord.OBJECT_BITS)
                .store(Width.U64, R6, OBJECT, R0);
    }

    /** Keeps the word in R9; the first of a run comes in place of the native frame. */
    private static void tell(CodeBuilder code) {
        Label more = new Label("more");
        code.step("keep the frame")
                .load(Width.U64, R3, R6, COUNT)
                .load(Width.U64, R1, R6, RUN)
                .branch(NOT_EQUAL, R1, 1, more)
                .store(Width.U64, R6, RUN, 2)
                .add(R3, -1)
                .at(more)
                .move(R1, R3);
        frameAddress(code);
        code.store(Width.U64, R1, FRAMES, R9).add(R3, 1).store(Width.U64, R6, COUNT, R3);
    }

    /** R7 = a frame on the native stack, which is that of no function: the run began there. */
    private static void shim(CodeBuilder code, Label ended, Label out) {
        Label outside = new Label("of another native frame");
        frameField(code, LayoutField.PREVIOUS, Width.U64);
        code.store(Width.U64, R6, FRAME, R1)
                .load(Width.U64, R1, R6, HIGH)
                .branch(GREATER_OR_EQUAL, R7, R1, outside)
                .load(Width.U64, R1, R6, LOW)
                .branch(LESS, R7, R1, out)
                .jump(ended)
                .at(outside)
                .load(Width.U64, R1, R6, RUN_FRAME)
                .store(Width.U64, R6, FRAME, R1)
                .load(Width.U64, R1, R6, RUN_COUNT)
                .store(Width.U64, R6, COUNT, R1)
                .add(R1, -1);
        frameAddress(code);
        code.load(Width.U64, R2, R6, RUN_IP).store(Width.U64, R1, FRAMES, R2).jump(ended);
    }

    /** R0 = struct _ts of the thread, 0 when none is found. */
    private void findThread(CodeBuilder code) {
        Label search = new Label("search");
        Label retry = new Label("retry");
        Label none = new Label("none");
        code.move(R6, R1)
                .call(HelperFunctionId.GET_CURRENT_TASK_BTF)
                .load(Width.U64, R1, R0, kernel.fsBase())
                .store(Width.U64, R6, FS_BASE, R1)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .store(Width.U64, R10, -8, R0)
                .map(R1, maps.threads().fd())
                .move(R2, R10)
                .add(R2, -8)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, search)
                .load(Width.U64, R7, R0, 0)
                .load(Width.U64, R8, R0, 8)
                .load(Width.U64, R9, R0, 16)
                .load(Width.U64, R1, R6, BASE)
                .branch(NOT_EQUAL, R8, R1, search)
                .ifZero(R7, retry)
                .move(R3, R7);
        word(code, LayoutField.THREAD_ID, search);
        code.load(Width.U64, R1, R6, FS_BASE)
                .branch(NOT_EQUAL, R1, R3, search)
                .move(R0, R7)
                .exit()
                .at(retry)
                .load(Width.U64, R1, R6, NOW)
                .compute(AluOperation.SUBTRACT, R1, R9)
                .branch(LESS, R1, TENTH, none)
                .at(search)
                .step("search")
                .store(Width.U64, R6, THREAD, 0)
                .store(Width.U64, R6, FOUND, 0)
                .load(Width.U64, R3, R6, BASE);
        word(code, LayoutField.INTERPRETERS, none);
        code.store(Width.U64, R6, INTERPRETER, R3)
                .store(Width.U64, R10, -16, R6)
                .move(R1, MOST_TASKS)
                .function(R2, oneThread)
                .move(R3, R10)
                .add(R3, -16)
                .move(R4, 0)
                .call(HelperFunctionId.LOOP)
                .load(Width.U64, R7, R6, FOUND)
                .store(Width.U64, R10, -32, R7)
                .load(Width.U64, R1, R6, BASE)
                .store(Width.U64, R10, -24, R1)
                .load(Width.U64, R1, R6, NOW)
                .store(Width.U64, R10, -16, R1)
                .map(R1, maps.threads().fd())
                .move(R2, R10)
                .add(R2, -8)
                .move(R3, R10)
                .add(R3, -32)
                .move(R4, 0)
                .call(HelperFunctionId.MAP_UPDATE_ELEM)
                .move(R0, R7)
                .exit()
                .at(none)
                .exit(0);
    }

    /**
     * One thread of the lists. The last one that fits counts: interpreters that a thread entered
     * later come before the main one.
     */
    private void compareThread(CodeBuilder code) {
        Label thread = new Label("thread");
        Label other = new Label("other");
        Label stop = new Label("stop");
        code.load(Width.U64, R6, R2, 0)
                .load(Width.U64, R7, R6, THREAD)
                .ifNotZero(R7, thread)
                .load(Width.U64, R7, R6, INTERPRETER)
                .ifZero(R7, stop)
                .move(R3, R7);
        word(code, LayoutField.THREADS, stop);
        code.store(Width.U64, R6, THREAD, R3).move(R3, R7);
        word(code, LayoutField.NEXT_INTERPRETER, stop);
        code.store(Width.U64, R6, INTERPRETER, R3).exit(0).at(thread).move(R3, R7);
        word(code, LayoutField.THREAD_ID, stop);
        code.load(Width.U64, R1, R6, FS_BASE)
                .branch(NOT_EQUAL, R1, R3, other)
                .store(Width.U64, R6, FOUND, R7)
                .at(other)
                .move(R3, R7);
        word(code, LayoutField.NEXT_THREAD, stop);
        code.store(Width.U64, R6, THREAD, R3).exit(0).at(stop).exit(1);
    }

    /**
     * R1 = scratch memory, R2 = a code object, by OBJECT known: tells user space what is in it, at
     * first sight, for its process may end.
     */
    private void report(CodeBuilder code) {
        Label none = new Label("known, or no room");
        Label unreadable = new Label("unreadable");
        code.move(R6, R1)
                .move(R8, R2)
                .map(R1, maps.objects().fd())
                .move(R2, R6)
                .add(R2, OBJECT)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifNotZero(R0, none)
                .step("report an object")
                .map(R1, maps.reports().fd())
                .move(R2, PythonReport.BYTES)
                .move(R3, 0)
                .call(HelperFunctionId.RINGBUF_RESERVE)
                .ifZero(R0, none)
                .move(R7, R0)
                .load(Width.U64, R1, R6, OBJECT)
                .store(Width.U64, R7, 0, R1)
                .load(Width.U64, R1, R6, OBJECT + 8)
                .store(Width.U64, R7, 8, R1)
                .store(Width.U64, R7, PythonReport.ADDRESS, R8)
                .load(Width.U32, R1, R6, CURRENT + 24)
                .store(Width.U64, R7, PythonReport.FILE_NUMBER, R1)
                .store(Width.U64, R7, PythonReport.READ, 0)
                .store(Width.U64, R7, PythonReport.READ + 8, 0)
                .move(R1, R7)
                .add(R1, PythonReport.CODE)
                .move(R2, PythonReport.CODE_BYTES)
                .move(R3, R8)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, unreadable)
                .store(Width.U32, R7, PythonReport.READ, PythonReport.CODE_BYTES);
        part(code, LayoutField.NAME, PythonReport.NAME, PythonReport.NAME_BYTES, 1);
        part(code, LayoutField.FILE, PythonReport.FILE, PythonReport.FILE_BYTES, 2);
        part(code, LayoutField.LINES, PythonReport.LINES, PythonReport.LINES_BYTES, 3);
        code.at(unreadable)
                .move(R1, R7)
                .move(R2, 0)
                .call(HelperFunctionId.RINGBUF_SUBMIT)
                .map(R1, maps.objects().fd())
                .move(R2, R6)
                .add(R2, OBJECT)
                .move(R3, R6)
                .add(R3, NOW)
                .move(R4, 0)
                .call(HelperFunctionId.MAP_UPDATE_ELEM)
                .at(none)
                .exit(0);
    }

    private static void part(
            CodeBuilder code, LayoutField of, int place, int mostBytes, int number) {
        Label done = new Label("done");
        code.load(Width.U64, R1, R6, field(of))
                .and(R1, PythonReport.CODE_MASK)
                .add(R1, R7)
                .load(Width.U64, R8, R1, PythonReport.CODE);
        // Whole, or else the rest of its page.
        Label fits = new Label("fits");
        Label read = new Label("read");
        code.move(R9, mostBytes)
                .move(R1, R7)
                .add(R1, place)
                .move(R2, R9)
                .move(R3, R8)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifZero(R0, read)
                .move(R1, R8)
                .and(R1, UnwindScratch.PAGE - 1)
                .move(R9, UnwindScratch.PAGE)
                .compute(AluOperation.SUBTRACT, R9, R1)
                .branch(LESS_OR_EQUAL, R9, mostBytes, fits)
                .move(R9, mostBytes)
                .at(fits)
                .move(R1, R7)
                .add(R1, place)
                .move(R2, R9)
                .move(R3, R8)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, done)
                .at(read)
                .store(Width.U32, R7, PythonReport.READ + 4 * number, R9);
        code.at(done);
    }
}
