package io.penstock.node.kvevents;

import io.penstock.block.BlockHash;
import java.util.List;

/// An event of vLLM's KV cache.
sealed interface KvEvent {
  /// Copies of these blocks arrived.
  record BlockStored(List<BlockHash> hashes, KvMedium medium) implements KvEvent {
    public BlockStored {
      hashes = List.copyOf(hashes);
    }
  }

  /// A copy of each of these blocks went.
  record BlockRemoved(List<BlockHash> hashes, KvMedium medium) implements KvEvent {
    public BlockRemoved {
      hashes = List.copyOf(hashes);
    }
  }

  /// The consumer forgets all blocks of this publisher.
  record AllBlocksCleared() implements KvEvent {}
}
