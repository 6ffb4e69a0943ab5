package io.penstock.stack.decision;

import io.penstock.tier.spi.StoredBlock;

/// The bytes of a block in one store, and the number of reads under way. The stored block is freed when the copy was
/// dropped and its last read has ended. Used in decisions only.
public final class StoreCopy {
  private final StoredBlock block;
  private int reads;
  private boolean dropped;

  public StoreCopy(StoredBlock block) {
    this.block = block;
  }

  public StoredBlock block() {
    return block;
  }

  boolean isRead() {
    return reads > 0;
  }

  public void startRead() {
    reads++;
  }

  /// Ends one read. True if the caller is to free the stored block now.
  public boolean endRead() {
    reads--;
    return dropped && reads == 0;
  }

  /// Drops the copy. True if the caller is to free the stored block now.
  public boolean drop() {
    dropped = true;
    return reads == 0;
  }
}
