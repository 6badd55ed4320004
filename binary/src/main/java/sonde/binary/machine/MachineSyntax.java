package sonde.binary.machine;

/** How an instruction is written. */
public enum MachineSyntax {
    /** {@code mov %rax,0x8(%rsp)}. */
    ATT,
    /** {@code mov QWORD PTR [rsp+0x8],rax}. */
    INTEL,
    /** {@code str x0, [sp, #8]}. */
    ARM
}
