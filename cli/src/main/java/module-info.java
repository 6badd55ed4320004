/** The command line: arguments, exit codes, standard streams. */
@org.jspecify.annotations.NullMarked
module sonde.cli {
    requires static org.jspecify;
    requires sonde.bpf;
    requires sonde.symbol;
    requires sonde.event;
    requires sonde.sys;
    requires sonde.binary;
    requires sonde.recording;
    requires sonde.probe;
    requires sonde.analysis;
    requires sonde.lang;
    requires sonde.store;
    requires sonde.open;
    requires sonde.tools;
    requires sonde.view;
    requires org.jline;
}
