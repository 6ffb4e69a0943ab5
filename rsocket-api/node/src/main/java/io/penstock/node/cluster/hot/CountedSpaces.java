package io.penstock.node.cluster.hot;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import io.penstock.wire.server.space.NodeSpaces;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Mono;

/// The spaces of a node, whose reads count as demand.
public final class CountedSpaces implements NodeSpaces {
  private final NodeSpaces spaces;
  private final Demand demand;
  private final Map<BlockTier, BlockTier> counted = new ConcurrentHashMap<>();

  public CountedSpaces(NodeSpaces spaces, Demand demand) {
    this.spaces = requireNonNull(spaces, "spaces");
    this.demand = requireNonNull(demand, "demand");
  }

  private BlockTier counted(BlockTier tier) {
    return counted.computeIfAbsent(tier, bare -> new CountedTier(bare, demand));
  }

  /// Number of spaces that are remembered.
  int remembered() {
    return counted.size();
  }

  @Override
  public List<BlockTier> tiers() {
    List<BlockTier> now = spaces.tiers();
    counted.keySet().removeIf(tier -> !now.contains(tier));
    return now.stream().map(this::counted).toList();
  }

  @Override
  public Mono<BlockTier> open(CacheSpace space) {
    return spaces.open(space).map(this::counted);
  }

  @Override
  public boolean areOpen() {
    return spaces.areOpen();
  }
}
