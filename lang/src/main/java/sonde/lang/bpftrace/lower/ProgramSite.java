package sonde.lang.bpftrace.lower;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import sonde.bpf.usdt.UsdtArgument;
import sonde.lang.probes.Probe;
import sonde.lang.type.ValueType;

/**
 * What a program is made for beyond its types.
 *
 * @param probe the one it is made for, or the first of several that share it
 * @param name what the builtin {@code probe} says
 * @param success what it returns: 1 where 0 would hide the event from others
 * @param markers arguments of a USDT probe; null for none
 * @param task the kernel's struct task_struct, looked up when asked; null when it is not known
 * @param addresses what names stand for on this machine
 */
public record ProgramSite(
        Probe probe,
        String name,
        int success,
        @Nullable List<UsdtArgument> markers,
        Supplier<@Nullable ValueType> task,
        SymbolAddresses addresses) {}
