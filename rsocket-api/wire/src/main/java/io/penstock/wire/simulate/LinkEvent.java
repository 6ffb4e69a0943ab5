package io.penstock.wire.simulate;

/// A frame that was delivered: enough to distinguish two runs.
///
/// @param nanos virtual time of the delivery
/// @param connection number of the connection on its link, from 0
/// @param frame number of the frame in its direction, from 0
/// @param bytes length of the frame
/// @param crc32c checksum of the frame as delivered
public record LinkEvent(long nanos, int connection, Direction direction, int frame, int bytes, int crc32c) {}
