package io.penstock.carrier;

import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;

/// The sending end of a carrier. Serves all streams of a connection, from any thread.
public interface SliceSender {
  /// Makes `frame` carry the bytes of `slice`, which stays the caller's: either each of its spans, in order, or
  /// references to all of them.
  void offer(LayerSlice slice, OutgoingFrame frame);

  /// The part of an outgoing frame behind the header of its slice. An offer that throws leaves the frame to the caller,
  /// who releases it.
  interface OutgoingFrame {
    /// Appends the bytes of `span`, which stays the caller's: a copy if they are few; else the frame has a share until
    /// the transport has released it.
    void carry(LayerSpan span);

    /// Appends `references` instead of bytes. The memory that they name does not change until the receiver has landed
    /// the slice, or its stream has ended.
    void refer(byte[] references);
  }
}
