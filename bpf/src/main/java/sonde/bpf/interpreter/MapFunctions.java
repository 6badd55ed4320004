package sonde.bpf.interpreter;

import static sonde.bpf.insn.HelperFunctionId.number;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.sys.Errno;

/** Helpers about maps and rings (kernel/bpf/helpers.c, ringbuf.c; numbers of enum bpf_func_id). */
final class MapFunctions {
    private static final long THIS_CPU = 0xffffffffL;

    private MapFunctions() {}

    static void addTo(Map<Integer, HelperFunction> functions) {
        functions.put(number("bpf_map_lookup_elem"), c -> lookup(c, c.environment().cpu()));
        functions.put(number("bpf_map_update_elem"), MapFunctions::update);
        functions.put(number("bpf_map_delete_elem"), c -> c.map(1).delete(key(c, c.map(1))));
        functions.put(number("bpf_tail_call"), MapFunctions::tailCall);
        functions.put(number("bpf_perf_event_output"), MapFunctions::perfOutput);
        functions.put(
                number("bpf_map_push_elem"),
                c -> c.map(1).push(c.bytes(2, c.map(1).valueBytes()), c.argument(3)));
        functions.put(number("bpf_map_pop_elem"), c -> pop(c, true));
        functions.put(number("bpf_map_peek_elem"), c -> pop(c, false));
        functions.put(
                number("bpf_ringbuf_output"),
                c -> ring(c).output(c.bytes(2, c.size(3)), c.argument(4)));
        functions.put(number("bpf_ringbuf_reserve"), MapFunctions::reserve);
        functions.put(number("bpf_ringbuf_submit"), c -> finish(c, false));
        functions.put(number("bpf_ringbuf_discard"), c -> finish(c, true));
        functions.put(number("bpf_ringbuf_query"), c -> ring(c).query(c.argument(2)));
        functions.put(number("bpf_for_each_map_elem"), MapFunctions::forEach);
        functions.put(number("bpf_map_lookup_percpu_elem"), MapFunctions::lookupOnCpu);
    }

    private static byte[] key(HelperCall call, VirtualMap map) throws ProgramFaultException {
        return call.bytes(2, map.keyBytes());
    }

    private static long address(HelperCall call, @Nullable MemoryRegion value) {
        return value == null ? 0 : call.machine().space().address(value);
    }

    private static long lookup(HelperCall call, int cpu) throws ProgramFaultException {
        VirtualMap map = call.map(1);
        return address(call, map.lookup(key(call, map), cpu));
    }

    private static long lookupOnCpu(HelperCall call) throws ProgramFaultException {
        long cpu = call.argument(3);
        return cpu < 0 || cpu >= call.environment().cpuCount() ? 0 : lookup(call, (int) cpu);
    }

    private static long update(HelperCall call) throws ProgramFaultException {
        VirtualMap map = call.map(1);
        byte[] value = call.bytes(3, map.valueBytes());
        return map.update(key(call, map), value, call.argument(4), call.environment().cpu());
    }

    private static long pop(HelperCall call, boolean remove) throws ProgramFaultException {
        byte[] value = new byte[call.map(1).valueBytes()];
        int result = call.map(1).pop(value, remove);
        call.write(2, value);
        return result;
    }

    private static VirtualRing ring(HelperCall call) throws ProgramFaultException {
        if (call.map(1) instanceof VirtualRing ring) {
            return ring;
        }
        throw call.fault("map " + call.map(1).name() + " is not a ring");
    }

    private static long reserve(HelperCall call) throws ProgramFaultException {
        return call.argument(3) != 0 ? 0 : address(call, ring(call).reserve(call.argument(2)));
    }

    /** The record alone is given: it is looked for in the rings of the machine. */
    private static long finish(HelperCall call, boolean discard) throws ProgramFaultException {
        MemoryRegion record = call.machine().space().find(call.argument(1));
        if ((int) call.argument(1) == 0) {
            for (VirtualMap map : call.machine().maps()) {
                if (map instanceof VirtualRing ring && ring.finish(record, discard)) {
                    return 0;
                }
            }
        }
        throw call.fault("r1 is not a record that was reserved");
    }

    private static long perfOutput(HelperCall call) throws ProgramFaultException {
        long flags = call.argument(3);
        if (!(call.map(2) instanceof VirtualEvents events)) {
            throw call.fault("map " + call.map(2).name() + " takes no perf events");
        }
        long index = flags & THIS_CPU;
        int cpu = index == THIS_CPU ? call.environment().cpu() : (int) index;
        byte[] record = call.bytes(4, call.size(5));
        return flags >>> 32 != 0 ? -Errno.EINVAL : events.output(cpu, record);
    }

    private static long tailCall(HelperCall call) throws ProgramFaultException {
        if (!(call.map(2) instanceof VirtualPrograms programs)) {
            throw call.fault("map " + call.map(2).name() + " holds no programs");
        }
        VirtualProgram program = programs.program((int) call.argument(3));
        if (program == null) {
            return -Errno.ENOENT;
        }
        return call.become(program.executable()) ? 0 : -Errno.ENOENT;
    }

    /** The callback gets map, key, value and its own context; 1 ends. Result: entries seen. */
    private static long forEach(HelperCall call) throws ProgramFaultException {
        if (call.argument(4) != 0) {
            return -Errno.EINVAL;
        }
        VirtualMap map = call.map(1);
        long handle = call.argument(1);
        long function = call.argument(2);
        long context = call.argument(3);
        long seen = 0;
        for (byte[] key : map.keys()) {
            MemoryRegion value = map.lookup(key, call.environment().cpu());
            if (value == null) {
                continue;
            }
            MemoryRegion shown = MemoryRegion.readOnly("key of map " + map.name(), key);
            long at = call.machine().space().address(shown);
            seen++;
            long result = call.callBack(function, handle, at, address(call, value), context);
            shown.release();
            if (result != 0) {
                break;
            }
        }
        return seen;
    }
}
