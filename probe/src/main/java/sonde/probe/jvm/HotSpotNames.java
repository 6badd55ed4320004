package sonde.probe.jvm;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import sonde.probe.jvm.HotSpotVm.Place;
import sonde.probe.jvm.JavaMethod.NumberCode;
import sonde.probe.snapshot.ProcessMemory;

/**
 * Reads methods and compiled code from a running JVM (src/hotspot/share/oops/method.hpp,
 * code/nmethod.hpp), by the layout that its libjvm states. By one thread.
 */
public final class HotSpotNames implements AutoCloseable {
    private static final int MOST_LETTERS = 1024;
    private static final int MOST_METHODS = 1 << 16;
    private static final int MOST_BYTES = 8 << 20;
    private static final int STUB_BYTES = 1024;
    private static final int SHORT_BYTES = 160;
    private static final int FIRST_WITHOUT_ZERO = 20;
    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

    private final ProcessMemory memory;
    private final HotSpotVm machine;
    private final MethodFields method;
    private final CodeFields code;
    private final NumberCode numbers;
    private final Map<Long, KnownMethod> methods = new HashMap<>();
    private final Map<Long, CompiledCode> codes = new HashMap<>();

    /** A method may be replaced (class redefinition) or its memory used again. */
    private record KnownMethod(long constMethod, JavaMethod method) {}

    /** Offsets from a Method to its names. */
    private record MethodFields(
            int constMethod,
            int constants,
            int codeSize,
            int constMethodWords,
            int flags,
            int hasLines,
            int nameIndex,
            int constMethodBytes,
            int holder,
            int sourceIndex,
            int poolBytes,
            int poolLength,
            int klassName,
            int symbolLength,
            int symbolBody) {}

    /**
     * Offsets in a blob.
     *
     * @param places of the compiled method: where they begin and end
     * @param scopes from the beginning of the data, or an address
     * @param immutable field with the address of places and scopes; none before JDK 23
     * @param mutable field with the address of relocations and metadata; none before JDK 25
     */
    private record CodeFields(
            int nmethodBytes,
            int headerSize,
            int name,
            Place begin,
            int method,
            int compileId,
            int places,
            OptionalInt placesEnd,
            Place scopes,
            OptionalInt immutable,
            OptionalInt immutableBytes,
            OptionalInt mutable,
            OptionalInt relocationBytes,
            OptionalInt metadata,
            int data) {}

    private HotSpotNames(VmStructs vm, ProcessMemory memory) throws IOException {
        this.memory = memory;
        machine = HotSpotVm.read(vm, memory);
        method =
                new MethodFields(
                        vm.offset("Method::_constMethod"),
                        vm.offset("ConstMethod::_constants"),
                        vm.offset("ConstMethod::_code_size"),
                        vm.offset("ConstMethod::_constMethod_size"),
                        vm.offset("ConstMethod::_flags", "ConstMethod::_flags._flags"),
                        vm.constant("ConstMethod::_has_linenumber_table", 1),
                        vm.offset("ConstMethod::_name_index"),
                        vm.size("ConstMethod"),
                        vm.offset("ConstantPool::_pool_holder"),
                        vm.offset("ConstantPool::_source_file_name_index"),
                        vm.size("ConstantPool"),
                        vm.offset("ConstantPool::_length"),
                        vm.offset("Klass::_name"),
                        vm.offset("Symbol::_length"),
                        vm.offset("Symbol::_body"));
        code =
                new CodeFields(
                        vm.size("nmethod"),
                        vm.offset("CodeBlob::_header_size"),
                        vm.offset("CodeBlob::_name"),
                        HotSpotVm.place(vm, "CodeBlob::_code_begin", "CodeBlob::_code_offset"),
                        vm.offset("CompiledMethod::_method", "nmethod::_method"),
                        vm.offset("nmethod::_compile_id"),
                        vm.offset("nmethod::_scopes_pcs_offset"),
                        vm.find("nmethod::_dependencies_offset"),
                        HotSpotVm.place(
                                vm,
                                "CompiledMethod::_scopes_data_begin",
                                "nmethod::_scopes_data_offset"),
                        vm.find("nmethod::_immutable_data"),
                        vm.find("nmethod::_immutable_data_size"),
                        vm.find("CodeBlob::_mutable_data"),
                        vm.find("CodeBlob::_relocation_size"),
                        vm.find("nmethod::_metadata_offset"),
                        vm.offset("CodeBlob::_data_offset"));
        int major = HotSpotVm.number(memory, vm.address("Abstract_VM_Version::_vm_major_version"));
        numbers = new NumberCode(major >= FIRST_WITHOUT_ZERO ? 1 : 0);
    }

