package io.penstock.stack;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.Lease;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds;
import io.penstock.tier.TierHolds.HoldLimitException;
import io.penstock.tier.TierHolds.KeyFilter;
import io.penstock.tier.TierHolds.KeyOutcome;
import io.penstock.tier.TierHolds.LeaseExpiredException;
import io.penstock.tier.TierHolds.LeaseTerms;
import io.penstock.tier.TierHolds.Pin;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierHolds.ReadLease;
import io.penstock.tier.TierHolds.RemovalCount;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.publisher.Mono;

/// A stack with read leases and pins does step by step what [HoldsModel] does: hits, victims, expiries, refusals.
final class HoldsSimulationTest extends StackSteps {
  private static final int CAPACITY = 12;
  private static final int KEYS = 30;
  private static final long MILLI = 1_000_000;

  @RegisterExtension
  final LeakLedger leaks = new LeakLedger();

  @Test
  void tenThousandSteps() {
    for (long seed = 1; seed <= 5; seed++) {
      new Run(seed).go(2000);
    }
  }

  @Tag("proof")
  @Test
  void aMillionSteps() {
    for (long seed = 100; seed < 200; seed++) {
      new Run(seed).go(10_000);
    }
  }

  private static final class Run {
    private final long seed;
    private final Random random;
    private long now;
    private final TierStack stack;
    private final TierHolds holds;
    private final HoldsModel model = new HoldsModel(CAPACITY);
    private final List<Long> named = new ArrayList<>();
    private int step;

    Run(long seed) {
      this.seed = seed;
      this.random = new Random(seed);
      this.now = random.nextLong();
      this.stack = new TierStack(SPACE, List.of(new StackLevel.Host("dram", CAPACITY)),
          StackOptions.defaults("stack").withIngressBlocks(4).withExact(false), TierListener.noop(), () -> now);
      this.holds = stack.holds("model");
      named.add(1L);
    }

    void go(int steps) {
      for (step = 0; step < steps; step++) {
        try {
          act();
          check();
        } catch (AssertionError | RuntimeException e) {
          throw new AssertionError("seed " + seed + ", step " + step + ": " + e, e);
        }
      }
      holds.close();
      stack.close().block(SOON);
    }

    private static <T> T value(Mono<T> mono) {
      return requireNonNull(mono.block(SOON));
    }

    private BlockKey any() {
      return key(random.nextInt(KEYS));
    }

    private List<BlockKey> some() {
      Set<BlockKey> keys = new HashSet<>();
      for (int i = 1 + random.nextInt(4); i > 0; i--) {
        keys.add(any());
      }
      return List.copyOf(keys);
    }

    private long anyLease() {
      return named.get(random.nextInt(named.size()));
    }

    private Pin anyPin() {
      return switch (random.nextInt(3)) {
        case 0 -> Pin.none();
        case 1 -> Pin.soft(Duration.ofMillis(1 + random.nextInt(500)));
        default -> Pin.hard();
      };
    }

    private void act() {
      switch (random.nextInt(20)) {
        case 0, 1, 2, 3, 4, 5 -> put(any());
        case 6, 7 -> hit(any());
        case 8, 9 -> lease(some());
        case 10, 11 -> readUnder(anyLease(), some());
        case 12 -> assertThat(value(holds.release(anyLease0()))).isEqualTo(released);
        case 13, 14 -> pin(some(), anyPin());
        case 15 -> remove(some());
        case 16 -> filter();
        default -> pass();
      }
    }

    private boolean released;

    private long anyLease0() {
      long id = anyLease();
      released = model.release(id);
      return id;
    }

    private void pass() {
      long time = random.nextInt(200) * MILLI;
      now += time;
      model.pass(time);
    }

    private void put(BlockKey key) {
      boolean had = model.has(key);
      Pin pin = random.nextInt(4) == 0 ? anyPin() : null;
      try (BlockScope scope = new BlockScope()) {
        boolean fits = had || pin == null || fits(List.of(key), pin);
        Mono<Reservation> reserve = stack.reserve(List.of(key), PutTerms.plain().withPin(pin), scope);
        if (!fits) {
          assertThatThrownBy(() -> reserve.block(SOON)).isInstanceOf(HoldLimitException.class);
          return;
        }
        Reservation room = value(reserve);
        assertThat(room.skipped().get(0)).isEqualTo(had);
        if (!had) {
          room.drafts().forEach(Blocks::produce);
          value(room.commit(room.drafts()));
          model.put(key, pin, pin == null ? 0 : pin.life().toNanos());
        }
      }
    }

    private void hit(BlockKey key) {
      try (BlockScope scope = new BlockScope()) {
        Lease lease = value(stack.lease(List.of(key), OnMiss.SKIP, scope));
        assertThat(lease.found().get(0)).isEqualTo(model.has(key));
        if (model.has(key)) {
          model.touch(key);
        }
      }
    }

