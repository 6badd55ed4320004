package sonde.symbol.unwind;

/** Why a call chain has no more frames. */
public enum UnwindEnd {
    /** The outermost function was reached: its rule says that it has no caller. */
    COMPLETE("complete"),
    /** The next frame lies behind the piece of stack that was copied. */
    TRUNCATED("the copy of the stack ends"),
    /** More frames than are kept. */
    TOO_DEEP("too many frames"),
    /**
     * Another stack, which was not copied: that of a goroutine for which Go's run time does
     * something on the thread's own, that of what a signal interrupted.
     */
    OTHER_STACK("it goes on in a stack that was not copied"),
    /** Neither call frame information nor a chain of frame pointers. */
    NO_INFORMATION("no unwind information and no frame pointer"),
    /** The mapped file is not here, or another one. */
    NO_FILE("the file with the unwind information is not here"),
    /** A rule needs a register whose value is not known. */
    NO_REGISTER("a register is not known"),
    /** A rule that makes no sense. */
    BAD_RULE("the unwind information makes no sense"),
    /** A return address, or the program counter, lies in no code. */
    NOT_CODE("an address lies in no code"),
    /** A caller's frame that does not lie above the frame: the chain would not end. */
    NO_PROGRESS("a caller lies below what it calls");

    private final String text;

    UnwindEnd(String text) {
        this.text = text;
    }

    /** The reason in words. */
    public String text() {
        return text;
    }

    /** Whether the chain is whole. */
    public boolean isComplete() {
        return this == COMPLETE;
    }

    /** Whether more stack in the sample would have given more frames. */
    public boolean isTruncated() {
        return this == TRUNCATED || this == TOO_DEEP;
    }
}