    /**
     * Opens the memory of a JVM.
     *
     * @throws IOException when it is none
     */
    public static HotSpotNames open(int pid) throws IOException {
        ProcessMemory memory = new ProcessMemory(pid);
        try {
            return new HotSpotNames(VmStructs.read(pid, memory), memory);
        } catch (IOException e) {
            memory.close();
            throw e;
        }
    }

    /** Where its code is. */
    public HotSpotVm vm() {
        return machine;
    }

    /** The method at an address; null when there is none. */
    public @Nullable JavaMethod method(long address) {
        try {
            long constMethod = HotSpotVm.word(memory, address + method.constMethod());
            KnownMethod known = methods.get(address);
            if (known == null || known.constMethod() != constMethod) {
                known = new KnownMethod(constMethod, readMethod(constMethod));
                if (methods.size() >= MOST_METHODS) {
                    methods.clear();
                }
                methods.put(address, known);
            }
            return known.method();
        } catch (IOException e) {
            return null;
        }
    }

    private JavaMethod readMethod(long address) throws IOException {
        ByteBuffer head = HotSpotVm.bytes(memory, address, method.constMethodBytes());
        long pool = head.getLong(method.constants());
        int nameIndex = head.getShort(method.nameIndex()) & 0xffff;
        int codeSize = head.getShort(method.codeSize()) & 0xffff;
        long holder = HotSpotVm.word(memory, pool + method.holder());
        String name = symbol(HotSpotVm.word(memory, holder + method.klassName()));
        int source = HotSpotVm.bytes(memory, pool + method.sourceIndex(), 2).getShort() & 0xffff;
        // The pool of a method that the JVM made is short (MethodHandle.linkToStatic).
        int length = HotSpotVm.number(memory, pool + method.poolLength());
        long fileName = source == 0 || source >= length ? 0 : constant(pool, source);
        String file = fileName == 0 ? "" : symbol(fileName);
        int used = method.constMethodBytes() + codeSize;
        long words = Math.clamp(head.getInt(method.constMethodWords()), 0, MOST_BYTES / 8);
        boolean hasLines = (head.getShort(method.flags()) & method.hasLines()) != 0;
        ByteBuffer table =
                hasLines && 8 * words > used
                        ? memory.read(address + used, (int) (8 * words - used))
                        : ByteBuffer.allocate(0);
        // As the JVM prints it: a hidden class has a number behind the last slash.
        String type = name.replace('/', '.').replace('+', '/');
        String whole = type + "." + symbol(constant(pool, nameIndex));
        return JavaMethod.of(whole, file, table, numbers);
    }

    private long constant(long pool, int index) throws IOException {
        return HotSpotVm.word(memory, pool + method.poolBytes() + 8L * index) & ~1L;
    }

    private String symbol(long address) throws IOException {
        int body = method.symbolBody();
        ByteBuffer head = memory.read(address, body + SHORT_BYTES);
        if (head.remaining() < body) {
            throw new IOException("symbol %x cannot be read".formatted(address));
        }
        int length = Math.min(head.getShort(method.symbolLength()) & 0xffff, MOST_LETTERS);
        ByteBuffer all =
                head.remaining() >= body + length
                        ? head
                        : HotSpotVm.bytes(memory, address, body + length);
        return CONTROL.matcher(new String(all.array(), body, length, UTF_8)).replaceAll("?");
    }

