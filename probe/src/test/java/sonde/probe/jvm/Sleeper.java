package sonde.probe.jvm;

/** A JVM to attach to: compiles a method, says so, sleeps. */
final class Sleeper {
    private Sleeper() {}

    /** Runs until it is killed. */
    public static void main(String[] arguments) throws Exception {
        long sum = 0;
        for (int i = 0; i < 200_000; i++) {
            sum += hotMethod(i);
        }
        System.out.println("ready " + sum);
        Thread.sleep(60_000);
    }

    static long hotMethod(int i) {
        long x = i;
        for (int k = 0; k < 20; k++) {
            x = x * 31 + k;
        }
        return x;
    }
}
