package io.penstock.testkit;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.Presence;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierStat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// What the parts of a contract do with a tier. What is awaited must come within [#PATIENCE].
interface TierSteps {
  CacheSpace SPACE = Blocks.smallSpace();
  Duration PATIENCE = Duration.ofSeconds(10);
  List<BlockKey> ALL = Blocks.keys(SPACE, 0, 100);

  /// Says in which ways the tiers under test differ.
  TierContract contract();

  default BlockKey key(int number) {
    return ALL.get(number);
  }

  default List<BlockKey> keys(int from, int to) {
    return ALL.subList(from, to);
  }

  default List<BlockKey> someKeys(Random random, int of, int count) {
    List<BlockKey> all = new ArrayList<>(keys(0, of));
    Collections.shuffle(all, random);
    return List.copyOf(all.subList(0, count));
  }

  default Presence presence(int size, int... positions) {
    BitSet bits = new BitSet();
    IntStream.of(positions).forEach(bits::set);
    return Presence.of(size, bits);
  }

  default <T> T value(Mono<T> mono) {
    return requireNonNull(mono.block(PATIENCE));
  }

  /// Keys of the blocks that `get` answers, their bytes compared.
  default List<BlockKey> got(BlockTier tier, List<BlockKey> keys) {
    return requireNonNull(Flux.using(BlockScope::new, scope -> tier.get(keys, scope).map(block -> {
      contract().assertBytes(block);
      block.close();
      return block.key();
    }), BlockScope::close).collectList().block(PATIENCE));
  }

  default List<BlockKey> visible(BlockTier tier, int of) {
    Presence present = value(tier.contains(keys(0, of)));
    return present.bits().stream().mapToObj(this::key).toList();
  }

  default CompletableFuture<List<LeasedBlock>> reading(Lease lease, int maxBlocks, BlockScope scope) {
    return lease.windows(maxBlocks, scope).flatMapIterable(window -> window).collectList().toFuture();
  }

  default List<LeasedBlock> read(Lease lease, int maxBlocks, BlockScope scope) {
    return got(reading(lease, maxBlocks, scope));
  }

  default <T> T got(CompletableFuture<T> future) {
    try {
      return future.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new AssertionError(e);
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("must come within " + PATIENCE, e);
    }
  }

  default List<Integer> positions(List<LeasedBlock> blocks) {
    return blocks.stream().map(LeasedBlock::position).toList();
  }

  /// The first `count` events by which blocks came and went.
  default List<TierEvent> events(BlockTier tier, int count) {
    return requireNonNull(
        tier.events(0).filter(event -> !(event instanceof TierEvent.Moved)).take(count).collectList().block(PATIENCE));
  }

  /// Nothing may be lent but what is visible, if the tier counts so.
  default void assertIdle(BlockTier tier, String when) {
    if (!contract().promises(TierPromise.CLAIMED_IS_VISIBLE)) {
      return;
    }
    await("bytes claimed = bytes visible " + when, () -> {
      TierStat stat = value(tier.stat());
      return stat.claimedBytes() == stat.bytes();
    });
  }

  default void await(String what, BooleanSupplier condition) {
    Eventually.holds(what, PATIENCE, condition::getAsBoolean);
  }
}
