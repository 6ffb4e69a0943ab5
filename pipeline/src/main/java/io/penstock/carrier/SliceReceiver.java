package io.penstock.carrier;

import java.lang.foreign.MemorySegment;

/// The receiving end of a carrier. Serves all streams of a connection, from any thread. What arrives is not trusted:
/// the caller compares the bytes with their checksums after [SliceBytes#read], in its own memory.
public interface SliceReceiver {
  /// The bytes of a slice that arrived.
  ///
  /// @param frame the part behind the header of the slice; valid until the caller has read the bytes
  /// @param blocks number of blocks in the slice
  /// @param bytesEach bytes of the slice in each of them
  /// @throws io.penstock.block.UnexpectedSliceException if `frame` breaks a rule of the carrier
  /// @throws PeerMemoryException if memory of the sender cannot be read
  SliceBytes arrived(IncomingFrame frame, int blocks, int bytesEach);

  /// The part of an arrived frame behind the header of its slice.
  interface IncomingFrame {
    int bytes();

    /// Copies the bytes from `offset` on into all of `to`.
    void read(int offset, MemorySegment to);
  }

  /// The bytes of one slice, wherever they lie.
  @FunctionalInterface
  interface SliceBytes {
    /// Copies the bytes of the `i`-th block of the slice into all of `to`.
    ///
    /// @throws PeerMemoryException if memory of the sender has gone
    void read(int i, MemorySegment to);
  }
}
