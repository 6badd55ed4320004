/**
 * JSON as trees, for formats whose parts refer to each other: numbers of an array lie in one array
 * of doubles.
 *
 * {@snippet :
 * JsonTree profile = JsonTree.read("firefox", input);
 * int version = (int) profile.at("meta").number("version", 0);
 * }
 */
package sonde.recording.json;
