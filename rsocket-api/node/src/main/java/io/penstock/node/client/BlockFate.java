package io.penstock.node.client;

/// What became of a block that was promised.
enum BlockFate {
  /// It is there, with its own bytes.
  PRESENT,
  /// The node does not have it, on any of its levels.
  MISSING,
  /// It has other bytes, or the node says that it is damaged, or had it until it met with damage.
  CORRUPT,
  /// The node refused to give it, for another reason than damage, or did not answer, or a level that may have it is
  /// off.
  UNKNOWN
}
