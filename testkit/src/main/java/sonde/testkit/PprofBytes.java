package sonde.testkit;

/** A pprof profile, numbers of fields as in profile.proto. */
public final class PprofBytes {
    private PprofBytes() {}

    /** Two types of samples; one chain with an inlined function, one place without a name. */
    public static byte[] example() {
        String[] strings = {
            "",
            "samples",
            "count",
            "cpu",
            "nanoseconds",
            "main",
            "inlined",
            "leaf",
            "/bin/app",
            "tid"
        };
        ProtoBytes profile = new ProtoBytes();
        profile.message(1, new ProtoBytes().number(1, 1).number(2, 2));
        profile.message(1, new ProtoBytes().number(1, 3).number(2, 4));
        ProtoBytes label = new ProtoBytes().number(1, 9).number(3, 42);
        profile.message(2, new ProtoBytes().packed(1, 2, 1).packed(2, 3, 30).message(3, label));
        profile.message(2, new ProtoBytes().number(1, 3).number(2, 0).number(2, 10));
        profile.message(
                3, new ProtoBytes().number(1, 1).number(2, 0x1000).number(3, 0x2000).number(5, 8));
        profile.message(4, location(1, 0x1010, 1));
        profile.message(4, location(2, 0x1020, 3, 2));
        profile.message(4, location(3, 0x1030));
        for (int i = 1; i <= 3; i++) {
            profile.message(5, new ProtoBytes().number(1, i).number(2, 4 + i));
        }
        for (String string : strings) {
            profile.text(6, string);
        }
        profile.number(9, 1_000_000_000).number(10, 500).number(12, 10_000_000);
        profile.message(11, new ProtoBytes().number(1, 3).number(2, 4));
        return profile.toBytes();
    }

    private static ProtoBytes location(int id, long address, int... functions) {
        ProtoBytes location = new ProtoBytes().number(1, id).number(2, 1).number(3, address);
        for (int function : functions) {
            location.message(4, new ProtoBytes().number(1, function).number(2, 7));
        }
        return location;
    }
}
