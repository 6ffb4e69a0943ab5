package io.penstock.examples.stream;

/// One look at the gauges.
///
/// @param seconds since the slow reader started
/// @param madeBytes made for it by the node's tier so far
/// @param readBytes read by it so far
/// @param inFlightBytes charged to its budget: asked for and not landed
/// @param networkBytes counted by the two ends of its connection: waiting for the socket, or written and not received
/// @param arenaBytes claimed from its arena: held for what may land, or landed and not read
/// @param sourceBytes claimed from the tier's arena, for all readers
/// @param nettyBytes direct memory that Netty's allocator holds
/// @param residentBytes memory of the process, 0 where the system does not tell
record Sample(double seconds, long madeBytes, long readBytes, long inFlightBytes, long networkBytes, long arenaBytes,
    long sourceBytes,
    long nettyBytes, long residentBytes) {
  /// Bytes made and not yet read, in any place.
  long heldBytes() {
    return Math.max(0, madeBytes - readBytes);
  }
}
