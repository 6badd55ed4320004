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
import static sonde.bpf.insn.JumpCondition.EQUAL;
import static sonde.bpf.insn.JumpCondition.NOT_EQUAL;
import static sonde.probe.stack.RuntimeScratch.ENGINE;
import static sonde.probe.stack.RuntimeScratch.ENGINE_FIELDS;
import static sonde.probe.stack.RuntimeScratch.OBJECT;
import static sonde.probe.stack.RuntimeScratch.WORDS;

import sonde.bpf.BpfMap;
import sonde.bpf.insn.AluOperation;
import sonde.bpf.insn.CodeBuilder;
import sonde.bpf.insn.HelperFunctionId;
import sonde.bpf.insn.Label;
import sonde.bpf.insn.Width;

/**
 * The subprogram that tells functions of JavaScript in place of frames of code that V8 compiled or
 * interprets: such a frame has rbp, its context below, and its JSFunction below that
 * (src/execution/frame-constants.h). R6 = the scratch memory.
 */
final class ScriptCode {
    private static final int CONTEXT_AND_FUNCTION = 16;

    private final RuntimeMaps maps;
    private final BpfMap reports;
    private final Label engine = new Label("engine");

    ScriptCode(UnwindTables tables) {
        maps = tables.runtimes();
        reports = tables.jvms().reports();
    }

    /** At a frame of code without rows: R1 = scratch memory. */
    Label engine() {
        return engine;
    }

    void write(CodeBuilder code) {
        Label known = new Label("known");
        Label out = new Label("out");
        code.move(R6, R1)
                .load(Width.U64, R1, R6, ENGINE)
                .branch(EQUAL, R1, 1, known)
                .ifNotZero(R1, out)
                .store(Width.U64, R6, ENGINE, 2)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .shiftRight(R0, 32)
                .store(Width.U32, R10, -4, R0)
                .map(R1, maps.engines().fd())
                .move(R2, R10)
                .add(R2, -4)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifZero(R0, out)
                .store(Width.U64, R6, ENGINE, 1);
        for (int i = 0; i < RuntimeScratch.ENGINE_BYTES; i += 8) {
            code.load(Width.U64, R1, R0, i).store(Width.U64, R6, ENGINE_FIELDS + i, R1);
        }
        code.at(known)
                .step("the frame's function")
                .load(Width.U64, R3, R6, UnwindScratch.RBP)
                .add(R3, -CONTEXT_AND_FUNCTION);
        read(code, CONTEXT_AND_FUNCTION, out);
        // The frames of stubs have a number in place of a context.
        code.load(Width.U64, R1, R6, WORDS + 8);
        isObject(code, out);
        code.load(Width.U64, R1, R6, WORDS);
        isObject(code, out);
        code.load(Width.U64, R3, R6, ENGINE_FIELDS).add(R3, R1).add(R3, -1);
        read(code, 8, out);
        code.load(Width.U64, R1, R6, WORDS);
        isObject(code, out);
        code.move(R7, R1).add(R7, -1).load(Width.U64, R3, R6, ENGINE_FIELDS + 8).add(R3, R7);
        read(code, 8, out);
        code.load(Width.U64, R1, R6, WORDS);
        isObject(code, out);
        tell(code, out);
        code.at(out).exit(0);
    }

    /** R7 = the SharedFunctionInfo, R1 = its name or scope: both tell it from others. */
    private void tell(CodeBuilder code, Label out) {
        code.step("its word")
                .move(R0, R7)
                .move(R4, PythonCode.IDENTITY_FACTOR)
                .compute(AluOperation.MULTIPLY, R0, R4)
                .move(R2, R0)
                .shiftRight(R2, 29)
                .compute(AluOperation.XOR, R0, R2)
                .compute(AluOperation.XOR, R0, R1)
                .compute(AluOperation.MULTIPLY, R0, R4)
                .shiftRight(R0, 64 - RuntimeWord.OBJECT_BITS)
                .store(Width.U64, R6, OBJECT, R0)
                .move(R8, RuntimeWord.of(RuntimeWord.JAVASCRIPT, 0, RuntimeWord.NO_POSITION))
                .shiftLeft(R0, RuntimeWord.POSITION_BITS)
                .compute(AluOperation.OR, R8, R0)
                .load(Width.U64, R1, R6, UnwindScratch.COUNT)
                .add(R1, -1)
                .and(R1, UnwindScratch.MOST_FRAMES)
                .shiftLeft(R1, 3)
                .add(R1, R6)
                .store(Width.U64, R1, UnwindScratch.FRAMES, R8)
                .call(HelperFunctionId.GET_CURRENT_PID_TGID)
                .shiftRight(R0, 32)
                .store(Width.U32, R6, OBJECT + 8, R0)
                .store(Width.U32, R6, OBJECT + 12, RuntimeWord.JAVASCRIPT)
                .map(R1, maps.objects().fd())
                .move(R2, R6)
                .add(R2, OBJECT)
                .call(HelperFunctionId.MAP_LOOKUP_ELEM)
                .ifNotZero(R0, out)
                .step("report it")
                .load(Width.U64, R1, R6, ENGINE_FIELDS + 16)
                .store(Width.U64, R6, OBJECT + RuntimeScratch.OBJECT_BYTES, R1)
                .store(Width.U64, R6, OBJECT + RuntimeScratch.OBJECT_BYTES + 8, R7)
                .map(R1, reports.fd())
                .move(R2, R6)
                .add(R2, OBJECT)
                .move(R3, RuntimeScratch.SCRIPT_REPORT_BYTES)
                .move(R4, 0)
                .call(HelperFunctionId.RINGBUF_OUTPUT)
                .ifNotZero(R0, out)
                .map(R1, maps.objects().fd())
                .move(R2, R6)
                .add(R2, OBJECT)
                .move(R3, R6)
                .add(R3, OBJECT)
                .move(R4, 0)
                .call(HelperFunctionId.MAP_UPDATE_ELEM);
    }

    private static void read(CodeBuilder code, int sizeBytes, Label failed) {
        code.move(R1, R6)
                .add(R1, WORDS)
                .move(R2, sizeBytes)
                .call(HelperFunctionId.PROBE_READ_USER)
                .ifNotZero(R0, failed);
    }

    /** R1 = a tagged word: one of an object ends in 01. */
    private static void isObject(CodeBuilder code, Label out) {
        code.move(R2, R1).and(R2, 3).branch(NOT_EQUAL, R2, 1, out);
    }
}
