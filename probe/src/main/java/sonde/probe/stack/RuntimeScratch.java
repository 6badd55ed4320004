package sonde.probe.stack;

/**
 * The part of the memory of {@link UnwindScratch} in which frames of run times are walked: bytes
 * from the start of the whole.
 */
final class RuntimeScratch {
    /** 0, or what the next step does: 1 begins a run of frames in a native frame, 2 goes on. */
    static final int RUN = UnwindScratch.SETS + (4 << UnwindScratch.SET_BITS);

    /** Most frames of the stack. */
    static final int MOST = RUN + 8;

    /** 0 as long as no frame of an interpreter was met, 1 while its frames are known, else 2. */
    static final int STATE = MOST + 8;

    /** The interpreter's innermost frame that was not told yet. */
    static final int FRAME = STATE + 8;

    /** CPython 3.11: struct _PyCFrame in the native frame, and the one before it. */
    static final int CFRAME = FRAME + 8;

    static final int OUTER_CFRAME = CFRAME + 8;

    /** Stack pointer and CFA of the native frame that runs them. */
    static final int LOW = OUTER_CFRAME + 8;

    static final int HIGH = LOW + 8;

    /** To undo a run: how many frames there were, the native one's address, and FRAME. */
    static final int RUN_COUNT = HIGH + 8;

    static final int RUN_IP = RUN_COUNT + 8;
    static final int RUN_FRAME = RUN_IP + 8;

    /** Address of the run time's global state. */
    static final int BASE = RUN_FRAME + 8;

    static final int NOW = BASE + 8;
    static final int FS_BASE = NOW + 8;

    /** While a thread is looked for: what was found, the interpreter, the thread. */
    static final int FOUND = FS_BASE + 8;

    static final int INTERPRETER = FOUND + 8;
    static final int THREAD = INTERPRETER + 8;
    static final int WORDS = THREAD + 8;

    static final int WORDS_BYTES = 32;

    /** Key of the object of a frame: its number in words, u32 tgid, u32 kind. */
    static final int OBJECT = WORDS + WORDS_BYTES;

    static final int OBJECT_BYTES = 16;

    /** The fields of {@link PythonLayout}. */
    static final int FIELDS = OBJECT + OBJECT_BYTES;

    static final int AREA = FIELDS + 8 * PythonLayout.FIELDS;
    static final int AREA_BYTES = 128;
    static final int BYTES = AREA + AREA_BYTES - RUN;

    private RuntimeScratch() {}
}
