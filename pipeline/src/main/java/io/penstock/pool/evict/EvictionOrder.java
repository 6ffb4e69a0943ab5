package io.penstock.pool.evict;

import io.penstock.block.BlockKey;
import java.util.function.IntPredicate;

/// Decides which key of a `Ledger` leaves when all levels are full. On which level a key is, it does not know.
///
/// Keys have the rows of the ledger's [KeyTable]. A position is the place of a key in the request that names it; 0 is
/// the first, and stands for an unknown one. Not thread-safe.
public interface EvictionOrder {
  /// Maximum number of held keys that one search for a victim looks at, so that a search stays short.
  int MOST_KEPT = 1 << 13;

  /// Called before `key`, which is absent, is inserted. A search for a victim may come in between.
  default void missed(BlockKey key) {}

  /// `key` is in `row` from now on.
  void inserted(int row, BlockKey key, int position);

  /// `key`, which is in `row`, was used.
  void touched(int row, BlockKey key, int position);

  /// The next victim among the rows that `mayLeave` accepts; [KeyTable#NONE] if none was found. The victim stays until
  /// [#evicted] or [#removed]. Rows that may not leave now become less likely victims.
  int victim(IntPredicate mayLeave);

  /// `row` is evicted: `key` may be remembered.
  void evicted(int row, BlockKey key);

  /// `row` is removed by a caller: its key is forgotten.
  void removed(int row);

  /// Forgets all keys.
  void clear();
}
