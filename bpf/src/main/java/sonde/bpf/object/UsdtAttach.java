package sonde.bpf.object;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import sonde.binary.Input;
import sonde.binary.MalformedInputException;
import sonde.binary.btf.BtfType;
import sonde.binary.elf.ElfFile;
import sonde.bpf.BpfMap;
import sonde.bpf.Link;
import sonde.bpf.Program;
import sonde.bpf.inventory.MapEntries;
import sonde.bpf.link.Uprobes;
import sonde.bpf.link.Uprobes.UprobePoint;
import sonde.bpf.object.ObjectException.ObjectPosition;
import sonde.bpf.usdt.UsdtArgument;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UnreadableOperand;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UsdtConstant;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UsdtMemory;
import sonde.bpf.usdt.UsdtArgument.UsdtOperand.UsdtRegister;
import sonde.bpf.usdt.UsdtLocation;
import sonde.bpf.usdt.UsdtNotes;
import sonde.bpf.usdt.UsdtNotes.MarkerName;

/**
 * Attaches programs with {@code usdt.bpf.h}: its map {@code __bpf_usdt_specs} tells by the number
 * that comes as the attachment's cookie where the arguments of a place are. That is {@code struct
 * __bpf_usdt_spec}: twelve times {u64 value or displacement; u32 kind; s16 register's offset in
 * pt_regs; bool signed; s8 bits to clear}, then u64 cookie, s16 count.
 */
final class UsdtAttach {
    private static final String SPECS = "__bpf_usdt_specs";
    private static final String INDEXED = "BPF_USDT_ARG_SIB";
    private static final int MOST_ARGUMENTS = 12;
    private static final int ARGUMENT_BYTES = 16;
    private static final int SPEC_BYTES = 208;

    private static final int CONSTANT = 0;
    private static final int REGISTER = 1;
    private static final int MEMORY = 2;
    private static final int MEMORY_INDEXED = 3;

    private final LoadedObject object;
    private final ObjectPosition place;
    private final @Nullable BpfMap specs;
    private final Map<List<UsdtArgument>, Integer> known = new LinkedHashMap<>();

    /** For the probes of one object; numbers go on from program to program. */
    UsdtAttach(LoadedObject object, ObjectPosition place) {
        this.object = object;
        this.place = place;
        this.specs = object.maps().get(SPECS);
    }

    /**
     * Attaches to all places of a marker.
     *
     * @param target {@code FILE:PROVIDER:NAME}
     */
    Link attach(Program program, String target, int pid) throws IOException {
        int last = target.lastIndexOf(':');
        int before = target.lastIndexOf(':', last - 1);
        if (before <= 0 || before + 1 == last || last + 1 == target.length()) {
            throw new ObjectException(place, "'" + target + "' is not a FILE:PROVIDER:NAME");
        }
        String path = UserFile.find(target.substring(0, before), place);
        MarkerName name =
                new MarkerName(target.substring(before + 1, last), target.substring(last + 1));
        List<UprobePoint> places = new ArrayList<>();
        try (Input input = Input.open(Path.of(path))) {
            for (UsdtLocation one :
                    UsdtNotes.read(ElfFile.of(input.segment())).getOrDefault(name, List.of())) {
                int number = specs == null ? 0 : number(one.arguments());
                places.add(new UprobePoint(one.fileOffset(), one.semaphore(), number));
            }
        } catch (MalformedInputException e) {
            throw new ObjectException(place, path + ": " + e.getMessage(), e);
        }
        if (places.isEmpty()) {
            throw new ObjectException(
                    place, path + " has no marker " + name.provider() + ":" + name.name());
        }
        String label = name.provider() + ":" + name.name();
        return Uprobes.usdt(program, path, label, places, pid);
    }

    /** The number of a description, which is put into the map when it is new. */
    private int number(List<UsdtArgument> arguments) throws IOException {
        Integer there = known.get(arguments);
        BpfMap map = specs;
        if (there != null || map == null) {
            return there == null ? 0 : there;
        }
        int number = object.nextUsdtSpec();
        if (map.spec().valueBytes() != SPEC_BYTES) {
            throw new ObjectException(
                    place, SPECS + " has values of " + map.spec().valueBytes() + " bytes, not 208");
        }
        if (number >= map.spec().maxEntries()) {
            throw new ObjectException(
                    place,
                    SPECS
                            + " has room for "
                            + map.spec().maxEntries()
                            + " kinds of places; define BPF_USDT_MAX_SPEC_CNT");
        }
        ByteBuffer key = ByteBuffer.allocate(4).order(ByteOrder.nativeOrder()).putInt(number);
        MapEntries.put(map, key.array(), spec(arguments));
        known.put(arguments, number);
        return number;
    }

    private byte[] spec(List<UsdtArgument> arguments) throws ObjectException {
        if (arguments.size() > MOST_ARGUMENTS) {
            throw new ObjectException(place, arguments.size() + " arguments; 12 are possible");
        }
        ByteBuffer spec = ByteBuffer.allocate(SPEC_BYTES).order(ByteOrder.nativeOrder());
        for (UsdtArgument one : arguments) {
            int at = spec.position();
            operand(one.operand(), spec);
            spec.put(at + 14, (byte) (one.isSigned() ? 1 : 0));
            spec.put(at + 15, (byte) (64 - 8 * one.sizeBytes()));
            spec.position(at + ARGUMENT_BYTES);
        }
        spec.putShort(MOST_ARGUMENTS * ARGUMENT_BYTES + 8, (short) arguments.size());
        return spec.array();
    }

    private void operand(UsdtOperand operand, ByteBuffer spec) throws ObjectException {
        switch (operand) {
            case UsdtConstant one -> spec.putLong(one.value()).putInt(CONSTANT);
            // Of the second byte of a register the address is one further.
            case UsdtRegister one ->
                    spec.putLong(0)
                            .putInt(REGISTER)
                            .putShort((short) (one.offset() + one.shift() / 8));
            case UsdtMemory one when one.base().isEmpty() ->
                    throw new ObjectException(place, "an argument in memory without a base");
            case UsdtMemory one when one.index().isEmpty() ->
                    spec.putLong(one.displacement())
                            .putInt(MEMORY)
                            .putShort((short) one.baseOffset());
            case UsdtMemory one -> {
                if (!hasIndexed()) {
                    throw new ObjectException(
                            place,
                            "an argument needs an index ("
                                    + one.index()
                                    + "), which the object's usdt.bpf.h does not know");
                }
                int scale = Integer.numberOfTrailingZeros(one.scale());
                spec.putLong(one.displacement())
                        .putInt(MEMORY_INDEXED | one.indexOffset() << 8 | scale << 20)
                        .putShort((short) one.baseOffset());
            }
            case UnreadableOperand one ->
                    throw new ObjectException(
                            place, "an argument cannot be read: '" + one.text() + "'");
        }
    }

    /** Whether the header is one of libbpf 1.7 or later. */
    private boolean hasIndexed() {
        for (BtfType type : object.object().types()) {
            if (type instanceof BtfType.Enum kinds
                    && kinds.values().stream().anyMatch(one -> one.name().equals(INDEXED))) {
                return true;
            }
        }
        return false;
    }
}
