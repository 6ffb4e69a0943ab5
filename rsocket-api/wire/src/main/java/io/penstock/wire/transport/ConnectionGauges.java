package io.penstock.wire.transport;

/// What one connection holds and has moved, read from any thread. Bytes are those of frames with their length headers.
public interface ConnectionGauges {
  /// Who is at the other end, as far as the socket tells.
  String peer();

  /// How it travels.
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
