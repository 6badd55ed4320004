package sonde.testkit;

import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.Deflater;

/**
 * A small trace.dat: two CPUs, events {@code test:hello} (id 42: u32 number, char name[8]) and
 * whatever pages are given. trace-cmd Documentation/trace-cmd/trace-cmd.dat.v6.5.txt and v7.5.txt.
 */
public final class TraceDatBytes {
    /** Page size of the files. */
    public static final int PAGE = 4096;

    /** Kernel number of {@code test:hello}. */
    public static final int HELLO = 42;

    private final ByteOrder order;
    private final int longBytes;
    private final List<byte[]> pages = new ArrayList<>();
    private final Map<String, List<String>> systems = new LinkedHashMap<>();
    private final List<byte[]> optionIds = new ArrayList<>();
    private final List<Section> sections = new ArrayList<>();
    private String instance = "";
    private String clock = "mono";
    private boolean old;
    private int pageBytes = PAGE;

    /** A section that an option of the same number points to. */
    private record Section(int id, byte[] content) {}

    /** A file of a kernel with that byte order and size of long. */
    public TraceDatBytes(ByteOrder order, int longBytes) {
        this.order = order;
        this.longBytes = longBytes;
        systems.computeIfAbsent("test", ignored -> new ArrayList<>()).add(helloFormat());
    }

    /** Adds the format of another event, which prints nothing. */
    public TraceDatBytes event(String system, String name, int id, String fields) {
        String format = format(name, id, fields, "\"\"");
        systems.computeIfAbsent(system, ignored -> new ArrayList<>()).add(format);
        return this;
    }

    /** Gives the next CPU its pages. */
    public TraceDatBytes cpu(byte[]... pagesOfCpu) {
        Bytes all = new Bytes(order);
        for (byte[] page : pagesOfCpu) {
            all.raw(page);
        }
        pages.add(all.toBytes());
        return this;
    }

    /** The pages go to an instance of that name, the top buffer stays empty. */
    public TraceDatBytes instance(String name) {
        instance = name;
        return this;
    }

    /** Adds an option, whose content is given, to whichever version is written. */
    public TraceDatBytes option(int id, Bytes content) {
        optionIds.add(
                new Bytes(order).u16(id).u32(content.size()).raw(content.toBytes()).toBytes());
        return this;
    }

    /** Adds a section and the option that points to it: BTF_FILE and MODULES_FILE of version 7. */
    public TraceDatBytes section(int id, byte[] content) {
        sections.add(new Section(id, content));
        return this;
    }

    /** The clock of the buffer in version 7 and in brackets in version 6. */
    public TraceDatBytes clock(String name) {
        clock = name;
        return this;
    }

    /** Size of a sub-buffer in version 7: a multiple of the page size. */
    public TraceDatBytes subBuffer(int sizeBytes) {
        pageBytes = sizeBytes;
        return this;
    }

    /** As kernels before 2.6.31: header_page is empty. */
    public TraceDatBytes withoutHeaderPage() {
        old = true;
        return this;
    }

    /** Bytes in this file's order, for the content of options. */
    public Bytes bytes() {
        return new Bytes(order);
    }

    /** The payload of a {@code test:hello}. */
    public byte[] hello(int tid, int number, String name) {
        return new Bytes(order)
                .u16(HELLO) // common_type
                .u8(0) // common_flags
                .u8(0) // common_preempt_count
                .u32(tid) // common_pid
                .u32(number)
                .chars(name, 8)
                .toBytes();
    }

    private static final String COMMON =
            "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                    + "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
                    + "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
                    + "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";

    /** A format file. */
    public static String format(String name, int id, String fields, String print) {
        return "name: "
                + name
                + "\nID: "
                + id
                + "\nformat:\n"
                + COMMON
                + fields
                + "\nprint fmt: "
                + print
                + "\n";
    }

