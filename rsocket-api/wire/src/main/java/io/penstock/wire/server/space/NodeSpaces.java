package io.penstock.wire.server.space;

import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import java.util.List;
import reactor.core.publisher.Mono;

/// The cache spaces that a node serves, one tier each. Safe from any thread.
public interface NodeSpaces {
  /// The tiers, of distinct spaces. A client that names no space gets the first.
  List<BlockTier> tiers();

  /// Opens a tier for `space`, which has none yet. Empty if the node opens no more.
  ///
  /// @return cold
  Mono<BlockTier> open(CacheSpace space);

  /// Whether [#open] may succeed.
  boolean areOpen();

  /// Just `tiers`.
  static NodeSpaces of(List<BlockTier> tiers) {
    List<BlockTier> fixed = List.copyOf(tiers);
    if (fixed.isEmpty() || fixed.stream().map(tier -> tier.info().space().id()).distinct().count() < fixed.size()) {
      throw new IllegalArgumentException("tiers must be at least one, of distinct spaces (was " + fixed.size() + ")");
    }
    return fixed(fixed);
  }

  /// No spaces: for a node that serves segments alone.
  static NodeSpaces none() {
    return fixed(List.of());
  }

  private static NodeSpaces fixed(List<BlockTier> fixed) {
    return new NodeSpaces() {
      @Override
      public List<BlockTier> tiers() {
        return fixed;
      }

      @Override
      public Mono<BlockTier> open(CacheSpace space) {
        return Mono.empty();
      }

      @Override
      public boolean areOpen() {
        return false;
      }
    };
  }
}
