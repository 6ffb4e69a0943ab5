package io.penstock.testkit;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierHolds.PutTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// The core that every [BlockTier] passes, whatever it keeps and wherever its blocks come from: order, demand, ends,
/// ownership, misses. Extend it and open a tier.
///
/// Everything is asked through the port, so a tier may be in another process: what it does by itself is awaited, never
/// slept for. [BlockTierContract] has more for a tier that is written to.
@Timeout(60)
public abstract class TierContract implements TierSteps {

  private final List<BlockTier> opened = new ArrayList<>();

  /// Opens a tier that has the blocks of [#present()] and none of [#absent()].
  protected abstract BlockTier openFilled();

  /// Eight keys of the tier's space, in no order.
  protected List<BlockKey> present() {
    return keys(0, 8);
  }

  /// Four other keys of the tier's space.
  protected List<BlockKey> absent() {
    return keys(50, 54);
  }

  /// Compares the bytes of a block that the tier gave.
  protected void assertBytes(Block block) {
    Blocks.assertBytes(block);
  }

  /// What the tier promises beyond the core.
  protected boolean promises(TierPromise promise) {
    return true;
  }

  @Override
  public TierContract contract() {
    return this;
  }

  final BlockTier opened(BlockTier tier) {
    opened.add(tier);
    return tier;
  }

  private BlockTier filled() {
    return opened(openFilled());
  }

  private BlockKey there(int number) {
    return present().get(number);
  }

  @Test
  void get_answersTheRightBytesInTheOrderAsked() {
    List<BlockKey> asked = List.of(there(4), there(0), there(2));
    assertThat(got(filled(), asked)).isEqualTo(asked);
  }

  @Test
  void get_leavesMissesOut() {
    BlockTier tier = filled();
    assertThat(got(tier, List.of(absent().get(0), there(1), absent().get(1), there(0))))
        .containsExactly(there(1), there(0));
    assertThat(got(tier, absent())).isEmpty();
    assertThat(got(tier, List.of())).isEmpty();
  }

  @Test
  void get_isCold_andWithDemandOfOneAnswersOneBlock() {
    BlockTier tier = filled();
    try (BlockScope scope = new BlockScope()) {
      Flux<Block> blocks = tier.get(present().subList(0, 4), scope);
      assertThat(scope.open()).isZero();
      Collector<Block> reader = new Collector<>(1);
      blocks.subscribe(reader);
      await("one block", () -> reader.seen() == 1);
      assertThat(reader.seen()).isEqualTo(1);
      reader.ask(3);
      await("all blocks", reader::isOver);
      assertThat(reader.seen()).isEqualTo(4);
    }
  }

  @Test
  void matchAndContains_tellWhatIsThere() {
    BlockTier tier = filled();
    List<BlockKey> asked = List.of(there(0), there(1), absent().getFirst(), there(3), absent().getLast());
    assertThat(value(tier.match(asked))).isEqualTo(2);
    assertThat(value(tier.match(absent()))).isZero();
    assertThat(value(tier.match(List.of()))).isZero();
    assertThat(value(tier.contains(asked))).isEqualTo(presence(5, 0, 1, 3));
    assertThat(value(tier.terms(asked))).containsOnly(PutTerms.plain()).hasSize(5);
  }