    private static String helloFormat() {
        return format(
                "hello",
                HELLO,
                "\tfield:unsigned int number;\toffset:8;\tsize:4;\tsigned:0;\n"
                        + "\tfield:char name[8];\toffset:12;\tsize:8;\tsigned:0;\n",
                "\"number=%u name=%s\", REC->number, REC->name");
    }

    private String headerPage() {
        int data = 8 + longBytes;
        return "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                + "\tfield: local_t commit;\toffset:8;\tsize:"
                + longBytes
                + ";\tsigned:1;\n"
                + "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                + "\tfield: char data;\toffset:"
                + data
                + ";\tsize:"
                + (PAGE - data)
                + ";\tsigned:1;\n";
    }

    private Bytes start(String version) {
        return new Bytes(order)
                .u8(0x17)
                .u8(0x08)
                .u8(0x44)
                .ascii("tracing")
                .text(version)
                .u8(order == ByteOrder.LITTLE_ENDIAN ? 0 : 1)
                .u8(longBytes)
                .u32(PAGE);
    }

    private void headerInfo(Bytes out) {
        String page = old ? "" : headerPage();
        out.text("header_page").u64(page.length()).ascii(page);
        out.text("header_event").u64(5).ascii("event");
    }

    private void formats(Bytes out) {
        out.u32(systems.size());
        systems.forEach((system, formats) -> {
            out.text(system).u32(formats.size());
            for (String format : formats) {
                byte[] bytes = format.getBytes(StandardCharsets.UTF_8);
                out.u64(bytes.length).raw(bytes);
            }
        });
    }

    /** Version 6, with flyrecord data. */
    public byte[] version6() {
        Bytes out = start("6");
        headerInfo(out);
        out.u32(0); // ftrace formats
        formats(out);
        String kallsyms = "0000000000001000 T first\n0000000000002000 t second\t[mod]\n";
        out.u32(kallsyms.length()).ascii(kallsyms);
        out.u32(0); // printk
        out.u64(11).ascii("7 seven\n9 n");
        out.u32(pages.size());
        out.ascii("options  ").u8(0);
        String clocks = "[" + clock + "] local glob";
        out.u16(4).u32(clocks.length() + 1).text(clocks); // TRACECLOCK
        optionIds.forEach(out::raw);
        out.u16(0);
        out.ascii("flyrecord").u8(0);
        int directory = out.size();
        long at = (directory + 16L * pages.size() + PAGE - 1) / PAGE * PAGE;
        for (byte[] cpu : pages) {
            out.u64(at).u64(cpu.length);
            at += cpu.length;
        }
        out.align(PAGE);
        pages.forEach(out::raw);
        return out.toBytes();
    }

    /** Version 6 of a latency tracer: text instead of events. */
    public byte[] latency6() {
        Bytes out = start("6");
        headerInfo(out);
        out.u32(0);
        formats(out);
        out.u32(0).u32(0).u64(0).u32(1);
        return out.ascii("latency  ").u8(0).ascii("# tracer: irqsoff\n").toBytes();
    }

    /**
     * Version 7 of a latency tracer.
     *
     * @param zlib whether the text is in two compressed chunks
     */
    public byte[] latency7(boolean zlib) {
        String text = "# tracer: wakeup\n#\nsecond line\n";
        Bytes out = start("7").text(zlib ? "zlib" : "none").text("1");
        int pointer = out.size();
        out.u64(0);
        long header = out.size();
        Bytes info = new Bytes(order);
        headerInfo(info);
        section(out, 16, info.toBytes(), false);
        long at = out.size();
        Bytes body = new Bytes(order);
        if (zlib) {
            body.u32(2);
            block(body, text.substring(0, 10).getBytes(StandardCharsets.UTF_8));
            block(body, text.substring(10).getBytes(StandardCharsets.UTF_8));
        } else {
            body.ascii(text);
        }
        out.u16(22).u16(zlib ? 1 : 0).u32(0).u64(body.size()).raw(body.toBytes());
        Bytes options = new Bytes(order);
        option(options, 16, new Bytes(order).u64(header));
        option(options, 22, new Bytes(order).u64(at).text("").text("local"));
        option(options, 0, new Bytes(order).u64(0));
        byte[] optionsAt = new Bytes(order).u64(out.size()).toBytes();
        section(out, 0, options.toBytes(), false);
        byte[] bytes = out.toBytes();
        System.arraycopy(optionsAt, 0, bytes, pointer, 8);
        return bytes;
    }

