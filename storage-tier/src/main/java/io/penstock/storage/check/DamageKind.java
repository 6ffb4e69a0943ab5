package io.penstock.storage.check;

/// Kind of the damage of a range of a segment.
public enum DamageKind {
  /// These bytes reveal no record: the head that was there is damaged.
  HEAD,
  /// The commit mark of a record, or the CRC in its head: each stands in for the other, and the block is there.
  MARK,
  /// A granule of a block.
  PAYLOAD,
  /// The zeros behind a block's payload; the block is there.
  PADDING,
  /// A whole record that does not belong here: it was copied from elsewhere, or the file was renamed. Its block is
  /// there.
  MISPLACED,
  /// The end: bytes that belong to no record. A crash leaves such an end, too.
  TORN,
  /// The medium does not give the bytes here, or the file is no regular file.
  UNREADABLE,
  /// A record that the segment's checkpoint names is not there.
  MISSING,
  /// The segment's checkpoint; nothing is lost, an opening does without.
  CHECKPOINT
}
