package io.penstock.block;

/// Order in which blocks leave a full pool. The README of this module compares them.
public enum EvictionPolicy {
  /// The least recently used block.
  LRU,
  /// The block with the fewest uses since it came; of equals, the least recently used.
  LFU,
  /// The oldest block, however often it was used.
  FIFO,
  /// S3-FIFO: a new block passes a small queue first, and stays only if it is used there more than once.
  S3_FIFO,
  /// W-TinyLFU: a new block takes the place of an older one only if a frequency sketch says that it is used more often.
  W_TINYLFU,
  /// ARC: two LRU lists, of blocks used once and more often, whose sizes follow what was evicted too early.
  ARC,
  /// The block that sits latest in its request; of equals, the least recently used.
  LENGTH_AWARE,
  /// GreedyDual: the block that is cheapest to compute again, for each of its bytes, counted by uses and aged.
  COST_AWARE,
  /// The block whose next use lies furthest ahead, by how often it was used, its position in its request, and the
  /// interval between uses that the pool has measured.
  REUSE_AWARE,
  /// The block that LRU or REUSE_AWARE chooses: the one of them that would have had more hits lately.
  ADAPTIVE,
  /// The block of an ended session; else REUSE_AWARE, among the blocks that no session with time left uses; then the
  /// block of the session with the lowest priority that was used longest ago.
  SESSIONS
}
