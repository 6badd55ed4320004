package sonde.bpf.object;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.LinkCloser;
import sonde.bpf.Program;
import sonde.bpf.map.MappedValues;

/**
 * An object in the kernel. Closing detaches its programs and gives everything back, but what was
 * pinned.
 */
public final class LoadedObject implements AutoCloseable {
    private final ObjectFile object;
    private final Map<String, Program> programs;
    private final Map<String, BpfMap> maps;
    private final Map<String, BpfMap> data;
    private final Map<String, MappedValues> arenas;
    private final TracepointNumbers tracepoints;
    private final Deque<AutoCloseable> open;
    private final Map<String, GlobalMemory> globals = new LinkedHashMap<>();
    private final Map<String, Link> links = new LinkedHashMap<>();
    private int usdtSpecs;

    LoadedObject(
            ObjectFile object,
            Map<String, Program> programs,
            Map<String, BpfMap> maps,
            Map<String, BpfMap> data,
            Map<String, MappedValues> arenas,
            TracepointNumbers tracepoints,
            Deque<AutoCloseable> open) {
        this.object = object;
        this.programs = programs;
        this.maps = maps;
        this.data = data;
        this.arenas = arenas;
        this.tracepoints = tracepoints;
        this.open = new ArrayDeque<>(open);
        for (AutoCloseable one : open) {
            if (one instanceof MapMaker.Pin pin) {
                pin.keep();
            }
        }
    }

    /** A number for one more description of where a marker's arguments are. */
    int nextUsdtSpec() {
        return usdtSpecs++;
    }

    /** The numbers of the tracepoints that its sections name. */
    TracepointNumbers tracepoints() {
        return tracepoints;
    }

    /** What it was loaded from. */
    public ObjectFile object() {
        return object;
    }

    /** Its programs by name, in the order of the file. */
    public Map<String, Program> programs() {
        return Collections.unmodifiableMap(programs);
    }

    /**
     * A program by name.
     *
     * @throws IllegalArgumentException when none of that name was loaded
     */
    public Program program(String name) {
        return named(programs.get(name), "program", name);
    }

    /** The maps it defines, by name. */
    public Map<String, BpfMap> maps() {
        return Collections.unmodifiableMap(maps);
    }

    /**
     * A map by name.
     *
     * @throws IllegalArgumentException when there is none
     */
    public BpfMap map(String name) {
        return named(maps.get(name), "map", name);
    }

    /**
     * The memory of an arena, which this process shares with the programs from loading on.
     *
     * @throws IllegalArgumentException when the object defines none of that name
     */
    public MappedValues arena(String name) {
        return named(arenas.get(name), "arena", name);
    }

    /** The maps of its variables and of its settings ({@code .kconfig}), by section. */
    public Map<String, BpfMap> data() {
        return Collections.unmodifiableMap(data);
    }

    private <T> T named(@Nullable T found, String kind, String name) {
        if (found == null) {
            throw new IllegalArgumentException(
                    "%s has no %s %s".formatted(object.name(), kind, name));
        }
        return found;
    }

    /**
     * The variables of a section where the programs have them.
     *
     * @param section {@code ".bss"}
     * @throws sonde.sys.SyscallException when they cannot be mapped (before Linux 5.5)
     */
    public GlobalMemory globals(String section) throws IOException {
        GlobalMemory known = globals.get(section);
        if (known == null) {
            GlobalSection about =
                    named(object.data(section).orElse(null), "section of variables", section);
            if (section.equals(GlobalSection.IN_ARENA)) {
                known = new GlobalMemory(about, arenas.values().iterator().next());
            } else {
                BpfMap map = named(data.get(section), "section of variables", section);
                known = new GlobalMemory(about, MappedValues.of(map, !about.isConstant()));
                open.push(known);
            }
            globals.put(section, known);
        }
        return known;
    }

    /** Attaches every program whose section says where; closing this detaches. */
    public List<Link> attach() throws IOException {
        return attach(AttachTargets.NONE);
    }

    /**
     * Attaches every program whose section says where, or for whose kind a target is given.
     *
     * @throws ObjectException naming the program that could not be
     */
    public List<Link> attach(AttachTargets targets) throws IOException {
        Map<String, Link> fresh = new LinkedHashMap<>();
        AutoAttach attach = new AutoAttach(this, targets);
        try {
            for (ObjectProgram program : object.programs()) {
                Program loaded = programs.get(program.name());
                Link link = loaded == null ? null : attached(attach, program, loaded);
                if (link != null) {
                    fresh.put(program.name(), link);
                }
            }
        } catch (IOException | RuntimeException e) {
            LinkCloser.all(new ArrayDeque<>(fresh.values()));
            throw e;
        }
        fresh.values().forEach(open::push);
        links.putAll(fresh);
        return List.copyOf(fresh.values());
    }

    /** What the kernel says no to is told with the program's name; why, the cause has. */
    private @Nullable Link attached(AutoAttach attach, ObjectProgram program, Program loaded)
            throws IOException {
        try {
            return attach.attach(program, loaded);
        } catch (ObjectException e) {
            throw e;
        } catch (IOException e) {
            throw new ObjectException(
                    object.place().section(program.sectionName()).symbol(program.name()),
                    "cannot be attached: " + e.getMessage(),
                    e);
        }
    }

    /**
     * Attaches one program as its section says.
     *
     * @throws ObjectException when the section does not say where
     */
    public Link attach(String program) throws IOException {
        for (ObjectProgram one : object.programs()) {
            if (one.name().equals(program)) {
                AutoAttach attach = new AutoAttach(this, AttachTargets.NONE);
                Link link = attached(attach, one, program(program));
                if (link == null) {
                    throw new ObjectException(
                            object.place().section(one.sectionName()).symbol(program),
                            "the section does not say where to attach it");
                }
                open.push(link);
                links.put(program, link);
                return link;
            }
        }
        throw new IllegalArgumentException(object.name() + " has no program " + program);
    }

    /** Its attachments so far, by program. */
    public Map<String, Link> links() {
        return Collections.unmodifiableMap(links);
    }

    /**
     * Gives everything a name in a bpffs, by which it outlives this process: programs in the folder
     * itself, maps below {@code maps}, attachments below {@code links}. On failure no name is left.
     *
     * @param folder made when it is not there
     * @return the names made
     * @throws ObjectException for an attachment that has no object (a probe before Linux 5.15)
     */
    public List<Path> pin(Path folder) throws IOException {
        return new ObjectPins(this, folder).make();
    }

    /** Detaches and closes. */
    @Override
    public void close() {
        LinkCloser.all(open);
    }
}
