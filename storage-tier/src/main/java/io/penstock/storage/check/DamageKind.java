package io.penstock.storage.check;

/// What is wrong with a range of a segment.
public enum DamageKind {
  /// What stands before the first frame of the segment.
  SEGMENT_HEAD,
  /// A frame: what lies behind it cannot be found by it.
  FRAME,
  /// The head of a record: what it is, and of which block, cannot be known.
  HEAD,
  /// The commit mark of a record whose head is good.
  MARK,
  /// A granule of a block.
  PAYLOAD,
  /// The zeros behind a block's payload; the block is good.
  PADDING,
  /// The end: bytes that belong to no record. A crash leaves such an end, too.
  TORN,
  /// The medium does not give what lies from here to the end: nothing is known of it, and a repair leaves the whole
  /// segment alone.
  UNREADABLE,
  /// A record that the segment's checkpoint names is not there.
  MISSING,
  /// The segment's checkpoint; nothing is lost, an opening does without.
  CHECKPOINT
}
