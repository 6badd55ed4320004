/** Linux system calls through the Foreign Function and Memory API; the only native access. */
@org.jspecify.annotations.NullMarked
module sonde.sys {
    requires static org.jspecify;
    requires transitive sonde.event;

    exports sonde.sys;
}
