package io.penstock.examples.source;

/// The outcome of a read.
///
/// @param blocks read to their last layer
/// @param slices in which they came
/// @param wrongSpans parts of slices with other bytes than were put
/// @param firstMillis until the first slice came: layer 0 of a window
/// @param lastMillis until the last slice came
public record Reading(int blocks, int slices, int wrongSpans, double firstMillis, double lastMillis) {}
