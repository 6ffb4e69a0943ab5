package io.penstock.wire.server.route;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.carrier.NodeRing;
import io.penstock.tier.BlockTier;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierStat;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.report.Carried;
import io.penstock.wire.report.StreamClock;
import io.penstock.wire.report.StreamListener;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The blocks of a tier for a read ring. A request whose blocks are all in host memory counts as a use of each; another
/// one counts when its client asks over the connection.
public final class TierBlocks implements NodeRing.Blocks {
  /// Listener of the requests that the ring answers.
  ///
  /// @param peer reported by its text
  /// @param carried counts the bytes of all streams
  public record Heard(StreamListener streams, Object peer, Carried carried) {
    void moved(long began, List<Block> blocks) {
      long bytes = (long) blocks.size() * blocks.getFirst().layout().blockBytes();
      StreamClock.moved(streams, began, Routes.GET, peer, bytes, carried);
    }
  }

  private final BlockTier tier;
  /// The levels of the tier that are host memory; empty if it reports none.
  private final int[] inMemory;
  private final BooleanSupplier draining;
  private final Heard heard;

  /// @param stat of the tier
  /// @param draining whether the node refuses new work; a client learns that over its connection
  public TierBlocks(BlockTier tier, TierStat stat, BooleanSupplier draining, Heard heard) {
    this.tier = tier;
    this.inMemory = IntStream.range(0, stat.levels().size())
        .filter(level -> stat.levels().get(level).medium() == Medium.HOST).toArray();
    this.draining = draining;
    this.heard = heard;
  }

  /// Maximum number of blocks that a tier keeps in host memory: no others can be leased in place.
  static long inMemory(TierStat stat) {
    return stat.levels().isEmpty()
        ? stat.capacityBlocks()
        : stat.levels().stream().filter(level -> level.medium() == Medium.HOST)
            .mapToLong(TierStat.Level::capacityBlocks).max().orElse(0);
  }

  @Override
  public void find(List<BlockKey> keys, NodeRing.Found found) {
    if (draining.getAsBoolean()) {
      found.blocks(null);
      return;
    }
    long began = StreamClock.now(heard.streams());
    Mono.using(BlockScope::new, scope -> leased(keys, scope), BlockScope::close)
        .map(Optional::of).defaultIfEmpty(Optional.empty()).onErrorReturn(Optional.empty())
        .subscribe(blocks -> {
          if (found.blocks(blocks.orElse(null))) { // else the bytes go over the connection, and count there
            blocks.ifPresent(all -> heard.moved(began, all));
          }
        });
  }

  /// Handles of all blocks; empty if one of them is not in memory. Only the first window is taken: to keep it while the
  /// next one waits for memory could keep that from others without end.
  private Mono<List<Block>> leased(List<BlockKey> keys, BlockScope scope) {
    return tier.locate(keys).filter(runs -> areInMemory(runs, keys.size()))
        .flatMap(runs -> tier.lease(keys, OnMiss.SKIP, scope))
        .flatMap(lease -> lease.unverified().windows(keys.size(), scope).next())
        .filter(window -> window.size() == keys.size())
        .map(window -> window.stream().map(LeasedBlock::block).map(Block::share).toList());
  }

  private boolean areInMemory(List<BlockTier.Run> runs, int blocks) {
    return runs.stream().mapToInt(BlockTier.Run::blocks).sum() == blocks && (inMemory.length == 0 || runs.stream()
        .allMatch(run -> IntStream.of(inMemory).anyMatch(level -> level == run.level())));
  }

  /// A get that compares, as any other.
  @Override
  public void damaged(BlockKey key) {
    Flux.using(BlockScope::new, scope -> tier.lease(List.of(key), OnMiss.SKIP, scope)
        .flatMapMany(lease -> lease.windows(1, scope)), BlockScope::close).onErrorComplete().subscribe();
  }
}
