package sonde.probe.stack;

/**
 * A code object of CPython as a program in the kernel reports it: u64 its number in words, u32
 * tgid, u32 kind, u64 number of the interpreter's file, u64 its address, u32 bytes that were read
 * of each part, then the object and what it points to.
 */
final class PythonReport {
    static final int FILE_NUMBER = 16;
    static final int ADDRESS = 24;

    /** Bytes read of the object, the name, the file and the lines. */
    static final int READ = 32;

    static final int CODE = READ + 16;
    static final int CODE_BYTES = 160;

    /** Offsets of pointers in the object. */
    static final int CODE_MASK = 0xf8;

    /** A str: the function's name. */
    static final int NAME = CODE + CODE_BYTES;

    static final int NAME_BYTES = 328;

    /** A str: the name of the source file. */
    static final int FILE = NAME + NAME_BYTES;

    static final int FILE_BYTES = 456;

    /** A bytes object: the lines. */
    static final int LINES = FILE + FILE_BYTES;

    static final int LINES_BYTES = 3000;

    static final int BYTES = LINES + LINES_BYTES;

    private PythonReport() {}
}
