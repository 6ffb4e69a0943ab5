package io.penstock.stack.decision;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;

/// A block of a `StackLease` that the reader has not got yet. Used in decisions only.
public sealed interface LeaseItem {
  /// The index of its key in the request.
  int position();

  /// A share of the block's memory.
  record InMemory(int position, Block block) implements LeaseItem {}

  /// A pin on a block whose bytes are in stores: the block keeps them for this reader.
  record Promised(int position, Resident resident) implements LeaseItem {}

  /// A block that is not held: the stream fails if the stack has evicted it before its window.
  record Named(int position, BlockKey key) implements LeaseItem {}

  static LeaseItem of(int position, Resident resident) {
    if (resident.isInMemory()) {
      return new InMemory(position, resident.hostBlock().share());
    }
    resident.pin();
    return new Promised(position, resident);
  }

  /// Whether the bytes are in host memory now.
  default boolean isInMemory() {
    return !(this instanceof Promised promised) || promised.resident().isInMemory();
  }

  /// Exchanges the pin for a share of the memory, if the bytes have come to host memory.
  default LeaseItem redeemed(DeferredActions after) {
    if (this instanceof Promised promised && promised.resident().isInMemory()) {
      promised.resident().unpin(after);
      return new InMemory(promised.position(), promised.resident().hostBlock().share());
    }
    return this;
  }

  /// Gives the share or the pin back.
  default void giveUp(DeferredActions after) {
    switch (this) {
      case InMemory here -> after.close(here.block());
      case Promised promised -> promised.resident().unpin(after);
      case Named _ -> {
        // Holds nothing
      }
    }
  }
}
