package sonde.bpf.object;

/**
 * What an object expects from the kernel: a variable in {@code .kconfig} or {@code .ksyms}, or a
 * function in {@code .ksyms}.
 *
 * @param weak whether it may be missing
 * @param type BTF id of its variable's type, or of the function's prototype
 */
record ExternSymbol(String name, Kind kind, boolean weak, int type) {
    enum Kind {
        /** A setting of the kernel's build. */
        CONFIG,
        /** An address of the kernel, without a type: from kallsyms. */
        ADDRESS,
        /** A variable of the kernel with a type: from its BTF. */
        VARIABLE,
        /** A function of the kernel that programs may call. */
        FUNCTION
    }
}
