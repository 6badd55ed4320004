package sonde.lang.bpftrace.lower;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** What names in a script stand for on this machine. */
public interface SymbolAddresses {
    /** Address of a symbol of the kernel; 0 for none. */
    long kernel(String symbol);

    /** A symbol of a program; null for none. */
    @Nullable UserVariable user(String path, String symbol);

    /** The address that a program states for a place in its file; -1 for none. */
    long stated(String path, long fileOffset);

    /** Id of a control group by its path; 0 for none. */
    long cgroup(String path);

    /** BTF id of a variable of the kernel; 0 for none. */
    int variable(String name);

    /** Names of the system calls by number; empty where there is none. */
    List<String> systemCalls();

    /** Bytes of a text that is read, with its NUL. */
    int maxText();
}
