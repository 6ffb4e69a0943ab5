package io.penstock.pool;

import io.penstock.block.BlockKey;

/// GreedyDual-Size with frequencies (Cherkasova, HP Labs report 98-69; after Cao and Irani, USITS '97): a key is worth
/// its uses times its cost, on top of the lowest score at the last eviction, so that keys which are no longer used age.
///
/// The cost of a block is its bytes × the time to compute it again ÷ the time to load it again. Blocks of one ledger
/// have equal bytes and load equally fast, so the time to compute them decides. It grows with the position: attention
/// of a block at [#EQUAL_AT] takes as long as all the rest of its layers.
final class CostScore implements ScoreOrder.Score {
  /// For a model of 8 billion parameters and blocks of 512 tokens.
  private static final int EQUAL_AT = 64;

  private long clock;

  @Override
  public long of(int uses, int position, long now) {
    return clock + (long) uses * (EQUAL_AT + position);
  }

  @Override
  public void evicted(BlockKey key, int uses, long last, long lowest) {
    clock = Math.max(clock, lowest);
  }

  @Override
  public void clear() {
    clock = 0;
  }
}
