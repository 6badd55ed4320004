package sonde.lang.bpftrace.run;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import sonde.bpf.map.ByteMap;
import sonde.lang.bpftrace.lower.MapPlan;
import sonde.lang.output.AggregateValues;
import sonde.lang.output.MapRows;
import sonde.lang.output.MapRows.MapRow;
import sonde.lang.type.ValueType.AggregateType;
import sonde.lang.type.ValueType.IntType;
import sonde.lang.type.ValueType.SumType;
import sonde.sys.SyscallException;

/** Maps of a script as rows, each value put together from those of all CPUs; and their emptying. */
final class MapReading {
    private final MapPlan plan;
    private final ByteMap map;
    private final int cpus;

    MapReading(MapPlan plan, ByteMap map, int cpus) {
        this.plan = plan;
        this.map = map;
        this.cpus = cpus;
    }

    /** All rows, in no order. */
    MapRows rows() throws SyscallException {
        List<MapRow> rows = new ArrayList<>();
        map.forEach((key, value) -> {
            if (isPresent(value)) {
                rows.add(new MapRow(key, merged(value)));
            }
        });
        return new MapRows(plan.name(), plan.scalar(), plan.key(), plan.value(), rows);
    }

    private boolean isPresent(byte[] value) {
        if (!plan.isArray()) {
            return true;
        }
        int stride = plan.valueBytes();
        for (int cpu = 0; cpu < (plan.isPerCpu() ? cpus : 1); cpu++) {
            if (value[cpu * stride + stride - 8] != 0) {
                return true;
            }
        }
        return false;
    }

    private byte[] merged(byte[] value) {
        if (!plan.isPerCpu()) {
            return Arrays.copyOf(value, plan.value().sizeBytes());
        }
        return plan.value() instanceof AggregateType aggregate
                ? AggregateValues.merge(aggregate, value, plan.valueBytes(), cpus)
                : plain(value);
    }

    /** Integers of all CPUs are added up; of other values that of the first CPU that set one. */
    private byte[] plain(byte[] value) {
        int size = plan.value().sizeBytes();
        if (plan.value() instanceof IntType) {
            return Arrays.copyOf(
                    AggregateValues.merge(new SumType(true), value, plan.valueBytes(), cpus), size);
        }
        int stride = plan.valueBytes();
        int at = 0;
        while (at < value.length && value[at] == 0) {
            at++;
        }
        int cpu = at == value.length ? 0 : at / stride;
        return Arrays.copyOfRange(value, cpu * stride, cpu * stride + size);
    }

    /** Removes all keys, or sets their values to zero. */
    void empty(boolean keepKeys) throws SyscallException {
        List<byte[]> keys = new ArrayList<>();
        map.forEach((key, _) -> keys.add(key));
        byte[] zeros = new byte[plan.valueBytes() * (plan.isPerCpu() ? cpus : 1)];
        if (keepKeys && plan.isArray()) {
            for (int at = plan.valueBytes() - 8; at < zeros.length; at += plan.valueBytes()) {
                zeros[at] = 1;
            }
        }
        for (byte[] key : keys) {
            if (plan.isArray() || keepKeys) {
                map.put(key, zeros);
            } else {
                map.delete(key);
            }
        }
    }
}
