package sonde.sys;

import java.util.Locale;

/** The architectures whose system call numbers and flag values this module knows. */
public enum Arch {
    /** x86-64: {@code uname -m} says {@code x86_64}. */
    X86_64("x86_64"),
    /** 64-bit ARM: {@code uname -m} says {@code aarch64}. */
    AARCH64("aarch64");

    private static final Arch CURRENT = find(System.getProperty("os.arch"));

    private final String machine;

    Arch(String machine) {
        this.machine = machine;
    }

    /** The architecture of this JVM. */
    public static Arch current() {
        return CURRENT;
    }

    /** The name {@code uname -m} prints. */
    public String machine() {
        return machine;
    }

    /**
     * The architecture of that {@code uname -m} or {@code os.arch} name.
     *
     * @throws IllegalArgumentException when it is none of ours
     */
    public static Arch find(String name) {
        return switch (name.toLowerCase(Locale.ROOT)) {
            case "x86_64", "amd64" -> X86_64;
            case "aarch64", "arm64" -> AARCH64;
            default -> throw new IllegalArgumentException("no system call table for " + name);
        };
    }
}
