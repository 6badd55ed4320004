/** Multiplies for the milliseconds given; its time is in grind, called by work. */
public final class Grind {
    private static long grind(long x) {
        for (int i = 0; i < 1_000_000; i++) {
            x = x * 31 + (x >>> 5);
        }
        return x;
    }

    private static long work(long x) {
        return grind(x) + 1;
    }

    public static void main(String[] args) {
        long end = System.nanoTime() + Long.parseLong(args[0]) * 1_000_000;
        long x = 1;
        long rounds = 0;
        while (System.nanoTime() < end) {
            x = work(x);
            rounds++;
        }
        System.out.println("rounds " + rounds);
        System.err.println(x);
    }
}
