package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.pool.share.SharedMemory;

/// The room that one of several spaces has in the host memory of a node.
///
/// @param name of the space
/// @param share where it gets room for more than `leastBlocks`
public record SpaceRoom(String name, SharedMemory.Share share, long leastBlocks) {
  public SpaceRoom {
    requireNonNull(name, "name");
    requireNonNull(share, "share");
    Checks.positive("leastBlocks", leastBlocks);
  }
}
