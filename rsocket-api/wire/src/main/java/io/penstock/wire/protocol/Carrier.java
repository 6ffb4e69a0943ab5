package io.penstock.wire.protocol;

import java.util.Arrays;
import java.util.Optional;

/// Carrier of the bytes of slices between a client and a node.
public enum Carrier {
  /// Memory of the sender that the receiver maps, over a Unix domain socket: both are on one host, of one user, and see
  /// equal process numbers.
  /// Blocks in other memory still travel in frames, see [io.penstock.block.SlabArena.ChunkSource#shared].
  SHARED_MEMORY("shared-memory"),
  /// The frames of the connection.
  INLINE("inline");

  private final String label;

  Carrier(String label) {
    this.label = label;
  }

  /// Name in messages and settings.
  public String label() {
    return label;
  }

  /// The carrier of this name.
  public static Optional<Carrier> of(String label) {
    return Arrays.stream(values()).filter(carrier -> carrier.label.equals(label)).findFirst();
  }
}
