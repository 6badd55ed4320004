package sonde.bpf.insn;

/** A place in a program that jumps name before it is known where it is. */
public final class Label {
    private final String name;

    /**
     * A label that is bound by {@link CodeBuilder#at(Label)}.
     *
     * @param name for messages
     */
    public Label(String name) {
        this.name = name;
    }

    @Override
    public String toString() {
        return name;
    }
}
