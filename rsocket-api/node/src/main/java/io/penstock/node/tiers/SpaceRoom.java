package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.pool.share.SharedMemory;
import java.util.List;

/// The room that one of several spaces has in the host memory of a node.
///
/// @param name of the space
/// @param share where it gets room for more than `leastBlocks`
/// @param totalBytes of the memory that the spaces share
/// @param parts of all spaces that have a share now, in the order in which they got it
public record SpaceRoom(String name, SharedMemory.Share share, long leastBlocks, long totalBytes, List<Part> parts) {
  public SpaceRoom {
    requireNonNull(name, "name");
    requireNonNull(share, "share");
    Checks.positive("leastBlocks", leastBlocks);
    parts = List.copyOf(parts);
  }

  /// The part of a space.
  ///
  /// @param quotaBytes most bytes of the memory that it may take
  public record Part(String name, double weight, long quotaBytes) {}
}