    /** The code that begins with a blob at an address; null when it cannot be read. */
    public @Nullable CompiledCode code(long blob) {
        try {
            ByteBuffer head = memory.read(blob, code.nmethodBytes());
            if (head.remaining() < Math.max(code.headerSize(), code.name()) + 8) {
                return null;
            }
            boolean isMethod =
                    head.remaining() == code.nmethodBytes()
                            && (head.getShort(code.headerSize()) & 0xffff) == code.nmethodBytes();
            if (isMethod) {
                CompiledCode known = codes.get(blob);
                if (known == null || !known.is(head.getInt(code.compileId()))) {
                    known = compiled(blob, head);
                    if (codes.size() >= MOST_METHODS) {
                        codes.clear();
                    }
                    codes.put(blob, known);
                }
                return known;
            }
            String text = memory.text(head.getLong(code.name()), SHORT_BYTES);
            String name = CONTROL.matcher(text).replaceAll("?");
            boolean isRead = CompiledCode.CONTINUATIONS.matcher(name).matches();
            return CompiledCode.stub(
                    name, isRead ? memory.read(blob, STUB_BYTES) : ByteBuffer.allocate(0));
        } catch (IOException | IndexOutOfBoundsException e) {
            return null;
        }
    }

    private CompiledCode compiled(long blob, ByteBuffer head) throws IOException {
        JavaMethod method = method(head.getLong(code.method()));
        if (method == null) {
            throw new IOException("blob %x has no method".formatted(blob));
        }
        long base = blob;
        long end = Long.MAX_VALUE;
        if (code.immutable().isPresent()) {
            base = head.getLong(code.immutable().getAsInt());
            end = base + head.getInt(code.immutableBytes().orElseThrow(IOException::new));
        }
        long places = base + head.getInt(code.places());
        long scopes =
                code.scopes().isOffset()
                        ? base + head.getInt(code.scopes().offset())
                        : head.getLong(code.scopes().offset());
        // The places lie before the scopes since JDK 23, behind them in older ones.
        long placesEnd = scopes;
        long scopesEnd = end;
        if (!code.scopes().isOffset()) {
            placesEnd = base + head.getInt(code.placesEnd().orElseThrow(IOException::new));
            scopesEnd = places;
        }
        long begin =
                code.begin().isOffset()
                        ? head.getInt(code.begin().offset())
                        : head.getLong(code.begin().offset()) - blob;
        long metadata = metadata(blob, head);
        return CompiledCode.of(
                head.getInt(code.compileId()),
                method,
                (int) begin,
                bytes(places, placesEnd),
                bytes(scopes, scopesEnd),
                numbers,
                index -> entry(metadata, index));
    }

    /** Where the methods are that the scopes name. */
    private long metadata(long blob, ByteBuffer head) throws IOException {
        if (code.mutable().isPresent()) {
            return head.getLong(code.mutable().getAsInt())
                    + head.getInt(code.relocationBytes().orElseThrow(IOException::new));
        }
        int field = code.metadata().orElseThrow(IOException::new);
        return code.immutable().isPresent()
                ? blob + head.getInt(code.data()) + (head.getShort(field) & 0xffff)
                : blob + head.getInt(field);
    }

    private @Nullable JavaMethod entry(long metadata, int index) {
        if (index <= 0 || index > MOST_METHODS) {
            return null;
        }
        ByteBuffer word = memory.read(metadata + 8L * (index - 1), 8);
        return word.remaining() < 8 ? null : method(word.getLong());
    }

    private ByteBuffer bytes(long from, long to) throws IOException {
        if (to == from) {
            return ByteBuffer.allocate(0); // a native method has none
        }
        if (to < from || to - from > MOST_BYTES) {
            throw new IOException("code with " + (to - from) + " bytes of places");
        }
        return HotSpotVm.bytes(memory, from, (int) (to - from));
    }

    @Override
    public void close() {
        memory.close();
    }
}
