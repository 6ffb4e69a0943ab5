package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
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
  private final StackRising rising;
  private final List<Rising> blocks = new ArrayList<>();
  private final List<SlicePlan.Cut> cuts;
  private final RisingSteps steps;

  private Permits.@Nullable Ticket ticket;
  private volatile boolean granted;
  private volatile @Nullable Throwable refusal;
  private final Starts starts = new Starts(this::readStep);
  private int step;
  private boolean reading;
  private boolean cleaned;
  private @Nullable Throwable failure;
  private @Nullable Waiter waiter;

  /// Somebody who waits until so many steps were read.
  private record Waiter(int steps, MonoSink<Boolean> sink) {}

  RisingWindow(StackRising rising, List<StackLease.Item> items, SliceShape shape) {
    this.rising = rising;
    BlockLayout layout = rising.books.info.space().layout();
    items.forEach(item -> blocks.add(new Rising(item)));
    this.cuts = SlicePlan.of(layout, blocks.size(), shape.startLayer(), shape.sliceBytes(), shape.order());
    this.steps = RisingSteps.of(layout, shape.startLayer(), cuts);
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
    List<BlockKey> keys = blocks.stream().filter(Rising::isMissing).map(each -> each.promised().key).toList();
    try {
      Permits.Ticket place = rising.books.memory.transfer().claim(keys, drafts -> {
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
    try {
      rising.start(blocks, drafts).forEach(BlockDraft::close);
      rising.requireSound(blocks);
    } catch (TierClosedException e) {
      drafts.forEach(BlockDraft::close);
      refuseGranted(e);
      return;
    } catch (BlockCorruptException e) {
      refuseGranted(e);
      return;
    }
    granted = true;
    if (isClosed()) {
      cleanUp(true);
    } else {
      starts.more();
    }
  }

  private void refuseGranted(RuntimeException error) {
    refusal = error;
    cleanUp(true);
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
  private void readStep() {
    Map<Integer, List<Rising>> byLevel = new TreeMap<>();
    for (Rising each : blocks) {
      if (each.draft != null) {
        byLevel.computeIfAbsent(each.level, level -> new ArrayList<>()).add(each);
      }
    }
    GranuleRange range = steps.get(step);
    List<Mono<Void>> reads = new ArrayList<>(byLevel.size());
    byLevel.forEach((level, group) -> reads.add(read(level, group, range)));
    Mono.whenDelayError(reads).subscribe(nothing -> {}, this::failed, this::arrived);
  }

  private Mono<Void> read(int level, List<Rising> group, GranuleRange range) {
    return Mono.defer(() -> rising.books.store(level).read(group.stream().map(each -> requireNonNull(each.place).rest).toList(),
        group.stream().map(each -> requireNonNull(each.draft)).toList(), range)).doOnError(error -> rising.notGiven(level, group, error));
  }

  /// A step was read. The last one counts only when the blocks are sealed: nobody is to be handed half a window.
  private void arrived() {
    int read;
    synchronized (this) {
      read = step + 1;
      step += read < steps.size() ? 1 : 0;
    }
    if (read == steps.size()) {
      landWhole(); // also if its reader has got what he asked for, and left
    } else if (isClosed() && read < steps.forReader()) {
      cleanUp(true);
    } else if (read == steps.forReader() && !rising.isWanted(blocks)) {
      stopReading();
    } else {
      serve();
      starts.more();
    }
  }

  /// The layers that nobody asked for are of no use to the tier either.
  private void stopReading() {
    boolean over;
    synchronized (this) {
      reading = false;
      over = isClosed();
    }
    if (over) {
      cleanUp(true);
    } else {
      serve();
    }
  }

  private void landWhole() {
    try {
      rising.landed(sealed());
    } catch (RuntimeException e) { // the store left something out
      failed(e);
      return;
    }
    landed();
  }

  private synchronized List<Rising> sealed() {
    List<Rising> landed = new ArrayList<>();
    for (Rising each : blocks) {
      BlockDraft draft = each.draft;
      if (draft != null) {
        each.block = sealed(each, draft);
        each.draft = null;
        landed.add(each);
      }
    }
    return landed;
  }

  private Block sealed(Rising each, BlockDraft draft) {
    try {
      return draft.seal();
    } catch (RuntimeException e) {
      rising.notGiven(each.level, List.of(each), e);
      throw e;
    }
  }

  private void landed() {
    boolean over;
    synchronized (this) {
      step++;
      reading = false;
      over = isClosed();
      cleaned = over;
    }
    if (over) {
      closeBlocks();
    }
    serve();
  }

  private void failed(Throwable error) {
    synchronized (this) {
      failure = Exceptions.unwrapMultiple(error).getFirst();
    }
    cleanUp(true);
  }

  /// Tells who waits, if it is time.
  private void serve() {
    Waiter served = null;
    Throwable reason;
    boolean gone;
    synchronized (this) {
      reason = failure;
      gone = cleaned;
      if (waiter != null && (reason != null || gone || step >= waiter.steps())) {
        served = waiter;
        waiter = null;
      }
    }
    if (served != null && (reason != null || gone)) {
      served.sink().error(reason != null ? reason : closed());
    } else if (served != null) {
      served.sink().success(true);
    }
  }

  /// True when `wanted` steps were read.
  private Mono<Boolean> arrived(int wanted) {
    return Mono.create(sink -> {
      Waiter mine = new Waiter(wanted, sink);
      synchronized (this) {
        waiter = mine;
      }
      sink.onCancel(() -> forget(mine));
      serve();
    });
  }

  private synchronized void forget(Waiter gone) {
    if (gone.equals(waiter)) {
      waiter = null;
    }
  }

  // Handing out

  @Override
  public Flux<LayerSlice> slices(int number) {
    return Flux.range(0, cuts.size()).concatMap(i -> arrived(steps.until(cuts.get(i)))
        .map(here -> LayerSlice.of(cuts.get(i), new SlicePlace(number, cuts.size() - 1 - i), this)), 1).doFinally(end -> close());
  }

  @Override
  public int position(int i) {
    return blocks.get(i).position;
  }

  @Override
  public synchronized LayerSpan span(int i, GranuleRange range) {
    Rising each = blocks.get(i);
    BlockDraft draft = each.draft;
    return draft != null ? draft.span(range) : requireNonNull(each.block, "block").span(range);
  }

  /// The blocks, all of them there, handed over to `scope`.
  Mono<List<Leased>> blocks(BlockScope scope) {
    return arrived(steps.size()).map(here -> handOver(scope)).doOnCancel(this::close);
  }

  private static CancellationException closed() {
    return new CancellationException("window must be open (was closed)");
  }

  private List<Leased> handOver(BlockScope scope) {
    if (!markClosed()) {
      throw closed();
    }
    List<Leased> leased = new ArrayList<>(blocks.size());
    blocks.forEach(each -> leased.add(new Leased(each.position, scope.adopt(requireNonNull(each.block)))));
    return leased;
  }

  // The end

  @Override
  protected void free() {
    Permits.Ticket place;
    synchronized (this) {
      place = ticket;
    }
    if (place != null) {
      place.cancel();
    }
    cleanUp(false);
  }

  /// Gives everything back, once; whoever still waits hears of the end.
  ///
  /// @param over whether what was read into it has ended; while it has not, or memory is just being granted, whoever is at it does this
  private void cleanUp(boolean over) {
    List<BlockDraft> drafts = new ArrayList<>();
    synchronized (this) {
      if (cleaned || (reading && !over)) { // looked at and settled in one step: a grant comes before it or finds it
        return;
      }
      reading = false;
      cleaned = true;
      for (Rising each : blocks) {
        if (each.draft != null) {
          drafts.add(each.draft);
        }
      }
    }
    rising.abandoned(blocks);
    drafts.forEach(BlockDraft::close);
    closeBlocks();
    serve();
  }

  private void closeBlocks() {
    for (Rising each : blocks) {
      Block block = each.block;
      if (block != null) {
        block.close();
      }
    }
  }
}
