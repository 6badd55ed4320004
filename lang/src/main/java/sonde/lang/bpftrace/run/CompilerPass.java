package sonde.lang.bpftrace.run;

/** The passes of the compiler, in their order. */
public enum CompilerPass {
    PARSE("the script as a tree"),
    EXPAND("imports, macros, parameters and constants put in"),
    PROBES("the probes that attach points stand for, and the programs that they share"),
    TYPES("what every part is, and which fields of which structures are meant"),
    IR("programs with any number of registers"),
    RESOURCES("maps, rings and texts that the programs share"),
    OPTIMISED("what is known put in, what is not needed left out"),
    ALLOCATED("in the registers of the machine"),
    CODE("instructions of the kernel's machine");

    private final String meaning;

    CompilerPass(String meaning) {
        this.meaning = meaning;
    }

    /** What it makes. */
    public String meaning() {
        return meaning;
    }
}
