package io.penstock.stack;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.EvictionPolicy;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.MemoryStore;
import io.penstock.tier.Medium;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierListener;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/// Puts, gets, removals and questions of stacks of each policy against a set of keys, which follows the puts, the
/// removals and the events of eviction: of host memory alone, and of host memory over a disk whose copies end later.
@Timeout(600)
final class TierStackModelTest extends StackSteps {
  private static final int KEYS = 40;

  @ParameterizedTest
  @EnumSource(EvictionPolicy.class)
  void operationsAtRandom_areAnsweredAsASetDoes(EvictionPolicy policy) {
    compare(policy, 4, 400);
  }

  @Tag("proof")
  @ParameterizedTest
  @EnumSource(EvictionPolicy.class)
  void aMillionOperations_areAnsweredAsASetDoes(EvictionPolicy policy) {
    compare(policy, 100, 10_000);
  }

  private void compare(EvictionPolicy policy, int seeds, int operations) {
    for (int seed = 0; seed < seeds; seed++) {
      Model model = new Model(policy, seed);
      try {
        for (int i = 0; i < operations; i++) {
          model.step();
        }
        model.compareAll();
        assertClosesClean(model.stack);
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError("%s, seed %d: %s".formatted(policy, seed, e.getMessage()), e);
      }
    }
  }

  private final class Model {
    private final Random random;
    private final int capacity;
    private final TierStack stack;
    /// Keys that were put, and neither removed nor evicted.
    private final Set<BlockKey> visible = new HashSet<>();
    private long told;

    Model(EvictionPolicy policy, int seed) {
      random = new Random(seed);
      int host = 1 + random.nextInt(12);
      int disk = seed % 2 * (1 + random.nextInt(12));
      capacity = host + disk;
      Executor copies = task -> {
        tasks.add(task);
        if (random.nextInt(3) > 0) {
          runTasks();
        }
      };
      List<StackLevel> levels = new ArrayList<>(List.of(new StackLevel.Host("dram", host)));
      if (disk > 0) {
        levels.add(new StackLevel.Stored(new MemoryStore("ssd", Medium.DISK, SPACE, Long.MAX_VALUE, copies), disk));
      }
      stack = new TierStack(SPACE, levels, StackOptions.defaults("stack").withPolicy(policy)
          .withExact(random.nextBoolean()).withEventLogSize(64).withIngressBlocks(8), TierListener.noop());
    }

    void step() {
      List<BlockKey> wanted = random.ints(random.nextBoolean() ? KEYS : 8, 0, KEYS).limit(1 + random.nextInt(3))
          .distinct().mapToObj(StackSteps::key).toList();
      switch (random.nextInt(12)) {
        case 0 -> remove(wanted);
        case 1, 2, 3, 4 -> get(wanted);
        case 5 -> contains(wanted);
        case 6 -> match(wanted);
        default -> put(wanted);
      }
      follow();
      same("blocks", stat(stack).blocks(), (long) visible.size());
      if (visible.size() > capacity) {
        throw new AssertionError("blocks must be <= " + capacity + " (was " + visible.size() + ")");
      }
    }

    private <T> T value(Mono<T> answer) {
      CompletableFuture<T> future = answer.toFuture();
      if (!future.isDone()) {
        runTasks();
      }
      return requireNonNull(Mono.fromFuture(future).block(SOON));
    }

    private void put(List<BlockKey> wanted) {
      List<BlockKey> missing = wanted.stream().filter(key -> !visible.contains(key)).toList();
      try (BlockScope scope = new BlockScope()) {
        Reservation reservation = value(stack.reserve(wanted, scope));
        follow();
        List<BlockKey> granted = reservation.drafts().stream().map(BlockDraft::key).toList();
        same("granted", granted, wanted.stream().filter(granted::contains).toList());
        same("missing keys are granted", granted.containsAll(missing), true);
        // Another key of the request may have been evicted for one that comes earlier.
        same("granted and visible", granted.stream().filter(visible::contains).toList(), List.of());
        if (random.nextInt(8) > 0) {
          reservation.drafts().forEach(Blocks::produce);
          List<Receipt> receipts = value(reservation.commit(reservation.drafts()));
          same("receipts", receipts.stream().map(Receipt::key).toList(), granted);
        }
      }
    }

    private void get(List<BlockKey> wanted) {
      List<BlockKey> expected = wanted.stream().filter(visible::contains).toList();
      try (BlockScope scope = new BlockScope()) {
        List<BlockKey> got = value(stack.get(wanted, scope).map(block -> {
          Blocks.assertBytes(block);
          block.close();
          return block.key();
        }).collectList());
        same("got", got, expected);
      }
    }

    private void remove(List<BlockKey> wanted) {
      Presence removed = value(stack.remove(wanted));
      same("removed", there(removed, wanted), wanted.stream().filter(visible::contains).toList());
    }

    private void contains(List<BlockKey> wanted) {
      same("present", there(value(stack.contains(wanted)), wanted), wanted.stream().filter(visible::contains).toList());
    }

    private void match(List<BlockKey> wanted) {
      same("prefix", value(stack.match(wanted)), (int) wanted.stream().takeWhile(visible::contains).count());
    }

    private static List<BlockKey> there(Presence presence, List<BlockKey> keys) {
      return IntStream.range(0, keys.size()).filter(presence::get).mapToObj(keys::get).toList();
    }

    /// Applies the events since the last call.
    private void follow() {
      long last = stat(stack).lastSequence();
      if (last == told) {
        return;
      }
      for (TierEvent event : value(stack.events(told).take(last - told).collectList())) {
        switch (event) {
          case TierEvent.Stored stored -> same("stored anew", visible.add(stored.key()), true);
          case TierEvent.Evicted evicted -> same("evicted one that was there", visible.remove(evicted.key()), true);
          case TierEvent.Removed removed -> same("removed one that was there", visible.remove(removed.key()), true);
          case TierEvent.Moved moved -> {
          } // to another level
          default -> throw new AssertionError("event must not come (was " + event + ")");
        }
      }
      told = last;
    }

    void compareAll() {
      List<BlockKey> all = Blocks.keys(SPACE, 0, KEYS);
      contains(all);
      get(all);
    }

    /// Cheaper than an assertion, for millions of them.
    private static <T> void same(String what, T actual, T expected) {
      if (!expected.equals(actual)) {
        throw new AssertionError("%s must be %s (was %s)".formatted(what, expected, actual));
      }
    }
  }
}
