package io.penstock.wire.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.KvClientOptions;
import io.penstock.wire.client.segment.SegmentConnector;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.server.KvServer;
import io.penstock.wire.server.KvServerOptions;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.simulate.Direction;
import io.penstock.wire.simulate.LinkFault;
import io.penstock.wire.simulate.LinkPlan;
import io.penstock.wire.simulate.SimulatedLink;
import io.penstock.wire.simulate.SimulatedTime;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/// An engine and its peers in one thread under one seed, on links that cut, stall, corrupt and half-close, with nodes
/// that restart at the same address. Every item ends once, in the right state; no wrong byte lands; nothing leaks; and
/// memory is the caller's again with the item's result.
@Timeout(1200)
final class TransferSimulationTest {
  private static final int SLICE = 4096;
  private static final int READ_AREA = 8 * SLICE;
  private static final int WRITE_AREA = 256 << 10;
  private static final byte EMPTY = (byte) 0xEE;
  private static final byte POISON = (byte) 0xDD;
  private static final Duration SOON = Duration.ofMinutes(10);
  private static final MemorySegment WRITTEN = written();
  private static final Map<Long, MemorySegment> READ_AREAS = new HashMap<>();

  @Test
  void everyItem_endsOnce_andNoWrongByteLands() {
    Map<TransferState, Long> ends = simulate(0, 150);

    assertThat(ends).as("ends under 150 seeds").containsOnlyKeys(TransferState.COMPLETED, TransferState.FAILED,
        TransferState.TIMEOUT, TransferState.CANCELLED);
  }

  @Tag("proof")
  @Test
  void everyItem_endsOnce_andNoWrongByteLands_atLength() {
    assertThat(simulate(Integer.getInteger("seed", 1_000), Integer.getInteger("seeds", 10_000))).hasSize(4);
  }

