package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.Permits;
import io.penstock.block.SlicePlace;
import io.penstock.block.SlicePlan;
import io.penstock.block.SliceShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// A window of which some blocks come up from stores: memory for all of them is claimed at once, then they are read a few layers at a
/// time, in the order in which they will be sent, as fast as the stores give them and whatever the reader does.
///
/// Guarded by itself, and never locked while the tier's lock is wanted.
final class RisingWindow extends LeasedWindow implements LayerSlice.Spans {
  /// A block of the window.
  static final class Rising {
    final int position;
    final StackEntry.@Nullable Resident entry;
    @Nullable Block block;
    @Nullable BlockDraft draft;
    /// Where it is read, and at which level. Guarded by the tier's lock until the memory was granted.
    @Nullable Place place;
    int level;
    /// Whether the entry counts this window among its pins. Guarded by the tier's lock.
    boolean pinned;

    Rising(StackLease.Item item) {
      this.position = item.position();
      this.block = item.block();
      this.entry = item.promised();
      this.pinned = item.block() == null;
    }

    boolean isMissing() {
      return block == null;
    }

    StackEntry.Resident promised() {
      return requireNonNull(entry);
    }
  }

  private final TierStack tier;
  private final BlockLayout layout;
  private final SliceShape shape;
  private final List<Rising> blocks = new ArrayList<>();
  private final List<SlicePlan.Cut> cuts;
  private final List<GranuleRange> steps;

  private Permits.@Nullable Ticket ticket;
  private volatile boolean granted;
  private volatile @Nullable Throwable refusal;
  private int step;
  private boolean reading;
  private boolean cleaned;
  private @Nullable Throwable failure;
  private @Nullable Waiter waiter;

  /// Somebody who waits until so many steps were read.
  private record Waiter(int steps, MonoSink<Boolean> sink) {}

  RisingWindow(TierStack tier, List<StackLease.Item> items, SliceShape shape) {
    this.tier = tier;
    this.layout = tier.info().space().layout();
    this.shape = shape;
    items.forEach(item -> blocks.add(new Rising(item)));
    this.cuts = SlicePlan.of(layout, blocks.size(), shape.startLayer(), shape.sliceBytes(), shape.order());
    this.steps = steps();
  }

  /// What is read at once: the granules of one cut after the other, whole, then the layers that nobody asked for.
  private List<GranuleRange> steps() {
    List<GranuleRange> all = new ArrayList<>();
    int first = GranuleRange.layers(layout, new LayerRange(shape.startLayer(), layout.layers())).first();
    int next = first;
    for (SlicePlan.Cut cut : cuts) {
      if (end(cut) > next) {
        all.add(GranuleRange.whole(next, end(cut) - next));
        next = end(cut);
      }
    }
    if (first > 0) {
      all.add(GranuleRange.whole(0, first));
    }
    return all;
  }

  private static int end(SlicePlan.Cut cut) {
    return cut.range().isWhole() ? cut.range().end() : cut.range().first() + 1;
  }

  @Override
  public int size() {
    return blocks.size();
  }

  // Memory

  /// Waits for memory for the missing blocks, all or nothing, then starts to read.
  ///
  /// @param told runs when the memory was granted or refused
  void claim(Runnable told) {
    List<BlockKey> keys = blocks.stream().filter(Rising::isMissing).map(rising -> rising.promised().key).toList();
    try {
      Permits.Ticket place = tier.transfer().claim(keys, drafts -> {
        grant(drafts);
        told.run();
      }, error -> refuse(error, told));
      synchronized (this) {
        ticket = place;
      }
      if (isClosed()) {
        place.cancel();
      }
    } catch (RuntimeException e) {
      refuse(e, told);
    }
  }

  private void refuse(Throwable error, Runnable told) {
    refusal = error;
    told.run();
  }

  private void grant(List<BlockDraft> drafts) {
    synchronized (this) {
      reading = !cleaned;
    }
    if (!reading) { // closed just before its turn came
      drafts.forEach(BlockDraft::close);
      return;
    }
    tier.startReading(blocks, drafts).forEach(BlockDraft::close);
    granted = true;
    if (isClosed()) {
      cleanUp();
    } else {
      read();
    }
  }

  boolean isGranted() {
    return granted;
  }

  /// Why there is no memory, null if nobody said no.
  @Nullable Throwable refusal() {
    return refusal;
  }

  // Reading