    /**
     * Version 7.
     *
     * @param zlib whether metadata and pages are compressed with zlib
     */
    public byte[] version7(boolean zlib) {
        Bytes out = start("7").text(zlib ? "zlib" : "none").text(zlib ? "1" : "");
        int pointer = out.size();
        out.u64(0); // offset of the options
        long header = out.size();
        Bytes info = new Bytes(order);
        headerInfo(info);
        section(out, 16, info.toBytes(), zlib);
        long events = out.size();
        Bytes formats = new Bytes(order);
        formats(formats);
        section(out, 18, formats.toBytes(), zlib);
        long lines = out.size();
        section(out, 21, new Bytes(order).u64(8).ascii("7 seven\n").toBytes(), zlib);
        List<Long> extra = new ArrayList<>();
        for (Section section : sections) {
            extra.add((long) out.size());
            section(out, section.id, section.content, zlib);
        }
        long buffer = out.size();
        out.u16(3).u16(zlib ? 1 : 0).u32(0).u64(0);
        List<long[]> places = new ArrayList<>();
        for (byte[] cpu : pages) {
            out.align(PAGE);
            long at = out.size();
            if (zlib) {
                out.u32(cpu.length / pageBytes);
                for (int i = 0; i < cpu.length; i += pageBytes) {
                    byte[] page = java.util.Arrays.copyOfRange(cpu, i, i + pageBytes);
                    block(out, page);
                }
            } else {
                out.raw(cpu);
            }
            places.add(new long[] {at, out.size() - at});
        }
        Bytes options = new Bytes(order);
        option(options, 16, new Bytes(order).u64(header));
        option(options, 18, new Bytes(order).u64(events));
        option(options, 21, new Bytes(order).u64(lines));
        option(options, 4, new Bytes(order).text("local [" + clock + "]"));
        option(options, 8, new Bytes(order).u32(pages.size()));
        optionIds.forEach(options::raw);
        for (int i = 0; i < sections.size(); i++) {
            option(options, sections.get(i).id, new Bytes(order).u64(extra.get(i)));
        }
        Bytes described = new Bytes(order).u64(buffer).text(instance).text(clock);
        described.u32(pageBytes).u32(pages.size());
        for (int cpu = 0; cpu < places.size(); cpu++) {
            described.u32(cpu).u64(places.get(cpu)[0]).u64(places.get(cpu)[1]);
        }
        option(options, 3, described);
        option(options, 0, new Bytes(order).u64(0));
        long optionsAt = out.size();
        section(out, 0, options.toBytes(), false);
        byte[] bytes = out.toBytes();
        byte[] offset = new Bytes(order).u64(optionsAt).toBytes();
        System.arraycopy(offset, 0, bytes, pointer, 8);
        return bytes;
    }

    private static void option(Bytes options, int id, Bytes content) {
        options.u16(id).u32(content.size()).raw(content.toBytes());
    }

    private void section(Bytes out, int id, byte[] content, boolean zlib) {
        Bytes body = new Bytes(order);
        if (zlib) {
            block(body, content);
        } else {
            body.raw(content);
        }
        out.u16(id).u16(zlib ? 1 : 0).u32(0).u64(body.size()).raw(body.toBytes());
    }

    private static void block(Bytes out, byte[] content) {
        Deflater deflater = new Deflater();
        deflater.setInput(content);
        deflater.finish();
        byte[] target = new byte[content.length + 64];
        int length = deflater.deflate(target);
        deflater.end();
        out.u32(length).u32(content.length).raw(java.util.Arrays.copyOf(target, length));
    }
}