    private void lease(List<BlockKey> keys) {
      long life = 1L + random.nextInt(400);
      ReadLease lease = value(holds.lease(keys,
          LeaseTerms.defaults().withLife(Duration.ofMillis(life)).withPrefixOnly(false)));
      Set<BlockKey> leased = new HashSet<>();
      for (int i = 0; i < keys.size(); i++) {
        assertThat(lease.found().get(i)).isEqualTo(model.has(keys.get(i)));
        if (lease.leased().get(i)) {
          leased.add(keys.get(i));
        }
      }
      if (lease.id() != 0) {
        model.lease(lease.id(), leased, life * MILLI);
        named.add(lease.id());
      } else {
        assertThat(leased).isEmpty();
      }
    }

    private void readUnder(long id, List<BlockKey> keys) {
      try (BlockScope scope = new BlockScope()) {
        Mono<Lease> read = holds.read(id, keys, scope);
        if (!model.isLive(id)) {
          assertThatThrownBy(() -> read.block(SOON)).isInstanceOf(LeaseExpiredException.class);
          return;
        }
        Lease lease = value(read);
        for (int i = 0; i < keys.size(); i++) {
          assertThat(lease.found().get(i)).isEqualTo(model.has(keys.get(i)));
          if (model.has(keys.get(i))) {
            model.touch(keys.get(i));
          }
        }
        int got = value(lease.windows(2, scope).reduce(0, (sum, window) -> {
          window.forEach(leased -> {
            Blocks.assertBytes(leased.block());
            leased.block().close();
          });
          return sum + window.size();
        }));
        assertThat(got).isEqualTo(lease.found().count());
        lease.close();
        model.read(id);
      }
    }

    private boolean fits(List<BlockKey> keys, Pin pin) {
      if (pin.kind() == Pin.Kind.NONE) {
        return true;
      }
      long fresh = keys.stream().filter(key -> !model.isPinned(key)).count();
      long hard = keys.stream().filter(key -> !model.isHardPinned(key)).count();
      boolean beside = pin.kind() != Pin.Kind.HARD || hard == 0
          || model.hardPins() + hard <= CAPACITY / 4 * 3 - model.leasedBlocks();
      return beside && (fresh == 0 || model.pins() + fresh <= CAPACITY / 2);
    }

    private void pin(List<BlockKey> keys, Pin pin) {
      List<BlockKey> there = keys.stream().filter(model::has).toList();
      if (!fits(there, pin)) {
        assertThatThrownBy(() -> holds.pin(keys, pin).block(SOON)).isInstanceOf(HoldLimitException.class);
        return;
      }
      List<KeyOutcome> outcomes = value(holds.pin(keys, pin));
      for (int i = 0; i < keys.size(); i++) {
        BlockKey key = keys.get(i);
        assertThat(outcomes.get(i)).isEqualTo(!model.has(key)
            ? KeyOutcome.NOT_FOUND
            : pin.kind() == Pin.Kind.NONE && !model.isPinned(key) ? KeyOutcome.UNCHANGED : KeyOutcome.OK);
      }
      there.forEach(key -> model.pin(key, pin, pin.life().toNanos()));
    }

    private void remove(List<BlockKey> keys) {
      boolean force = random.nextInt(3) == 0;
      List<KeyOutcome> outcomes = value(holds.remove(keys, force));
      for (int i = 0; i < keys.size(); i++) {
        BlockKey key = keys.get(i);
        KeyOutcome expected =
            !model.has(key) ? KeyOutcome.NOT_FOUND : model.remove(key, force) ? KeyOutcome.OK : KeyOutcome.LEASED;
        assertThat(outcomes.get(i)).isEqualTo(expected);
      }
    }

    private void filter() {
      int digit = random.nextInt(16);
      boolean force = random.nextInt(3) == 0;
      KeyFilter which = new KeyFilter("a digit", key -> (key.hash().low() & 15) == digit);
      RemovalCount count = value(holds.remove(which, force).reduce(RemovalCount::plus));
      long expected = 0;
      for (BlockKey key : model.visible()) {
        expected += which.test().test(key) && model.remove(key, force) ? 1 : 0;
      }
      assertThat(count.removed()).isEqualTo(expected);
    }

    private void check() {
      Set<BlockKey> visible = new HashSet<>();
      List<BlockKey> all = Blocks.keys(SPACE, 0, KEYS);
      value(stack.contains(all)).bits().stream().forEach(i -> visible.add(all.get(i)));
      assertThat(visible).isEqualTo(model.visible());
      TierStat.Holds stat = stat(stack).holds();
      assertThat(stat.leasedBlocks()).isEqualTo(model.leasedBlocks()).isLessThanOrEqualTo(CAPACITY / 4 * 3);
      assertThat(stat.softPinned() + stat.hardPinned()).isEqualTo(model.pins());
      assertThat(stat.hardPinned()).isEqualTo(model.hardPins());
    }
  }
}
