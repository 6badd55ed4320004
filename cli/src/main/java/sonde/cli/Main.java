package sonde.cli;

/** The program. */
public final class Main {
    private Main() {}

    /** Runs the command line and ends the JVM with its exit code. */
    public static void main(String[] args) {
        System.out.println("sonde 0.1.0");
    }
}
