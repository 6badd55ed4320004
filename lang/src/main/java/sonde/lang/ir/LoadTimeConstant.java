package sonde.lang.ir;

/** A number that is known only where a program is loaded: where a member lies on that kernel. */
public interface LoadTimeConstant {}
