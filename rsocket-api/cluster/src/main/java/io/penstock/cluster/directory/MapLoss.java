package io.penstock.cluster.directory;

import java.util.BitSet;

/// A part of a [SharedMap] that is not what its members said any more.
public sealed interface MapLoss {
  /// Members left, and took these segments along: nothing is in them now but what was announced since.
  ///
  /// @param segments never changed
  record Segments(BitSet segments) implements MapLoss {}

  /// A split of the cluster has healed. The map may lack what was said, and may have what was taken back.
  record Healed() implements MapLoss {}
}
