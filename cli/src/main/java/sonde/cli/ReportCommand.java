package sonde.cli;
import java.util.concurrent.Callable;
@picocli.CommandLine.Command
final class ReportCommand implements Callable<Integer> { public Integer call() { return 0; } }
