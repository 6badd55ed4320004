package sonde.bpf.object;

/**
 * What a program is for.
 *
 * @param btfId of the type that it is loaded for; 0 for none
 * @param owner of the id: a module's types or a program; 0 for the kernel
 */
record ProgramGoal(int btfId, int owner) {}
