package io.penstock.node.kvevents;

import io.penstock.block.BlockHash;
import io.penstock.tier.TierHolds.BlockTokens;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An event of vLLM's KV cache.
sealed interface KvEvent {
  /// Copies of these blocks arrived.
  ///
  /// @param tokens of each block, each the parent of the next; empty if they are not known
  record BlockStored(List<BlockHash> hashes, KvMedium medium, List<BlockTokens> tokens) implements KvEvent {
    public BlockStored {
      hashes = List.copyOf(hashes);
      tokens = List.copyOf(tokens);
    }

    BlockStored(List<BlockHash> hashes, KvMedium medium) {
      this(hashes, medium, List.of());
    }

    /// Hash of the block before the first; null if that is not known, or there is none.
    @Nullable BlockHash parent() {
      return tokens.isEmpty() || tokens.getFirst().parent().equals(BlockHash.ROOT) ? null : tokens.getFirst().parent();
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
