package io.penstock.wire;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.testkit.LeakLedger;
import io.penstock.tier.ByteBudget;
import io.penstock.wire.client.segment.SegmentConnector;
import io.penstock.wire.protocol.Carrier;
import io.penstock.wire.transfer.Transfer;
import io.penstock.wire.transfer.TransferBatch;
import io.penstock.wire.transfer.TransferEngine;
import io.penstock.wire.transfer.TransferOptions;
import io.penstock.wire.transfer.TransferState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/// Two batches of reads and writes, one after the other, of an engine whose first connections have faults. The second
/// batch writes where the first one wrote: what is late of the first must not land on top of it.
///
/// A connection that is lost costs an item its first attempt, so a single loss fails none.
final class FaultedTransfers implements FaultCase {
  private static final byte POISON = (byte) 0xDD;
  private static final int LARGE = 3;
  private static final int SMALL = 4;
  private static final int MOST_LARGE = 40_000;
  private static final int MOST_SMALL = 1000;

  /// An item of a batch.
  ///
  /// @param at its place in the area that the case writes, or in the one that is read
  private record Planned(boolean read, int at, int length, MemorySegment local) {}

  /// A batch: what it must do, and what became of it.
  private final class Batch {
    /// What it writes, from the start of the area on.
    private final MemorySegment bytes;
    private final List<Planned> items = new ArrayList<>();
    private final List<Transfer.ItemResult> results = new ArrayList<>();
    private final List<String> wrong = new ArrayList<>();

    Batch(long salt) {
      this.bytes = FaultSegment.pattern(salt, FaultSegment.WRITE_AREA);
    }

    CompletableFuture<?> run(SplittableRandom random) {
      TransferBatch.Builder batch = TransferBatch.builder();
      for (Planned item : items) {
        if (item.read) {
          item.local.fill(FaultSegment.EMPTY);
          batch.read(peer, FaultSegment.NAME, item.at, item.local);
        } else {
          item.local.copyFrom(bytes.asSlice(item.at, item.length));
          batch.write(peer, FaultSegment.NAME, FaultSegment.writeOffset(area) + item.at, item.local);
        }
      }
      Transfer transfer = engine.submit(batch.build());
      OnceEnded<Transfer.ItemResult> ends = new OnceEnded<>();
      transfer.results().doOnNext(this::ended).subscribe(ends);
      if (cancels && random.nextBoolean()) {
        CompletableFuture.delayedExecutor(random.nextLong(20_000_000), TimeUnit.NANOSECONDS)
            .execute(transfer::cancel);
      }
      return transfer.done().toFuture().thenCombine(ends.ended(), (all, each) -> {
        each.requireOneEnd();
        return all;
      });
    }

    /// Looks at the memory of an item, and takes it back.
    private synchronized void ended(Transfer.ItemResult result) {
      results.add(result);
      Planned item = items.get(result.index());
      boolean whole = result.state() == TransferState.COMPLETED;
      if (item.read && !isRight(item, whole)) {
        wrong.add("bytes of " + result);
      }
      item.local.fill(POISON);
    }

    private boolean isRight(Planned item, boolean whole) {
      List<MemorySegment> allowed = node.segments().stream()
          .map(segment -> segment.readable(item.at, item.length)).toList();
      return whole
          ? allowed.stream().anyMatch(bytes -> bytes.mismatch(item.local) == -1)
          : FaultSegment.isOneOf(item.local, allowed.toArray(MemorySegment[]::new));
    }

    synchronized void requireQuiet() {
      require(wrong.isEmpty(), "bytes that were read must be those of the segment (were not: " + wrong + ")");
      require(results.size() == items.size()
          && results.stream().map(Transfer.ItemResult::index).distinct().count() == items.size(),
          "each item must end once (was " + results + ")");
      for (Planned item : items) {
        for (long i = 0; i < item.length; i++) {
          require(item.local.get(ValueLayout.JAVA_BYTE, i) == POISON, "memory of an item that ended must be quiet");
        }
      }
    }

    TransferState state(int index) {
      return results.stream().filter(result -> result.index() == index).findFirst().orElseThrow().state();
    }
  }

  private final FaultNode node;
  private final List<FaultPlan> plans;
  private final int area;
  private final boolean cancels;
  private final SplittableRandom random;
  private final FaultProxy proxy;
  private final String peer;
  private final ByteBudget budget = new ByteBudget("engine", 8L * FaultRound.SLICE_BYTES, 64);
  private final TransferEngine engine;
  /// Freed with the last frame that refers to it, also where a round fails and items go on.
  private final Arena arena = Arena.ofAuto();
  private final Batch first;
  private final Batch second;
  private int writtenBytes;

  /// @param plans of the first connections
  /// @param area that the case alone writes
  /// @param cancels whether batches may be cancelled
  FaultedTransfers(FaultNode node, SplittableRandom random, List<FaultPlan> plans, int area, boolean cancels) {
    this.node = node;
    this.random = random;
    this.plans = plans;
    this.area = area;
    this.cancels = cancels;
    this.proxy = new FaultProxy(node.ends(), node.port(), plans, true);
    this.peer = "" + proxy.port();
    this.engine = new TransferEngine(
        TransferOptions.defaults().withDeadline(node.limits().deadline(), 1).withLane(8, 64 << 10)
            .withConnections(node.limits().answer(), node.limits().lifetime()),
        new SegmentConnector(address -> node.ends().client(Integer.parseInt(address)),
            FaultClient.options(node.limits()).sendWindowBytes(4L * FaultRound.SLICE_BYTES)
                .carriers(node.ends().carrier(), Carrier.INLINE).build(),
            budget),
        node.timers(), random.split());
    long salt = random.nextInt(251);
    this.first = new Batch(salt);
    this.second = new Batch(salt + 97);
    plan();
  }

