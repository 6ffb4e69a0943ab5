package io.penstock.wire.transport;

/// Content and moved bytes of one connection, read from any thread. Bytes are those of frames with their length
/// headers.
public interface ConnectionGauges {
  /// No process, see [#peerProcess].
  long NO_PROCESS = 0;

  /// The other end, as far as the socket reports it.
  String peer();

  /// This end, as far as the socket reports it; empty if it does not.
  default String local() {
    return "";
  }

  /// Transport of its frames.
  default TransportKind transport() {
    return TransportKind.TCP;
  }

  /// Number of the process at the other end, where the system states it, and states that it runs for the user of this
  /// process; else [#NO_PROCESS]. The peer has no part in this.
  default long peerProcess() {
    return NO_PROCESS;
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
