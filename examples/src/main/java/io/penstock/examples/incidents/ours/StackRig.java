package io.penstock.examples.incidents.ours;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.examples.incidents.script.Subject;
import io.penstock.examples.incidents.script.Words;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedTier;
import io.penstock.recording.Turns;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.tier.Lease;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Receipt;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.TierInputs;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// A [TierStack] of host memory over a disk, on the clock of the schedule, whose events are recorded: they are the
/// facts of the subjects that extend this.
abstract class StackRig implements Subject {
  final HandDisk disk = new HandDisk();
  final RecordedTier tier;
  private final BlockScope scope = new BlockScope();
  private long now;
  private Consumer<RecordedEvent> sink = event -> {};
  private @Nullable String wrong;

  StackRig(long hostBlocks, StackOptions options) {
    this.tier = RecordedTier.open(new Turns(() -> now, event -> sink.accept(event)), 0, "", inputs(), List.of(disk),
        (inputs, stores) -> new TierStack(Words.SPACE,
            List.of(new StackLevel.Host("dram", hostBlocks), new StackLevel.Stored(stores.getFirst(), 1 << 20)),
            options, TierListener.noop(), inputs, StackOptions.Sampling.none()));
  }

  /// Options of a stack that moves blocks to its disk when memory is full.
  static StackOptions options() {
    return StackOptions.defaults("stack").withBatchBlocks(1 << 10);
  }

  private TierInputs inputs() {
    ChunkSource chunks = ChunkSource.ofSystem();
    return new TierInputs() {
      private long drawn;

      @Override
      public long nanos() {
        return now;
      }

      @Override
      public long draw() {
        return ++drawn;
      }

      @Override
      public ChunkSource chunks() {
        return chunks;
      }
    };
  }

  /// Takes an input at its time.
  abstract void take(RecordedEvent input);

  @Override
  public final void take(RecordedEvent input, Consumer<RecordedEvent> facts) {
    now = input.at();
    sink = facts;
    take(input);
    sink = event -> {};
  }

  /// Blocks that are put, and how far that has come.
  static final class Put {
    @Nullable List<Receipt> receipts;
    @Nullable Throwable failure;
  }

  /// Reserves room for `keys`, which may wait, writes all bytes, and commits.
  Put put(List<BlockKey> keys) {
    Put put = new Put();
    tier.reserve(keys, scope).flatMap(reservation -> {
      reservation.drafts().forEach(StackRig::write);
      return reservation.commit(reservation.drafts()).doFinally(end -> reservation.close());
    }).subscribe(receipts -> put.receipts = receipts, error -> put.failure = error);
    return put;
  }

  private static void write(BlockDraft draft) {
    land(draft, GranuleRange.all(draft.layout()));
  }

  /// Writes a part of a block.
  static void land(BlockDraft draft, GranuleRange range) {
    draft.write(range, memory -> fill(memory, draft.key()));
    draft.produced(range);
  }

  private static void fill(MemorySegment memory, BlockKey key) {
    for (long at = 0; at < memory.byteSize(); at += Long.BYTES) {
      memory.set(ValueLayout.JAVA_LONG_UNALIGNED, at, key.hash().low());
    }
  }

  private static boolean holds(Block block, BlockKey key) {
    return block.read(memory -> {
      for (long at = 0; at < memory.byteSize(); at += Long.BYTES) {
        if (memory.get(ValueLayout.JAVA_LONG_UNALIGNED, at) != key.hash().low()) {
          return false;
        }
      }
      return true;
    });
  }

  /// Blocks that are read, and how far that has come.
  static final class Read {
    final List<BlockKey> came = new ArrayList<>();
    boolean over;
    @Nullable Throwable failure;
  }

  Read read(List<BlockKey> keys) {
    return read(tier.lease(keys, OnMiss.SKIP, scope));
  }

  /// Reads the blocks of a lease, and compares all bytes with those of their keys.
  Read read(Mono<Lease> leased) {
    Read read = new Read();
    leased.flatMapMany(lease -> lease.windows(64, scope).doFinally(end -> lease.close())).subscribe(window -> {
      for (LeasedBlock each : window) {
        Block block = each.block();
        if (!holds(block, block.key())) {
          wrong = "block " + Words.name(block.key()) + " came with the bytes of another";
        }
        read.came.add(block.key());
        block.close();
      }
    }, error -> {
      read.failure = error;
      read.over = true;
    }, () -> read.over = true);
    return read;
  }

  /// How many of `keys` are found, from the first one on.
  int match(List<BlockKey> keys) {
    Integer found = tier.match(keys).block(); // answers at once: one thread, and no store is asked
    return found == null ? 0 : found;
  }

  BlockScope scope() {
    return scope;
  }

  static String nameOf(Throwable error) {
    return error.getClass().getSimpleName();
  }

  @Override
  public @Nullable String violation() {
    return wrong;
  }

  @Override
  public void close() {
    sink = event -> {};
    scope.close();
    disk.answerAll();
    tier.close().block(); // every operation of the disk was answered, so nothing is waited for
  }
}
