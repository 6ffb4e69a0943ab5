package io.penstock.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.TransientKvException;
import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SliceOrder;
import io.penstock.block.SliceShape;
import io.penstock.pool.OffloadRule;
import io.penstock.testkit.Blocks;
import io.penstock.testkit.FaultyStore;
import io.penstock.testkit.MemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Stacks with pools down to one window, under requests that read, write and leave in the order of a seed, in one thread: every request
/// ends, no pool is overrun, every byte is right, nothing stays behind, and the decisions are the textbook's.
@Timeout(600)
final class TierStackSimulationTest {
  private static final CacheSpace SPACE = Blocks.smallSpace();

  @Test
  void requests_inAnyOrder_endAndLeaveNothing_over1000Seeds() {
    run(0, 1_000);
  }

  @Test
  @Tag("proof")
  void requests_inAnyOrder_endAndLeaveNothing_over100000Seeds() {
    run(1_000, 100_000);
  }

  private static void run(int from, int to) {
    for (int seed = from; seed < to; seed++) {
      try {
        new Simulation(seed).run();
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  /// What a store reports now and then.
  private static final class Fault extends TransientKvException {
    Fault() {
      super("a fault of the simulation");
    }
  }

  private static final class Simulation {
    private final Random random;
    private final List<Runnable> tasks = new ArrayList<>();
    private final List<Runnable> diskTasks = new ArrayList<>();
    private final List<MemoryStore> stores = new ArrayList<>();
    private @Nullable FaultyStore disk;
    private final List<Request> requests = new ArrayList<>();
    private final LinkedHashSet<BlockKey> model = new LinkedHashSet<>();
    private final List<BlockKey> keys;
    private final boolean leaves;
    /// Whether stores fail now and then, and bytes get damaged.
    private final boolean faulty;
    /// Whether the disk is not well now and then: while it is off, nothing that was begun there ends.
    private final boolean weak;
    /// Whether it leaves the textbook: uses counted, a short queue, blocks read ahead, stores that run out of room.
    private final boolean free;
    /// Steps until the stack is closed in the middle of it all; below 0 if it is not.
    private int stepsToClose;
    private boolean closed;
    private final int window;
    private final TierStack stack;
    private long hits;

    Simulation(long seed) {
      this.random = new Random(seed * 0x9E3779B97F4A7C15L); // first draws of neighbouring seeds are alike
      this.keys = Blocks.keys(SPACE, 0, 4 + random.nextInt(16));
      this.leaves = random.nextInt(3) == 0;
      this.faulty = random.nextInt(3) == 0;
      this.stepsToClose = random.nextInt(4) == 0 ? random.nextInt(200) : -1;
      this.window = 1 + random.nextInt(3);
      this.weak = random.nextInt(3) == 0;
      StackMode mode = random.nextInt(4) == 0 ? StackMode.WRITE_THROUGH : StackMode.EXCLUSIVE;
      List<Level> levels = levels(mode);
      if (levels.getLast().medium() != Medium.DISK) {
        mode = StackMode.EXCLUSIVE;
      }
      StackOptions options = StackOptions.defaults("stack").withMode(mode).withIngressBlocks(window).withTransferBlocks(window)
          .withPromotionBlocks(1).withBounceBlocks(1 + random.nextInt(2)).withBatchBlocks(1 + random.nextInt(3));
      if (weak) { // what a disk that does not answer holds is held beside what others need
        options = options.withIngressBlocks(2 * window + options.batchBlocks()).withTransferBlocks(64);
      }
      this.free = random.nextInt(3) == 0;
      if (free) {
        options = options.withTiering(new TieringOptions(OffloadRule.usedAtLeast(random.nextInt(3)), 1 + random.nextInt(2), random.nextInt(4),
            1 + random.nextInt(3), TieringOptions.UNBOUNDED));
      }
      this.stack = new TierStack(SPACE, levels, options, TierListener.noop(), () -> 0);
    }

    private List<Level> levels(StackMode mode) {
      List<Level> levels = new ArrayList<>();
      int shape = 1 + random.nextInt(7); // any of device, host, disk
      int capacity = 0;
      for (int kind = 0; kind < 3; kind++) {
        if ((shape >> kind & 1) == 1) {
          capacity = mode == StackMode.WRITE_THROUGH ? capacity + 1 + random.nextInt(4) : 1 + random.nextInt(4);
          levels.add(switch (kind) {
            case 0 -> store("hbm", Medium.DEVICE, capacity);
            case 1 -> new Level.Host("dram", capacity);
            default -> store("ssd", Medium.DISK, capacity);
          });
        }
      }
      return levels;
    }

    private Level store(String name, Medium medium, int capacity) {
      boolean onDisk = medium == Medium.DISK;
      MemoryStore store = new MemoryStore(name, medium, SPACE, onDisk ? Long.MAX_VALUE : capacity, onDisk ? diskTasks::add : tasks::add);
      stores.add(store);
      FaultyStore watched = new FaultyStore(store).puts(oneAtATime(name));
      FaultyStore last = faulty ? new FaultyStore(watched).puts(this::maybePut).reads(this::maybe) : watched;
      disk = onDisk ? last : disk;
      return new Level.Stored(last, capacity);
    }

    /// A store has a line of one: whatever commits and moves there are, they wait for each other.
    private static UnaryOperator<Mono<List<Rest>>> oneAtATime(String name) {
      AtomicInteger puts = new AtomicInteger();
      return put -> Mono.defer(() -> puts.incrementAndGet() > 1
          ? Mono.error(new AssertionError("puts of " + name + " under way must be <= 1 (was " + puts + ")"))
          : put.doOnTerminate(puts::decrementAndGet));
    }

    /// Fails now and then, in one of several ways.
    private Mono<Void> maybe(Mono<Void> answer) {
      return switch (random.nextInt(30)) {
        case 0 -> throw new Fault();
        case 1 -> Mono.error(new Fault());
        case 3 -> Mono.error(busy());
        case 2 -> answer.then(Mono.error(new Fault())); // it was done, and nobody knows
        default -> answer;
      };
    }

    private Mono<List<Rest>> maybePut(Mono<List<Rest>> answer) {
      return switch (random.nextInt(30)) {
        case 0 -> throw new Fault();
        case 1 -> Mono.error(new Fault());
        case 3, 4 -> Mono.error(busy());
        case 2 -> answer.doOnNext(rests -> rests.forEach(Rest::close)).then(Mono.error(new Fault())); // it was done, and taken back
        default -> answer;
      };
    }

    private StoreBusyException busy() {
      return new StoreBusyException("busy", Mono.create(sink -> tasks.add(sink::success)));
    }

    private void weaken() {
      if (weak && disk != null && random.nextInt(20) == 0) {
        disk.health(StoreState.values()[random.nextInt(3)]);
      }
    }

    private boolean answers() {
      return disk == null || disk.health().state().gives();
    }

    /// What can be done now.
    private List<Runnable> ready() {
      return diskTasks.isEmpty() || !answers() || (!tasks.isEmpty() && random.nextBoolean()) ? tasks : diskTasks;
    }

    private void damage() {
      if (free && !closed && !stores.isEmpty() && random.nextInt(40) == 0) {
        stores.get(random.nextInt(stores.size())).shortage(1 + random.nextInt(2));
      }
      if (faulty && !stores.isEmpty() && random.nextInt(50) == 0) {
        stores.get(random.nextInt(stores.size())).corrupt(keys.get(random.nextInt(keys.size())), random.nextInt(256));
      }
    }

    /// Whether the figures are those of the textbook.
    private boolean isExact() {
      return !leaves && !faulty && !weak && !free && !closed;
    }

    private boolean mayEnd(Throwable error) {
      return (leaves && error instanceof CancellationException) || (closed && error instanceof TierClosedException)
          || (weak && error instanceof StoreUnavailableException)
          || (faulty && (error instanceof Fault || error instanceof StoreBusyException || error instanceof BlockCorruptException));
    }

    private void close() {
      closed = true;
      stack.close().subscribe();
    }

    void run() {
      int toStart = 5 + random.nextInt(25);
      while (toStart > 0 || !ready().isEmpty() || requests.stream().anyMatch(Request::canGoOn)) {
        int choice = random.nextInt(4);
        damage();
        weaken();
        if (stepsToClose-- == 0) {
          close();
          toStart = 0;
        } else if (choice == 0 && toStart > 0) {
          toStart--;
          requests.add(new Request());
        } else if (choice == 1) {
          List<Runnable> ready = ready();
          if (!ready.isEmpty()) {
            ready.remove(random.nextInt(ready.size())).run();
          }
        } else {
          List<Request> able = requests.stream().filter(Request::canGoOn).toList();
          if (!able.isEmpty()) {
            able.get(random.nextInt(able.size())).goOn();
          }
        }
      }
      check();
    }

    private void check() {
      for (Request request : requests) {
        assertThat(request.isOver()).as("%s ended, with a disk that is %s", request, disk == null ? null : disk.health()).isTrue();
        request.scope.close();
      }
      if (disk != null) {
        disk.health(StoreState.ACTIVE);
      }
      while (!ready().isEmpty()) {
        ready().removeFirst().run();
      }
      if (closed) {
        checkClosed();
        return;
      }
      TierStat stat = Objects.requireNonNull(stack.stat().block());
      assertThat(stack.unsettledBlocks()).as("blocks that still wait or move").isZero();
      assertThat(stat.claimedBytes()).as("bytes lent").isEqualTo(stat.bytes());
      checkCold();
      if (!faulty) {
        assertThat(stat.corrupt()).isZero();
      }
      assertThat(stack.arena().highWaterSlots()).isLessThanOrEqualTo(stack.arena().capacitySlots());
      for (LevelStat level : stat.levels()) {
        if (level.medium() != Medium.DISK) {
          assertThat(level.resting()).as("%s", level).isLessThanOrEqualTo(level.capacityBlocks());
        }
      }
      if (isExact()) {
        assertThat(stat.hits()).isEqualTo(hits);
        assertThat(stat.levels().stream().mapToLong(LevelStat::hits).sum()).isEqualTo(hits);
        assertThat(stat.blocks()).isEqualTo(model.size());
        assertThat(keys.stream().filter(model::contains).toList())
            .isEqualTo(Objects.requireNonNull(stack.contains(keys).block()).bits().stream().mapToObj(keys::get).toList());
      }
      checkClosed();
    }

    /// No object is kept of a block that is on the last disk alone.
    private void checkCold() {
      MemoryStore last = stores.isEmpty() ? null : stores.getLast();
      if (last != null && last.medium() == Medium.DISK) {
        long elsewhere = stack.arena().claimedSlots() + stores.stream().mapToInt(MemoryStore::restingBlocks).sum() - last.restingBlocks();
        assertThat((long) last.restingBlocks() - last.numberedBlocks()).as("blocks on the disk that have an object").isLessThanOrEqualTo(elsewhere);
      }
    }

    private void checkClosed() {
      stack.close().block(Duration.ofSeconds(5));
      assertThat(stack.arena().claimedSlots()).as("slots after the close").isZero();
      for (MemoryStore store : stores) {
        if (store.medium() != Medium.DISK && !faulty) {
          assertThat(store.restingBlocks()).as("places of %s after the close", store.name()).isZero();
        }
      }
    }

    private boolean reference(BlockKey key) {
      boolean hit = model.remove(key);
      model.add(key);
      if (model.size() > stack.info().capacityBlocks()) {
        model.removeFirst();
      }
      return hit;
    }

    /// Reads some keys, window by window or slice by slice, and puts what is missing, a window at a time.
    private final class Request {
      final BlockScope scope = new BlockScope();
      private final List<BlockKey> asked;
      private final Reader reader;
      private final List<BlockKey> toPut = new ArrayList<>();
      private @Nullable Reservation reservation;
      private boolean reserving;

      Request() {
        List<BlockKey> some = new ArrayList<>(keys);
        Collections.shuffle(some, random);
        asked = List.copyOf(some.subList(0, 1 + random.nextInt(Math.min(6, some.size()))));
        Lease lease = Objects.requireNonNull(stack.lease(asked, OnMiss.ADMIT, scope).block());
        for (int i = 0; i < asked.size(); i++) {
          boolean hit = reference(asked.get(i));
          hits += hit ? 1 : 0;
          if (isExact()) {
            assertThat(lease.hits().get(i)).as("hit %d", i).isEqualTo(hit);
          }
        }
        lease.admitted().bits().stream().mapToObj(asked::get).forEach(toPut::add);
        reader = new Reader();
        if (random.nextBoolean()) {
          Flux<List<Leased>> windows = lease.windows(window, scope);
          windows.subscribe(reader);
        } else {
          SliceOrder order = SliceOrder.values()[random.nextInt(2)];
          SliceShape shape = new SliceShape(window, 64 + random.nextInt(400), order, 0);
          lease.opened(shape, scope).concatMap(opened -> opened.slices(0), random.nextInt(2)).subscribe(reader);
        }
      }

      boolean isOver() {
        return reader.over && toPut.isEmpty() && reservation == null && !reserving;
      }

      boolean canGoOn() {
        return reader.wants() || reservation != null || (!toPut.isEmpty() && !reserving);
      }

      void goOn() {
        if (leaves && random.nextInt(40) == 0) {
          leave();
        } else if (reservation != null && random.nextBoolean()) {
          commit(reservation);
        } else if (!toPut.isEmpty() && !reserving && reservation == null) {
          reserve();
        } else if (reader.wants()) {
          reader.request(1);
          reader.asked++;
        }
      }

      private void leave() {
        reader.cancel();
        end();
      }

      /// Gives everything back, as whoever reads does at the end of a failed stream: windows that wait unread hold memory.
      private void end() {
        reader.over = true;
        scope.close();
        toPut.clear();
        reservation = null; // it may have been granted by what the scope closed before it
        reserving = false;
      }

      private void reserve() {
        List<BlockKey> some = List.copyOf(toPut.subList(0, Math.min(window, toPut.size())));
        reserving = true;
        stack.reserve(some, scope).subscribe(granted -> {
          reserving = false;
          reservation = granted;
        }, error -> {
          reserving = false;
          toPut.clear();
          if (!scope.isClosed() && !mayEnd(error)) {
            throw new AssertionError(error);
          }
        });
      }

      private void commit(Reservation granted) {
        List<BlockDraft> drafts = granted.drafts();
        if (granted.isClosed()) { // the stack closed
          toPut.clear();
          reservation = null;
          return;
        }
        drafts.forEach(Blocks::produce);
        toPut.subList(0, Math.min(window, toPut.size())).clear();
        reservation = null;
        reserving = true;
        granted.commit(drafts).subscribe(receipts -> {
          reserving = false;
          granted.close();
        }, error -> {
          reserving = false;
          boolean left = granted.isClosed();
          granted.close();
          if (!left && !mayEnd(error)) {
            throw new AssertionError(error);
          }
        });
      }

      @Override
      public String toString() {
        return "request of %d: read %d of %s, put %d, reserving %s, writing %s".formatted(asked.size(), reader.seen, reader.over ? "all" : "?",
            toPut.size(), reserving, reservation != null);
      }

      private final class Reader extends BaseSubscriber<Object> {
        private long asked;
        private long seen;
        private boolean over;

        boolean wants() {
          return !over && asked == seen;
        }

        @Override
        protected void hookOnSubscribe(Subscription subscription) {
          // asks when it goes on
        }

        @Override
        protected void hookOnNext(Object item) {
          seen++;
          if (item instanceof LayerSlice slice) {
            for (LayerSpan span : slice.spans()) {
              Blocks.assertBytes(span);
            }
            slice.close();
          } else {
            for (Object each : (List<?>) item) {
              try (Block block = ((Leased) each).block()) {
                Blocks.assertBytes(block);
              }
            }
          }
        }

        @Override
        protected void hookOnError(Throwable error) {
          end();
          if (!mayEnd(error)) {
            throw new AssertionError(error);
          }
        }

        @Override
        protected void hookOnComplete() {
          over = true;
        }
      }
    }
  }
}
