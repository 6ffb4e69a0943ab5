package io.penstock.lab.simulate;

/// Result of one run in which every invariant held.
///
/// @param seed names the run
/// @param digest of frames, decisions and results: equal for equal seeds
/// @param requests of the run
/// @param delivered whole and checked
/// @param left by their readers, on purpose
/// @param failed given up with a typed error after faults
/// @param connections made
/// @param virtualNanos length in its own time
/// @param steps tasks that ran
record SimulationResult(long seed, long digest, int requests, int delivered, int left, int failed,
    int connections,
    long virtualNanos, long steps) {}
