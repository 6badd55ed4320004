package sonde.analysis.stack;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import sonde.analysis.Operator;
import sonde.analysis.SourceBindings;
import sonde.analysis.TypeSelection;
import sonde.event.Batch;
import sonde.event.EventType;
import sonde.event.IntegerField;
import sonde.event.Source;
import sonde.event.StringField;
import sonde.event.result.Frame;
import sonde.recording.ftrace.MappedBuildId;
import sonde.symbol.CodeMapping;
import sonde.symbol.ProcessMaps;
import sonde.symbol.StackEnds;

/** Follows mappings, forks and execs of all processes through perf's records. */
public final class ProcessSymbols implements Operator, FrameSymbols {
    private static final int MMAP = 1;
    private static final int MMAP2 = 2;
    private static final int COMM = 3;
    private static final int FORK = 4;
    private static final int EXIT = 5;
    private static final int KSYMBOL = 6;

    // include/uapi/linux/perf_event.h
    private static final int PERF_RECORD_MISC_CPUMODE_MASK = 7;
    private static final int PERF_RECORD_MISC_KERNEL = 1;
    private static final int PERF_RECORD_MISC_COMM_EXEC = 1 << 13;
    private static final int KERNEL_PID = -1;
    private static final int PERF_RECORD_MISC_MMAP_DATA = 1 << 13;
    private static final int PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER = 1;
    private static final int BUILD_ID_AT = 40;
    private static final int MAX_BUILD_ID = 20;

    private final ProcessMaps maps;
    private final LocationNames namer;
    private final Map<String, byte[]> buildIds;
    private final SourceBindings<Fields> bindings = new SourceBindings<>(Fields::new);

    /**
     * @param maps is fed while rows come
     * @param namer names a location of {@code maps}
     */
    public ProcessSymbols(ProcessMaps maps, LocationNames namer) {
        this(maps, namer, Map.of());
    }

    /**
     * @param buildIds of files by path, for mappings that do not tell theirs
     */
    public ProcessSymbols(ProcessMaps maps, LocationNames namer, Map<String, byte[]> buildIds) {
        this.maps = maps;
        this.namer = namer;
        this.buildIds = Map.copyOf(buildIds);
    }

    private static final class Fields {
        private static final String[] NAMES = {
            "", "mmap", "mmap2", "comm", "fork", "exit", "ksymbol"
        };
        final TypeSelection wanted;
        private final Map<String, IntegerField> integers = new HashMap<>();
        private final Map<Integer, StringField> texts = new HashMap<>();

        Fields(Source source) {
            wanted = new TypeSelection(source);
            String perf = EventType.PERF_RECORD;
            wanted.add(MMAP, perf, "mmap", "pid", "addr", "len", "pgoff", "misc")
                    .add(MMAP2, perf, "mmap2", "pid", "addr", "len", "pgoff", "misc")
                    .add(COMM, perf, "comm", "pid", "misc")
                    .add(FORK, perf, "fork", "pid", "ppid")
                    .add(EXIT, perf, "exit", "pid", "tid")
                    .add(KSYMBOL, perf, "ksymbol", "addr", "len", "flags");
            for (EventType type : source.types()) {
                if (type.system().equals(perf)) {
                    for (int code = MMAP; code <= KSYMBOL; code++) {
                        if (NAMES[code].equals(type.name())) {
                            bind(code, type);
                        }
                    }
                }
            }
        }

        private void bind(int code, EventType type) {
            type.fields()
                    .forEach(field -> {
                        String perf = EventType.PERF_RECORD;
                        if (field.isText()) {
                            texts.put(code, StringField.of(field));
                        } else {
                            IntegerField found = wanted.integer(perf, type.name(), field.name());
                            if (found != null) {
                                integers.put(code + field.name(), found);
                            }
                        }
                    });
        }

        long integer(int code, String name, Batch batch, int row) {
            IntegerField field = integers.get(code + name);
            return field == null ? 0 : field.of(batch, row);
        }

