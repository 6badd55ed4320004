package sonde.binary.btf;

/**
 * Flavours of names: what follows the last {@code ___} tells apart several views of one kernel type
 * within an object ({@code struct task_struct___before_5_14}) and is no part of the kernel's name.
 */
public final class NameFlavour {
    private static final int UNDERSCORES = 3;

    private NameFlavour() {}

    /**
     * The name without its flavour: {@code "a___b"} gives {@code "a"}. Exactly three underscores
     * part them, with something else on both sides.
     */
    public static String without(String name) {
        int end = name.length();
        for (int i = 0; i + UNDERSCORES + 1 < name.length(); i++) {
            if (name.charAt(i) != '_'
                    && name.startsWith("___", i + 1)
                    && name.charAt(i + UNDERSCORES + 1) != '_') {
                end = i + 1;
            }
        }
        return name.substring(0, end);
    }

    /** The hash of the bytes of a name without its flavour, byte by byte. */
    static final class Hash {
        private int hash;
        private int beforeRun;
        private int run;
        private int length;
        private int found;
        private boolean flavoured;

        void add(byte b) {
            if (b == '_') {
                if (run == 0) {
                    beforeRun = hash;
                }
                run++;
            } else {
                if (run == UNDERSCORES && length > UNDERSCORES) {
                    found = beforeRun;
                    flavoured = true;
                }
                run = 0;
            }
            hash = 31 * hash + b;
            length++;
        }

        int value() {
            return flavoured ? found : hash;
        }
    }
}