  private static Map<TransferState, Long> simulate(int from, int seeds) {
    Map<TransferState, Long> ends = new EnumMap<>(TransferState.class);
    for (int seed = from; seed < from + seeds; seed++) {
      try (LeakLedger leaks = new LeakLedger(); Arena memory = Arena.ofShared()) {
        new World(seed, leaks, memory).run().forEach((state, count) -> ends.merge(state, count, Long::sum));
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
    return ends;
  }

  /// The read area of a generation.
  private static MemorySegment readArea(long generation) {
    return READ_AREAS.computeIfAbsent(generation, any -> {
      byte[] bytes = new byte[READ_AREA];
      for (int i = 0; i < READ_AREA; i++) {
        bytes[i] = pattern(generation, i);
      }
      return MemorySegment.ofArray(bytes).asReadOnly();
    });
  }

  /// What a byte of the read area is.
  private static byte pattern(long generation, long offset) {
    return (byte) ((offset * 31 + generation * 101) % 199);
  }

  /// One life of a node.
  private static final class Life {
    final SegmentRegistry registry;
    final long generation;
    final MemorySegment memory;
    final KvServer server;
    final List<String> heard = new ArrayList<>();

    Life(World world, SimulatedLink link, long generation) {
      this.generation = generation;
      registry = new SegmentRegistry(generation);
      memory = world.arena.allocate(READ_AREA + WRITE_AREA);
      memory.copyFrom(readArea(generation));
      memory.asSlice(READ_AREA).fill(EMPTY);
      registry.register("kv", memory);
      registry.notifications().subscribe(notification -> heard.add(notification.message()));
      KvServerOptions options = KvServerOptions.defaults().withLimits(new Limits(SLICE, 4, 16))
          .withSendWindowBytes(4 * SLICE);
      server = world.now(KvServer.bind(link.server(), NodeSpaces.none(), registry, options, world.nodes,
          world.time.scheduler(), Schedulers.immediate()));
    }
  }

  /// A node that may restart.
  private static final class Node {
    final String name;
    final SimulatedLink link;
    final List<Life> lives = new ArrayList<>();
    int written;

    Node(World world, int number) {
      name = "node-" + number;
      link = new SimulatedLink(world.time, name, UnpooledByteBufAllocator.DEFAULT, connection -> world.plan(),
          event -> {});
      begin(world);
    }

    void begin(World world) {
      lives.add(new Life(world, link, 1 + lives.size()));
    }

    void restart(World world) {
      world.now(lives.getLast().server.close());
      begin(world);
    }
  }

  /// An item, what it must have done, and its memory.
  private record Expected(TransferBatch.Item item, Node node, List<MemorySegment> copies) {}

  private static final class World {
    final SplittableRandom random;
    final SimulatedTime time;
    final Carrier carrier;
    final Arena arena;
    final ByteBudget nodes;
    final ByteBudget own;
    final Map<TransferState, Long> ends = new EnumMap<>(TransferState.class);
    final List<MemorySegment> poisoned = new ArrayList<>();

    World(long seed, LeakLedger leaks, Arena arena) {
      this.random = new SplittableRandom(seed);
      this.time = new SimulatedTime(seed);
      this.carrier = seed % 2 == 0 ? Carrier.SHARED_MEMORY : Carrier.INLINE;
      this.arena = arena;
      this.nodes = leaks.watch(new ByteBudget("nodes", SLICE * random.nextLong(4, 40), 64));
      this.own = leaks.watch(new ByteBudget("engine", SLICE * random.nextLong(2, 20), 64));
    }

    LinkPlan plan() {
      LinkPlan quiet = LinkPlan.quiet().withWindowBytes(random.nextInt(SLICE, 8 * SLICE));
      return switch (random.nextInt(5)) {
        case 0, 1 -> quiet;
        case 2 -> quiet.withFaults(new LinkFault.Stall(random.nextBoolean() ? Direction.UP : Direction.DOWN,
            random.nextInt(2, 20), Duration.ofMillis(random.nextInt(1, 20_000))));
        default -> quiet.withFaults(random(40));
      };
    }

    private LinkFault random(int frames) {
      Direction direction = random.nextBoolean() ? Direction.UP : Direction.DOWN;
      int atFrame = random.nextInt(frames);
      return switch (random.nextInt(3)) {
        case 0 -> new LinkFault.Cut(direction, atFrame);
        case 1 -> new LinkFault.CorruptByte(direction, atFrame, random.nextInt(Integer.MAX_VALUE));
        default -> new LinkFault.HalfClose(direction, atFrame);
      };
    }

    Map<TransferState, Long> run() {
      try (var _ = time.captureDefaults()) {
        List<Node> all = new ArrayList<>();
        for (int i = random.nextInt(1, 4); i > 0; i--) {
          all.add(new Node(this, i));
        }
        KvClientOptions client = KvClientOptions.builder().maxSliceBytes(SLICE).sendWindowBytes(2 * SLICE)
            .creditSlices(4).carriers(carrier, Carrier.INLINE).keepAlive(Duration.ofSeconds(1), Duration.ofSeconds(3))
            .build();
        TransferOptions options = TransferOptions.defaults().withDeadline(Duration.ofSeconds(5), 1)
            .withLane(random.nextInt(1, 8), SLICE * random.nextLong(1, 20))
            .withConnections(Duration.ofSeconds(2), Duration.ofSeconds(20));
        TransferEngine engine = new TransferEngine(options,
            new SegmentConnector(
                name -> all.stream().filter(node -> node.name.equals(name)).findFirst().orElseThrow().link.client(),
                client, own),
            time.scheduler(), random.split());
        List<Running> running = new ArrayList<>();
        for (int i = random.nextInt(1, 5); i > 0; i--) {
          running.add(new Running(this, engine, all, "batch " + i));
          if (random.nextInt(3) == 0) {
            time.advance(Duration.ofNanos(random.nextLong(30_000_000)));
          }
        }
        for (Running one : running) {
          if (random.nextInt(4) == 0) {
            later(30_000_000, () -> one.transfer.cancel());
          }
        }
        if (random.nextInt(3) == 0) {
          time.advance(Duration.ofNanos(random.nextLong(20_000_000)));
          all.get(random.nextInt(all.size())).restart(this);
        }
        assertThat(time.runUntil(() -> running.stream().allMatch(Running::isDone), SOON)).as("all batches end")
            .isTrue();
        running.forEach(Running::requireRight);
        now(engine.close());
        for (Node node : all) {
          now(node.lives.getLast().server.close());
          node.lives.forEach(life -> now(life.registry.unregister(life.registry.snapshot().segments())));
        }
        time.advance(Duration.ofSeconds(60));
        running.forEach(one -> one.requireNotified(all));
        poisoned.forEach(piece -> assertThat(isFilled(piece, POISON)).as("memory stays the caller's").isTrue());
        all.forEach(this::requireHonest);
        return ends;
      }
    }

    private void later(long mostNanos, Runnable task) {
      time.scheduler().schedule(task, random.nextLong(mostNanos), TimeUnit.NANOSECONDS);
    }

    /// Written bytes are those of a write, or nothing was written.
    private void requireHonest(Node node) {
      for (Life life : node.lives) {
        assertThat(life.memory.asSlice(0, READ_AREA).mismatch(readArea(life.generation)))
            .as("first byte of %s that a read or write has changed", node.name).isEqualTo(-1);
        byte[] written = life.memory.asSlice(READ_AREA, node.written).toArray(ValueLayout.JAVA_BYTE);
        for (int i = 0; i < written.length; i++) {
          if (written[i] != EMPTY && written[i] != source(READ_AREA + i)) {
            throw new AssertionError("byte %d of %s must be that of its write (was %d)".formatted(READ_AREA + i,
                node.name, written[i]));
          }
        }
      }
    }

    <T> T now(Mono<T> work) {
      CompletableFuture<T> result = work.toFuture();
      assertThat(time.runUntil(result::isDone, SOON)).as("done").isTrue();
      return result.join();
    }
  }

  /// What is written at an offset of the write area.
  private static byte source(long offset) {
    return (byte) (offset * 17 % 97);
  }

  private static MemorySegment written() {
    byte[] bytes = new byte[WRITE_AREA];
    for (int i = 0; i < WRITE_AREA; i++) {
      bytes[i] = source(READ_AREA + i);
    }
    return MemorySegment.ofArray(bytes).asReadOnly();
  }

  private static boolean isFilled(MemorySegment memory, byte value) {
    return memory.get(ValueLayout.JAVA_BYTE, 0) == value
        && memory.asSlice(1).mismatch(memory.asSlice(0, memory.byteSize() - 1)) == -1;
  }

  private static final class Running {
    private final World world;
    private final List<Expected> expected = new ArrayList<>();
    private final List<Transfer.ItemResult> results = new ArrayList<>();
    private final Transfer transfer;
    private final String message;
    private final CompletableFuture<Transfer.BatchResult> done;
    private final List<Throwable> wrong = new ArrayList<>();
    private boolean completed;

    Running(World world, TransferEngine engine, List<Node> nodes, String message) {
      this.world = world;
      this.message = message;
      TransferBatch.Builder batch = TransferBatch.builder().notifying(message);
      for (int i = world.random.nextInt(1, 12); i > 0; i--) {
        Expected one = item(nodes.get(world.random.nextInt(nodes.size())));
        expected.add(one);
        batch.add(one.item);
      }
      transfer = engine.submit(batch.build());
      transfer.results().subscribe(result -> {
        try {
          ended(result);
        } catch (Throwable e) { // Reactor would only drop it
          wrong.add(e);
        }
      }, wrong::add, () -> completed = true);
      done = transfer.done().toFuture();
    }

    private Expected item(Node node) {
      SplittableRandom random = world.random;
      int longest = random.nextInt(3) == 0 ? SLICE / 3 : 6 * SLICE; // small ones are grouped
      int length = random.nextInt(8) == 0 ? 0 : random.nextInt(1, longest);
      boolean read = random.nextBoolean() || node.written + length > WRITE_AREA;
      long offset = read ? random.nextInt(READ_AREA - length + 1) : READ_AREA + node.written;
      node.written += read ? 0 : length;
      List<MemorySegment> local = new ArrayList<>();
      for (int left = length; left > 0;) {
        int bytes = random.nextInt(1, left + 1);
        local.add(world.arena.allocate(bytes));
        left -= bytes;
      }
      long at = offset;
      for (MemorySegment piece : local) {
        if (read) {
          piece.fill(EMPTY);
        } else {
          piece.copyFrom(WRITTEN.asSlice(at - READ_AREA, piece.byteSize()));
          at += piece.byteSize();
        }
      }
      return new Expected(new TransferBatch.Item(
          read ? TransferBatch.Direction.READ : TransferBatch.Direction.WRITE, node.name, "kv", null, offset, local),
          node, local);
    }

    boolean isDone() {
      return done.isDone();
    }

    /// Looks at the memory of an item, and takes it back.
    private void ended(Transfer.ItemResult result) {
      results.add(result);
      world.ends.merge(result.state(), 1L, Long::sum);
      assertThat(transfer.state(result.index())).isEqualTo(result.state());
      Expected one = expected.get(result.index());
      boolean whole = result.state() == TransferState.COMPLETED;
      if (one.item.direction() == TransferBatch.Direction.READ) {
        requireRead(one, whole);
      } else if (whole && result.bytes() > 0) {
        assertThat(one.node.lives).as("a life that has the write").anyMatch(life -> isWritten(life, one));
      }
      assertThat(result.bytes()).isEqualTo(whole ? one.item.bytes() : 0);
      one.copies.forEach(piece -> piece.fill(POISON));
      world.poisoned.addAll(one.copies);
    }

    /// All bytes are of one life of the node, or, if the item did not complete, each is of one or was not read.
    private static void requireRead(Expected one, boolean whole) {
      boolean right = whole ? one.node.lives.stream().anyMatch(life -> isRead(life, one)) : isReadInPart(one);
      assertThat(right).as("bytes that were read").isTrue();
    }

    private static boolean isRead(Life life, Expected one) {
      long at = one.item.offset();
      for (MemorySegment piece : one.item.local()) {
        if (piece.mismatch(readArea(life.generation).asSlice(at, piece.byteSize())) != -1) {
          return false;
        }
        at += piece.byteSize();
      }
      return true;
    }

    private static boolean isReadInPart(Expected one) {
      long at = one.item.offset();
      for (MemorySegment piece : one.item.local()) {
        for (long i = 0; i < piece.byteSize(); i++) {
          byte is = piece.get(ValueLayout.JAVA_BYTE, i);
          boolean right = is == EMPTY;
          for (int life = 0; !right && life < one.node.lives.size(); life++) {
            right = is == pattern(one.node.lives.get(life).generation, at);
          }
          if (!right) {
            return false;
          }
          at++;
        }
      }
      return true;
    }

    private static boolean isWritten(Life life, Expected one) {
      long at = one.item.offset();
      long bytes = one.item.bytes();
      return life.memory.asSlice(at, bytes).mismatch(WRITTEN.asSlice(at - READ_AREA, bytes)) == -1;
    }

    void requireRight() {
      assertThat(wrong).isEmpty();
      assertThat(completed).as("results completed").isTrue();
      assertThat(results).extracting(Transfer.ItemResult::index).doesNotHaveDuplicates().hasSize(expected.size());
      Transfer.BatchResult all = done.join();
      results.forEach(result -> {
        boolean failed = result.state() == TransferState.FAILED || result.state() == TransferState.TIMEOUT;
        assertThat(result.error() != null).isEqualTo(failed);
      });
      assertThat(all.counts().values().stream().mapToInt(Integer::intValue).sum()).isEqualTo(expected.size());
      assertThat(all.bytes()).isEqualTo(results.stream().mapToLong(Transfer.ItemResult::bytes).sum());
    }

    /// A peer of which all items completed hears once; another one never does.
    void requireNotified(List<Node> nodes) {
      for (Node node : nodes) {
        long heard = node.lives.stream().flatMap(life -> life.heard.stream()).filter(message::equals).count();
        List<Transfer.ItemResult> of =
            results.stream().filter(result -> expected.get(result.index()).node == node).toList();
        boolean whole = !of.isEmpty() && of.stream().allMatch(result -> result.state() == TransferState.COMPLETED);
        boolean told = whole && !done.join().unnotified().containsKey(node.name) && node.lives.size() == 1;
        assertThat(heard).as("notifications at " + node.name).isBetween(told ? 1L : 0L, whole ? 1L : 0L);
      }
    }
  }
}