  private void plan() {
    for (int i = 0; i < LARGE + SMALL; i++) {
      int most = i < LARGE ? MOST_LARGE : MOST_SMALL;
      int written = random.nextInt(1, most);
      for (Batch batch : List.of(first, second)) {
        int read = random.nextInt(1, most);
        batch.items.add(new Planned(true, random.nextInt(FaultSegment.READ_AREA - read), read, arena.allocate(read)));
        batch.items.add(new Planned(false, writtenBytes, written, arena.allocate(written)));
      }
      writtenBytes += written;
    }
  }

  @Override
  public int items() {
    return 2;
  }

  @Override
  public CompletableFuture<Void> run(AtomicInteger ended) {
    return first.run(random).thenCompose(done -> {
      ended.incrementAndGet();
      return second.run(random);
    }).thenAccept(done -> {
      ended.incrementAndGet();
      proxy.overtake();
    });
  }

  @Override
  public long moved() {
    return proxy.moved();
  }

  @Override
  public List<FaultPlan> fired() {
    return proxy.fired();
  }

  @Override
  public void endCaller() {
    engine.close().block(FaultRound.PATIENCE);
    try (LeakLedger leaks = new LeakLedger()) {
      leaks.watch(budget);
    }
  }

  @Override
  public List<BlockKey> acknowledged() {
    return List.of();
  }

  @Override
  public void check(boolean restarted, FaultTally tally) {
    first.requireQuiet();
    second.requireQuiet();
    for (Batch batch : List.of(first, second)) {
      batch.results.forEach(result -> {
        tally.ended(happened(restarted) + " transfer " + end(result));
        tally.compared(result.bytes());
        if (!fits(result, restarted)) {
          throw new AssertionError(result + " must not be after " + fired() + ": " + this, result.error());
        }
      });
    }
    for (int i = 0; i < first.items.size(); i++) {
      if (!first.items.get(i).read) {
        requireWritten(i);
      }
    }
    node.segments().forEach(segment -> {
      segment.requireUntouched();
      segment.clear(area);
    });
  }

  private String happened(boolean restarted) {
    List<FaultPlan> fired = fired();
    String kinds = fired.isEmpty() ? "NONE" : String.join("+", fired.stream().map(plan -> plan.kind().name()).toList());
    return restarted && fired.isEmpty() ? "RESTART" : kinds;
  }

  private static String end(Transfer.ItemResult result) {
    return result.error() == null
        ? "" + result.state()
        : result.state() + " " + requireNonNull(result.error()).getClass().getSimpleName();
  }

  private boolean fits(Transfer.ItemResult result, boolean restarted) {
    List<FaultPlan.Kind> fired = fired().stream().map(FaultPlan::kind).toList();
    boolean harmed = restarted || fired.stream().anyMatch(kind -> kind != FaultPlan.Kind.STALL);
    boolean lostOnce = !restarted && fired.size() == 1
        && List.of(FaultPlan.Kind.CUT, FaultPlan.Kind.RESET, FaultPlan.Kind.REORDER).contains(fired.getFirst());
    return switch (result.state()) {
      case COMPLETED -> true;
      case CANCELLED -> cancels;
      case FAILED, TIMEOUT -> harmed && !lostOnce;
      default -> false;
    };
  }

  /// What the node has of one write: that of the second batch if it completed, else that of either.
  private void requireWritten(int index) {
    Planned item = second.items.get(index);
    MemorySegment before = first.bytes.asSlice(item.at, item.length);
    MemorySegment after = second.bytes.asSlice(item.at, item.length);
    List<MemorySegment> written = node.segments().stream()
        .map(segment -> segment.written(area, writtenBytes).asSlice(item.at, item.length)).toList();
    Predicate<MemorySegment> last = bytes -> bytes.mismatch(after) == -1;
    boolean right = switch (second.state(index)) {
      case COMPLETED -> written.stream().anyMatch(last);
      default -> first.state(index) != TransferState.COMPLETED
          || written.stream().anyMatch(bytes -> isOneOf(bytes, before, after));
    };
    require(right && written.stream().allMatch(bytes -> FaultSegment.isOneOf(bytes, before, after)),
        "bytes of a write must be those of the last batch that completed, item " + index);
  }

  /// Whether each byte is that of one of the two.
  private static boolean isOneOf(MemorySegment bytes, MemorySegment one, MemorySegment other) {
    for (long i = 0; i < bytes.byteSize(); i++) {
      byte is = bytes.get(ValueLayout.JAVA_BYTE, i);
      if (is != one.get(ValueLayout.JAVA_BYTE, i) && is != other.get(ValueLayout.JAVA_BYTE, i)) {
        return false;
      }
    }
    return true;
  }

  private static void require(boolean holds, String rule) {
    if (!holds) {
      throw new AssertionError(rule);
    }
  }

  @Override
  public void endConnections() {
    proxy.close();
  }

  @Override
  public String toString() {
    return "transfers, " + plans + (cancels ? ", cancelled" : "");
  }
}
