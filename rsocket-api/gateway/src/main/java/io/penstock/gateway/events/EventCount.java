package io.penstock.gateway.events;

/// What is counted of a publisher's events.
public enum EventCount {
  /// Batches that were read.
  BATCHES,
  /// Blocks that arrived and have a name.
  STORED,
  /// Blocks that went.
  REMOVED,
  /// Events by which an engine cleared all blocks.
  CLEARED,
  /// Blocks that have no name because neither tokens came with them nor their hash is known.
  WITHOUT_TOKENS,
  /// Blocks that came before the block before them: they have no name until it comes.
  UNKNOWN_PARENT,
  /// Blocks that have no name because the tokens of their event are not as many as those of its blocks.
  UNALIGNED,
  /// Events of groups of layers that are not followed.
  OTHER_GROUPS,
  /// Events of an unknown type.
  UNKNOWN_TYPES,
  /// Events on an unknown medium.
  UNKNOWN_MEDIA,
  /// Messages that could not be read.
  BAD,
  /// Gaps in the numbers of batches.
  GAPS,
  /// Batches that came by a replay.
  REPLAYED,
  /// Replays that were not answered in time.
  UNANSWERED,
  /// Times that all blocks were forgotten, because what had been missed could not be replayed.
  RESETS,
  /// Blocks that were forgotten because there were more than may be.
  DROPPED
}
