package io.penstock.block;

/// Which block leaves first when a pool is full.
public enum EvictionPolicy {
  /// The least recently used block.
  LRU,
  /// The oldest block, however often it was used.
  FIFO
}
