package io.penstock.node.client;

/// Fate of a block that was promised.
enum BlockFate {
  /// The block is there with its own bytes.
  PRESENT,
  /// The node does not have it, on any of its levels.
  MISSING,
  /// The block has other bytes, or the node reports it as damaged, or had it until it found damage.
  CORRUPT,
  /// The node refused to give it, for another reason than damage, or did not answer, or a level that may have it is
  /// off.
  UNKNOWN
}
