/** Browser files and the door to them. */
@org.jspecify.annotations.NullMarked
module sonde.assets {
    requires static org.jspecify;

    exports sonde.assets;
}
