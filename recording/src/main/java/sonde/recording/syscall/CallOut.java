package sonde.recording.syscall;

import static sonde.recording.syscall.ConstantSet.appendHex;

import sonde.recording.syscall.CallStyle.ConstantForm;

/** The text of a call while it is written, and how constants stand in it. */
final class CallOut implements CharSequence {
    private final StringBuilder text = new StringBuilder();
    private final ConstantForm constants;

    CallOut(ConstantForm constants) {
        this.constants = constants;
    }

    /** How constants are written (-X). */
    ConstantForm constants() {
        return constants;
    }

    CallOut append(CharSequence words) {
        text.append(words);
        return this;
    }

    CallOut append(CharSequence words, int from, int to) {
        text.append(words, from, to);
        return this;
    }

    CallOut append(char one) {
        text.append(one);
        return this;
    }

    CallOut append(long number) {
        text.append(number);
        return this;
    }

    void setLength(int length) {
        text.setLength(length);
    }

    void delete(int from, int to) {
        text.delete(from, to);
    }

    @Override
    public int length() {
        return text.length();
    }

    @Override
    public char charAt(int index) {
        return text.charAt(index);
    }

    @Override
    public CharSequence subSequence(int from, int to) {
        return text.subSequence(from, to);
    }

    String substring(int from) {
        return text.substring(from);
    }

    @Override
    public String toString() {
        return text.toString();
    }

    /** Names of a number, the number in hexadecimal, or both. */
    void named(long value, Runnable names) {
        switch (constants) {
            case RAW -> appendHex(this, value);
            case ABBREV -> names.run();
            case VERBOSE -> {
                appendHex(this, value);
                both(names);
            }
        }
    }

    /** As {@link #named}, for a number that is not written in hexadecimal. */
    void named(String value, Runnable names) {
        switch (constants) {
            case RAW -> append(value);
            case ABBREV -> names.run();
            case VERBOSE -> {
                append(value);
                both(names);
            }
        }
    }

    private void both(Runnable names) {
        append(" /* ");
        int start = text.length();
        names.run();
        // A number without a name has its own remark.
        int remark = text.indexOf(" /* ", start);
        if (remark >= 0) {
            text.delete(start, remark + " /* ".length());
        } else {
            append(" */");
        }
    }
}
