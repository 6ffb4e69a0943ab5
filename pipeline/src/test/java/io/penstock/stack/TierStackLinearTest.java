package io.penstock.stack;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.Mode;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.Linearisability;
import io.penstock.testkit.Linearisability.Timed;
import io.penstock.testkit.MemoryStore;
import io.penstock.testkit.Race;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.Presence;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.ForwardingTier;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/// Puts, reads, removals, questions, evictions, promotions and demotions of a stack, called by three clients at a time,
/// are linearisable. If decisions are exact, the calls as a whole equal the textbook's LRU. Otherwise the decisions are
/// linearisable as a whole, and with the questions, which take no lock, for each key.
@Timeout(600)
final class TierStackLinearTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();
  private static final int KEYS = 5;

  private enum Shape {
    HOST(3, true, Mode.EXCLUSIVE),
    HOST_OVER_DISK(4, true, Mode.EXCLUSIVE),
    DEVICE_OVER_HOST(3, true, Mode.EXCLUSIVE),
    WRITTEN_THROUGH(4, true, Mode.WRITE_THROUGH),
    HOST_IN_SERVICE(3, false, Mode.EXCLUSIVE),
    HOST_OVER_DISK_IN_SERVICE(4, false, Mode.EXCLUSIVE);

    final int capacity;
    final boolean exact;
    final Mode mode;

    Shape(int capacity, boolean exact, Mode mode) {
      this.capacity = capacity;
      this.exact = exact;
      this.mode = mode;
    }

    List<StackLevel> levels() {
      return switch (this) {
        case HOST, HOST_IN_SERVICE -> List.of(new StackLevel.Host("dram", capacity));
        case DEVICE_OVER_HOST -> List.of(store(Medium.DEVICE, 1), new StackLevel.Host("dram", capacity - 1));
        case WRITTEN_THROUGH -> List.of(new StackLevel.Host("dram", 2), store(Medium.DISK, capacity));
        case HOST_OVER_DISK, HOST_OVER_DISK_IN_SERVICE ->
          List.of(new StackLevel.Host("dram", 2), store(Medium.DISK, capacity - 2));
      };
    }

    private static StackLevel store(Medium medium, int capacity) {
      return new StackLevel.Stored(new MemoryStore(medium.name(), medium, SPACE,
          medium == Medium.DISK ? Long.MAX_VALUE : capacity, copies), capacity);
    }

    TierStack open(EvictionPolicy policy) {
      StackOptions options = StackOptions.defaults("stack").withMode(mode).withExact(exact).withPolicy(policy)
          .withIngressBlocks(16).withTransferBlocks(16).withPromotionBlocks(4).withBounceBlocks(2).withBatchBlocks(2)
          .withEventLogSize(256);
      return new TierStack(SPACE, levels(), options, new Yielding());
    }

    void check(List<Timed<StackCall>> history) {
      if (exact) {
        new Linearisability<>(StackModel.of(capacity, true, false)).check(history);
        return;
      }
      boolean newestLeaves = this == HOST_OVER_DISK_IN_SERVICE; // two readers and copies may use all blocks
      new Linearisability<>(StackModel.of(capacity, false, newestLeaves))
          .check(history.stream().filter(timed -> timed.call().isDecision()).toList());
      for (int key = 0; key < KEYS; key++) {
        new Linearisability<>(StackModel.ofOne(key, newestLeaves)).check(history);
      }
    }
  }

  /// Lets other clients go on between a decision and its answer.
  private static final class Yielding implements TierListener {
    @Override
    public void referenced(int references, int hits) {
      Thread.yield();
    }

    @Override
    public void stored(int blocks, long bytes) {
      Thread.yield();
    }

    @Override
    public void evicted(long bytes) {
      Thread.yield();
    }
  }

  private static ExecutorService copies = Executors.newSingleThreadExecutor();

  @BeforeAll
  static void startCopies() {
    copies = Executors.newFixedThreadPool(2, Thread.ofPlatform().daemon().name("copy-", 0).factory());
  }

  @AfterAll
  static void stopCopies() {
    copies.shutdownNow();
  }

  @ParameterizedTest
  @EnumSource(Shape.class)
  void callsAtTheSameMoment_areLinearisable(Shape shape) {
    assertLinearisable(shape, 60);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(Shape.class)
  void callsAtTheSameMoment_areLinearisable_inManyRounds(Shape shape) {
    assertLinearisable(shape, 20_000);
  }

  private static void assertLinearisable(Shape shape, int seeds) {
    int contended = 0;
    try (Race race = new Race(StackRace.CLIENTS)) {
      for (int seed = 0; seed < seeds; seed++) {
        contended += round(race, shape, EvictionPolicy.LRU, stack -> stack, seed) ? 1 : 0;
      }
    }
    assertThat(contended).as("histories with calls of two clients at a time").isPositive();
  }

  /// @param dressed the tier that the clients call, over the stack
  /// @return whether calls of two clients met
  private static boolean round(Race race, Shape shape, EvictionPolicy policy, UnaryOperator<BlockTier> dressed,
      int seed) {
    TierStack stack = shape.open(policy);
    try {
      List<Timed<StackCall>> history = new StackRace(dressed.apply(stack), KEYS, shape.exact).run(race, seed);
      shape.check(history);
      assertEventsTell(stack);
      return StackRace.isContended(history);
    } catch (AssertionError e) {
      throw new AssertionError("%s, seed %d: %s".formatted(shape, seed, e.getMessage()), e);
    } finally {
      StackRace.value(stack.close().thenReturn(true));
    }
  }

  /// The events, added up, must be the visible blocks.
  private static void assertEventsTell(TierStack stack) {
    List<BlockKey> all = Blocks.keys(SPACE, 0, KEYS);
    List<BlockKey> told = new ArrayList<>();
    long last = StackRace.value(stack.stat()).lastSequence();
    for (TierEvent event : StackRace.value(stack.events(0).take(last).collectList())) {
      switch (event) {
        case TierEvent.Stored stored -> told.add(stored.key());
        case TierEvent.Evicted evicted -> told.remove(evicted.key());
        case TierEvent.Removed removed -> told.remove(removed.key());
        case TierEvent.Moved moved -> {
        } // to another level
        default -> throw new AssertionError("event must not come (was " + event + ")");
      }
    }
    List<BlockKey> visible = StackRace.value(stack.contains(all)).bits().stream().mapToObj(all::get).toList();
    assertThat(told).as("stored and neither evicted nor removed").containsExactlyInAnyOrderElementsOf(visible);
  }

  // Faults that the check must find

  @Test
  void aBlockThatIsVisibleBeforeItsCommit_isFound() {
    assertFound(Shape.HOST, EvictionPolicy.LRU, VisibleEarly::new);
    assertFound(Shape.HOST_IN_SERVICE, EvictionPolicy.LRU, VisibleEarly::new);
  }

  @Test
  void aRemovalAfterItsAnswer_isFound() {
    assertFound(Shape.HOST, EvictionPolicy.LRU, RemovesLate::new);
    assertFound(Shape.HOST_IN_SERVICE, EvictionPolicy.LRU, RemovesLate::new);
  }

  @Test
  void anotherPolicyThanTheModels_isFound() {
    assertFound(Shape.HOST, EvictionPolicy.FIFO, stack -> stack);
  }

  /// An unfinished write counts as visible.
  private static final class VisibleEarly extends ForwardingTier {
    private final Set<BlockKey> reserved = ConcurrentHashMap.newKeySet();

    VisibleEarly(BlockTier tier) {
      super(tier);
    }

    @Override
    public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
      return super.reserve(keys, scope).doOnNext(reservation -> reserved.addAll(keys));
    }

    @Override
    public Mono<Presence> contains(List<BlockKey> keys) {
      return super.contains(keys).map(present -> {
        BitSet bits = present.bits();
        for (int i = 0; i < keys.size(); i++) {
          if (reserved.remove(keys.get(i))) {
            bits.set(i);
          }
        }
        return Presence.of(keys.size(), bits);
      });
    }
  }

  /// Answers a removal when it has only looked, and removes at the next put.
  private static final class RemovesLate extends ForwardingTier {
    private final Set<BlockKey> doomed = ConcurrentHashMap.newKeySet();

    RemovesLate(BlockTier tier) {
      super(tier);
    }

    @Override
    public Mono<Presence> remove(List<BlockKey> keys) {
      doomed.addAll(keys);
      return contains(keys);
    }

    @Override
    public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
      return Mono.defer(() -> super.remove(List.copyOf(doomed))).doOnNext(removed -> doomed.clear())
          .then(super.reserve(keys, scope));
    }
  }

  private static void assertFound(Shape shape, EvictionPolicy policy, UnaryOperator<BlockTier> fault) {
    try (Race race = new Race(StackRace.CLIENTS)) {
      for (int seed = 0; seed < 1000; seed++) {
        try {
          round(race, shape, policy, fault, seed);
        } catch (AssertionError found) {
          assertThat(found).hasMessageContaining("calls must have an order that the model knows");
          return;
        }
      }
    }
    throw new AssertionError("the fault must be found in 1000 histories (" + shape + ")");
  }
}
