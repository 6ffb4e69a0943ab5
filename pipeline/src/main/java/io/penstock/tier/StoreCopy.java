package io.penstock.tier;

import io.penstock.tier.spi.StoredBlock;

/// The bytes of a block in one store, and how many reads of them are under way. The stored block is freed when the copy
/// was dropped and the last read has ended. Used in decisions only.
final class StoreCopy {
  private final StoredBlock block;
  private int reads;
  private boolean dropped;

  StoreCopy(StoredBlock block) {
    this.block = block;
  }

  StoredBlock block() {
    return block;
  }

  boolean isRead() {
    return reads > 0;
  }

  void startRead() {
    reads++;
  }

  /// Ends one read; true if the stored block is to be freed now.
  boolean endRead() {
    reads--;
    return dropped && reads == 0;
  }

  /// The stack wants the copy no more; true if the stored block is to be freed now.
  boolean drop() {
    dropped = true;
    return reads == 0;
  }
}
