package io.penstock.examples.tiers;

/// What a read brought.
///
/// @param blocks read to their last layer
/// @param slices in which they came
/// @param wrongSpans parts that were not what they had to be
/// @param firstMillis until the first slice came: layer 0 of a window
/// @param lastMillis until the last slice came
record Reading(int blocks, int slices, int wrongSpans, double firstMillis, double lastMillis) {}