  @Test
  void keys_thatAreDuplicatesOrOfAnotherSpace_areRefusedAtCallTime() {
    BlockTier tier = filled();
    BlockScope scope = new BlockScope();
    CacheSpace another = CacheSpace.of("another space", tier.info().space().layout());
    for (List<BlockKey> bad : List.of(List.of(there(1), there(2), there(1)), List.of(Blocks.key(another, 1)))) {
      assertThatThrownBy(() -> tier.match(bad)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.contains(bad)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.terms(bad)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.lease(bad, OnMiss.SKIP, scope)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.get(bad, scope)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.reserve(bad, scope)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> tier.remove(bad)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void lease_findsWhatIsThere_andWaitsForNothing() {
    BlockTier tier = filled();
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(tier.lease(List.of(absent().getFirst(), there(1)), OnMiss.SKIP, scope));
      assertThat(lease.found()).isEqualTo(presence(2, 1)).isEqualTo(lease.hits());
      assertThat(lease.admitted().count()).isZero();
      assertThat(lease.awaited().count()).isZero();
      assertThat(positions(read(lease, 4, scope))).containsExactly(1);
    }
  }

  @Test
  void windows_holdAtMostWhatWasAsked_oneARequest_inKeyOrder() {
    BlockTier tier = filled();
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(tier.lease(present().subList(0, 7), OnMiss.SKIP, scope));
      Collector<List<LeasedBlock>> reader = new Collector<>(1);
      lease.windows(3, scope).subscribe(reader);
      await("one window", () -> reader.seen() == 1);
      assertThat(reader.isOver()).isFalse();
      reader.ask(1);
      await("two windows", () -> reader.seen() == 2);
      reader.ask(7);
      await("the end", reader::isOver);
      assertThat(reader.items().stream().map(List::size)).allMatch(size -> size >= 1 && size <= 3);
      assertThat(reader.items().stream().flatMap(List::stream).map(LeasedBlock::position))
          .containsExactly(0, 1, 2, 3, 4, 5, 6);
    }
  }

  @Test
  void windows_ofNothing_completeWithoutDemand() {
    BlockTier tier = filled();
    try (BlockScope scope = new BlockScope()) {
      Collector<List<LeasedBlock>> reader = new Collector<>(0);
      value(tier.lease(absent(), OnMiss.SKIP, scope)).windows(3, scope).subscribe(reader);
      await("the end", reader::isOver);
      assertThat(reader.failure()).isNull();
    }
  }

  @Test
  void windows_areForOneSubscriber_andRefuseNonsense() {
    BlockTier tier = filled();
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(tier.lease(present(), OnMiss.SKIP, scope));
      assertThatThrownBy(() -> lease.windows(0, scope)).isInstanceOf(IllegalArgumentException.class);
      Flux<List<LeasedBlock>> windows = lease.windows(1, scope);
      windows.subscribe(new Collector<>(0));
      assertThatThrownBy(() -> windows.blockFirst(PATIENCE)).isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void windows_cancelled_endTheLease_butTheScopeKeepsWhatWasEmitted() {
    BlockTier tier = filled();
    try (BlockScope scope = new BlockScope()) {
      Lease lease = value(tier.lease(present(), OnMiss.SKIP, scope));
      List<LeasedBlock> first = requireNonNull(lease.windows(2, scope).next().block(PATIENCE));
      await("the lease ends", lease::isClosed);
      first.forEach(leased -> assertBytes(leased.block()));
    }
  }

  @Test
  void close_refusesEverythingAfter_endsEvents_andLeavesBlocksToTheirReaders() {
    BlockTier tier = filled();
    try (BlockScope scope = new BlockScope()) {
      Block kept = scope.adopt(requireNonNull(tier.get(present().subList(0, 1), scope).blockFirst(PATIENCE)).share());
      Collector<TierEvent> events = new Collector<>(Long.MAX_VALUE);
      tier.events(0).subscribe(events);

      tier.close().block(PATIENCE);
      tier.close().block(PATIENCE);

      await("the end of events", events::isOver);
      assertThat(events.failure()).isNull();
      for (Mono<?> call : List.of(tier.match(present()), tier.contains(present()), tier.terms(present()),
          tier.lease(present(), OnMiss.SKIP, scope), tier.get(present(), scope).next(),
          tier.reserve(present(), scope), tier.remove(present()), tier.events(0).next(), tier.stat())) {
        assertThatThrownBy(() -> call.block(PATIENCE)).isInstanceOf(TierClosedException.class);
      }
      assertBytes(kept);
    }
  }

  @Test
  void reading_thatIsCancelledAnywhere_leaksNothing() {
    reading_thatIsCancelledAnywhere_leaksNothing(100);
  }

  @Tag("proof")
  @Test
  void reading_thatIsCancelledAnywhere_leaksNothing_atLength() {
    reading_thatIsCancelledAnywhere_leaksNothing(300);
  }

  private void reading_thatIsCancelledAnywhere_leaksNothing(int runs) {
    BlockTier tier = filled();
    for (int seed = 0; seed < runs; seed++) {
      Random random = new Random(seed);
      List<BlockKey> keys = new ArrayList<>(present().subList(0, 1 + random.nextInt(7)));
      keys.addAll(random.nextInt(keys.size() + 1), absent().subList(0, random.nextInt(3)));
      try (BlockScope scope = new BlockScope()) {
        int most = 1 + random.nextInt(3);
        Collector<Object> reader = new Collector<>(random.nextInt(2));
        Flux<?> work = random.nextBoolean()
            ? tier.get(keys, scope)
            : tier.lease(keys, OnMiss.SKIP, scope).flatMapMany(lease -> lease.windows(most, scope));
        work.subscribe(reader);
        reader.ask(1 + random.nextInt(2));
        if (random.nextBoolean()) {
          reader.cancel();
        }
      }
      assertIdle(tier, "seed " + seed);
    }
  }

  @AfterEach
  void nothingIsLentBeyondWhatIsVisible() {
    for (BlockTier tier : opened) {
      if (isOpen(tier)) {
        assertIdle(tier, "at the end");
      }
      tier.close().block(PATIENCE);
    }
  }

  private static boolean isOpen(BlockTier tier) {
    try {
      tier.stat().block(PATIENCE);
      return true;
    } catch (TierClosedException e) {
      return false;
    }
  }
}