  /// Reads the next step of all missing blocks.
  private void read() {
    Map<Integer, List<Rising>> byLevel = new TreeMap<>();
    for (Rising rising : blocks) {
      if (rising.draft != null) {
        byLevel.computeIfAbsent(rising.level, level -> new ArrayList<>()).add(rising);
      }
    }
    GranuleRange range = steps.get(step);
    List<Mono<Void>> reads = new ArrayList<>(byLevel.size());
    byLevel.forEach((level, group) -> reads.add(Mono.defer(() -> tier.store(level).read(
        group.stream().map(rising -> requireNonNull(rising.place).rest).toList(),
        group.stream().map(rising -> requireNonNull(rising.draft)).toList(), range))));
    Mono.whenDelayError(reads).subscribe(nothing -> {}, this::failed, this::arrived);
  }

  private void arrived() {
    boolean over;
    synchronized (this) {
      step++;
      over = isClosed();
    }
    if (over) {
      cleanUp();
    } else if (step < steps.size()) {
      serve();
      read();
    } else {
      seal();
    }
  }

  private void seal() {
    List<Rising> landed = new ArrayList<>();
    synchronized (this) {
      for (Rising rising : blocks) {
        BlockDraft draft = rising.draft;
        if (draft != null) {
          rising.block = draft.seal();
          rising.draft = null;
          landed.add(rising);
        }
      }
    }
    tier.landed(landed);
    synchronized (this) {
      reading = false;
      cleaned = isClosed();
    }
    if (cleaned) {
      closeBlocks();
    }
    serve();
  }

  private void failed(Throwable error) {
    Throwable cause = Exceptions.unwrapMultiple(error).getFirst();
    synchronized (this) {
      failure = cause;
    }
    if (cause instanceof BlockCorruptException corrupt) {
      blocks.stream().filter(rising -> rising.draft != null && rising.promised().key.equals(corrupt.key()))
          .forEach(rising -> tier.quarantine(rising.promised()));
    }
    cleanUp();
    serve();
  }

  /// Tells who waits, if it is time.
  private void serve() {
    Waiter served = null;
    Throwable reason;
    synchronized (this) {
      reason = failure;
      if (waiter != null && (reason != null || step >= waiter.steps())) {
        served = waiter;
        waiter = null;
      }
    }
    if (served != null && reason != null) {
      served.sink().error(reason);
    } else if (served != null) {
      served.sink().success(true);
    }
  }

  /// True when `wanted` steps were read.
  private Mono<Boolean> arrived(int wanted) {
    return Mono.create(sink -> {
      synchronized (this) {
        waiter = new Waiter(wanted, sink);
      }
      serve();
    });
  }

  // Handing out

  @Override
  public Flux<LayerSlice> slices(int number) {
    return Flux.range(0, cuts.size()).concatMap(i -> arrived(stepsOf(cuts.get(i)))
        .map(here -> LayerSlice.of(cuts.get(i), new SlicePlace(number, cuts.size() - 1 - i), this)), 1).doFinally(end -> close());
  }

  private int stepsOf(SlicePlan.Cut cut) {
    for (int i = 0; i < steps.size(); i++) {
      if (steps.get(i).end() >= end(cut)) {
        return i + 1;
      }
    }
    return steps.size();
  }

  @Override
  public int position(int i) {
    return blocks.get(i).position;
  }

  @Override
  public synchronized LayerSpan span(int i, GranuleRange range) {
    Rising rising = blocks.get(i);
    BlockDraft draft = rising.draft;
    return draft != null ? draft.span(range) : requireNonNull(rising.block, "block").span(range);
  }

  /// The blocks, all of them there, handed over to `scope`.
  Mono<List<Leased>> blocks(BlockScope scope) {
    return arrived(steps.size()).map(here -> handOver(scope)).doOnCancel(this::close);
  }

  private List<Leased> handOver(BlockScope scope) {
    if (!markClosed()) {
      throw new CancellationException("window must be open (was closed)");
    }
    List<Leased> leased = new ArrayList<>(blocks.size());
    blocks.forEach(rising -> leased.add(new Leased(rising.position, scope.adopt(requireNonNull(rising.block)))));
    return leased;
  }

  // The end

  @Override
  protected void free() {
    Permits.Ticket place;
    boolean now;
    synchronized (this) {
      place = ticket;
      now = !reading;
    }
    if (place != null) {
      place.cancel();
    }
    if (now) {
      cleanUp();
    }
  }

  /// Gives everything back, once, when nobody reads into it.
  private void cleanUp() {
    List<BlockDraft> drafts = new ArrayList<>();
    synchronized (this) {
      reading = false;
      if (cleaned) {
        return;
      }
      cleaned = true;
      for (Rising rising : blocks) {
        if (rising.draft != null) {
          drafts.add(rising.draft);
        }
      }
    }
    tier.abandoned(blocks);
    drafts.forEach(BlockDraft::close);
    closeBlocks();
  }

  private void closeBlocks() {
    for (Rising rising : blocks) {
      Block block = rising.block;
      if (block != null) {
        block.close();
      }
    }
  }
}
