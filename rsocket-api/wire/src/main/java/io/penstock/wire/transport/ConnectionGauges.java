package io.penstock.wire.transport;

/// Content and moved bytes of one connection, read from any thread. Bytes are those of frames with their length
/// headers.
public interface ConnectionGauges {
  /// The other end, as far as the socket reports it.
  String peer();

  /// Transport of its frames.
  default TransportKind transport() {
    return TransportKind.TCP;
  }

  /// Bytes waiting for the socket to take them.
  long queuedBytes();

  /// Frames waiting for the socket to take them.
  int queuedFrames();

  /// Highest `queuedBytes` so far.
  long peakQueuedBytes();

  /// Bytes handed to the socket that the kernel has not taken yet.
  long channelBytes();

  /// Bytes handed to the socket so far.
  long writtenBytes();

  /// Bytes received so far.
  long readBytes();
}