        String text(int code, Batch batch, int row) {
            StringField field = texts.get(code);
            return field == null ? "" : field.of(batch, row);
        }
    }

    @Override
    public boolean leads() {
        return true;
    }

    @Override
    public int[] select(Source source) {
        return bindings.of(source).wanted.codes();
    }

    @Override
    public void accept(Batch batch, int from, int to) {
        Fields fields = bindings.of(batch);
        for (int row = from; row < to; row++) {
            int code = fields.wanted.code(batch, row);
            int pid = code == 0 ? 0 : (int) fields.integer(code, "pid", batch, row);
            switch (code) {
                case MMAP, MMAP2 -> mapped(fields, code, pid, batch, row);
                case COMM -> {
                    long misc = fields.integer(code, "misc", batch, row);
                    if ((misc & PERF_RECORD_MISC_COMM_EXEC) != 0) {
                        maps.execed(pid);
                    }
                }
                case FORK -> maps.forked((int) fields.integer(code, "ppid", batch, row), pid);
                case EXIT -> {
                    if (fields.integer(code, "tid", batch, row) == pid) {
                        maps.exited(pid);
                    }
                }
                case KSYMBOL -> kernelSymbol(fields, batch, row);
                default -> {}
            }
        }
    }

    private void mapped(Fields fields, int code, int pid, Batch batch, int row) {
        long misc = fields.integer(code, "misc", batch, row);
        if ((misc & PERF_RECORD_MISC_MMAP_DATA) != 0) {
            return;
        }
        byte[] buildId = {};
        long device = 0;
        long inode = 0;
        boolean whole = batch.payloadBytes(row) >= BUILD_ID_AT + 4 + MAX_BUILD_ID;
        if (code == MMAP2
                && whole
                && MappedBuildId.isIn(misc, batch.bytes(row, BUILD_ID_AT, 4 + MAX_BUILD_ID), 0)) {
            buildId = batch.bytes(row, BUILD_ID_AT + 4, batch.u8(row, BUILD_ID_AT));
        } else if (code == MMAP2) {
            long major = fields.integer(code, "maj", batch, row);
            device = major << 32 | (fields.integer(code, "min", batch, row) & 0xffff_ffffL);
            inode = fields.integer(code, "ino", batch, row);
        }
        String path = fields.text(code, batch, row);
        if (buildId.length == 0) {
            buildId = buildIds.getOrDefault(path, buildId);
        }
        CodeMapping mapping =
                new CodeMapping(
                        fields.integer(code, "addr", batch, row),
                        fields.integer(code, "len", batch, row),
                        fields.integer(code, "pgoff", batch, row),
                        path,
                        buildId,
                        device,
                        inode);
        long mode = misc & PERF_RECORD_MISC_CPUMODE_MASK;
        if (mode == PERF_RECORD_MISC_KERNEL && pid == KERNEL_PID) {
            maps.kernel().mapped(mapping);
        } else {
            maps.mapped(batch.time(row), pid, mapping);
        }
    }

    private void kernelSymbol(Fields fields, Batch batch, int row) {
        long flags = fields.integer(KSYMBOL, "flags", batch, row);
        if ((flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER) == 0) {
            maps.kernelSymbol(
                    batch.time(row),
                    fields.integer(KSYMBOL, "addr", batch, row),
                    fields.integer(KSYMBOL, "len", batch, row) & 0xffff_ffffL,
                    fields.text(KSYMBOL, batch, row));
        }
    }

    @Override
    public long location(int pid, long address) {
        return maps.location(pid, address);
    }

    @Override
    public boolean isCode(int pid, long address) {
        return maps.isCode(pid, address);
    }

    @Override
    public Frame frame(long location) {
        return namer.frame(location);
    }

    @Override
    public List<Frame> frames(long location) {
        return namer.frames(location);
    }

    @Override
    public void learn(long[] locations) {
        namer.learn(locations);
    }

    @Override
    public boolean isRoot(Frame frame) {
        return StackEnds.isRoot(frame);
    }
}
