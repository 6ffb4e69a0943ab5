package io.penstock.lab.simulate;

/// What one run was, after every invariant held.
///
/// @param seed names the run
/// @param digest of frames, decisions and results: equal for equal seeds
/// @param requests asked
/// @param delivered whole and proven
/// @param left by their readers, on purpose
/// @param failed given up with a typed error after faults
/// @param connections made
/// @param virtualNanos how long it took in its own time
/// @param steps tasks that ran
record SimulationResult(long seed, long digest, int requests, int delivered, int left, int failed,
    int connections,
    long virtualNanos, long steps) {}
