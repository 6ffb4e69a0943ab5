package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.tier.spi.StoreUnavailableException;
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
import io.penstock.block.SlabPart;
import io.penstock.block.SlicePosition;
import io.penstock.block.SlicePlan;
import io.penstock.block.SliceShape;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A window of which some blocks come up from stores: memory for all of them is claimed at once, then they are read a
/// few layers at a time, in the order in which they will be sent, as fast as the stores give them and whatever the
/// reader does.
///
/// Guarded by itself, and never locked while the tier's lock is wanted.
final class RisingWindow extends LeasedWindow implements LayerSlice.Spans {
  private final StackRising rising;
  private final List<Rising> blocks = new ArrayList<>();
  private final List<SlicePlan.Cut> cuts;
  private final RisingSteps steps;

  private final int missing;
  private Permits.@Nullable Ticket ticket;
  private volatile boolean granted;
  private volatile @Nullable Throwable refusal;
  private final Starts starts = new Starts(this::readStep);
  private final StepGate gate = new StepGate(RisingWindow::closed);
  /// The step that is read, by one at a time.
  private int step;
  private boolean reading;
  private boolean cleaned;
  private Runnable told = () -> {};

  RisingWindow(StackRising rising, List<StackLease.Item> items, SliceShape shape) {
    this.rising = rising;
    BlockLayout layout = rising.books.info.space().layout();
    items.forEach(item -> blocks.add(new Rising(item)));
    this.missing = (int) blocks.stream().filter(Rising::isMissing).count();
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
    this.told = told;
    StoreUnavailableException why = rising.enter(this);
    if (why != null) { // others may hold all the memory until that store answers
      refuse(why);
      return;
    }
    List<BlockKey> keys = blocks.stream().filter(Rising::isMissing).map(each -> each.promised().key).toList();
    try {
      Permits.Ticket place = rising.memoryFor(blocks).claim(keys, drafts -> {
        grant(drafts);
        told.run();
      }, this::refuse);
      synchronized (this) {
        ticket = place;
      }
      if (isClosed()) {
        place.cancel();
      }
    } catch (RuntimeException e) {
      refuse(e);
    }
  }

  /// Reads ahead of its reader, if there is memory for the missing blocks that nobody else needs now: half of what is
  /// for windows stays free.
  ///
  /// @param told runs when a store that it reads from gives nothing any more
  /// @return false if there is not, or a store that it needs gives nothing now; nothing has begun then
  boolean claimAhead(Runnable told) {
    this.told = told;
    List<BlockKey> keys = blocks.stream().filter(Rising::isMissing).map(each -> each.promised().key).toList();
    SlabPart memory = rising.memoryFor(blocks);
    if (keys.isEmpty() || 2 * (memory.claimedSlots() + keys.size()) > memory.capacitySlots()) {
      return false;
    }
    List<BlockDraft> drafts;
    try {
      drafts = memory.tryClaim(keys);
    } catch (RuntimeException e) { // closed, or the system has no memory: whoever asks for it later hears why
      return false;
    }
    if (drafts == null) {
      return false;
    }
    if (rising.enter(this) != null) {
      rising.leave(this);
      drafts.forEach(BlockDraft::close);
      return false;
    }
    grant(drafts);
    return true;
  }

  /// How many of its blocks were not in memory.
  int missing() {
    return missing;
  }

  private void refuse(Throwable error) {
    refusal = error;
    told.run();
  }

  /// Whether it waits for the store of `level`. Under the tier's lock.
  boolean needs(int level) {
    return blocks.stream()
        .anyMatch(each -> each.place != null
            ? each.level == level
            : each.pinned && each.promised().places[level] != null
                && !rising.books.docks.isReadable(each.promised()));
  }

  /// A store that it waits for does not answer: its reader hears of it at once, its memory goes back when the store has
  /// answered.
  void interrupt(Throwable why) {
    if (granted) {
      gate.fail(why);
      gate.end();
    } else {
      refuse(why);
    }
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
    rising.read(blocks, steps.get(step)).subscribe(nothing -> {}, this::failed, this::arrived);
  }

  /// A step was read. The last one counts only when the blocks are sealed: nobody is to be handed half a window.
  private void arrived() {
    step++;
    if (step == steps.size()) {
      landWhole(); // also if its reader has got what he asked for, and left
    } else if (isClosed() && step < steps.forReader()) {
      cleanUp(true);
    } else if (step == steps.forReader() && !rising.isWanted(blocks)) {
      stopReading(); // the layers that nobody asked for are of no use to the tier either
    } else {
      gate.reached(step);
      starts.more();
    }
  }

  private void stopReading() {
    rising.leave(this);
    boolean over;
    synchronized (this) {
      reading = false;
      over = isClosed();
    }
    if (over) {
      cleanUp(true);
    } else {
      gate.reached(step);
    }
  }

  private void landWhole() {
    rising.leave(this);
    try {
      rising.landed(sealed());
    } catch (RuntimeException e) { // the store left something out
      blocks.stream().filter(Rising::isIncomplete).forEach(each -> rising.notGiven(each.level, List.of(each), e));
      failed(e);
      return;
    }
    boolean over;
    synchronized (this) {
      reading = false;
      over = isClosed();
      cleaned = over;
    }
    if (over) {
      closeBlocks();
      gate.end();
    } else {
      gate.reached(step);
    }
  }

  private synchronized List<Rising> sealed() {
    List<Rising> landed = new ArrayList<>();
    for (Rising each : blocks) {
      BlockDraft draft = each.draft;
      if (draft != null) {
        each.block = draft.seal();
        each.draft = null;
        landed.add(each);
      }
    }
    return landed;
  }

  private void failed(Throwable error) {
    gate.fail(Exceptions.unwrapMultiple(error).getFirst());
    cleanUp(true);
  }

  // Handing out

  @Override
  public Flux<LayerSlice> slices(int number) {
    return Flux.range(0, cuts.size()).concatMap(i -> gate.arrived(steps.until(cuts.get(i)))
        .map(here -> slice(i, number)), 1).doFinally(end -> close());
  }

  private LayerSlice slice(int i, int number) {
    try {
      return LayerSlice.of(cuts.get(i), new SlicePosition(number, cuts.size() - 1 - i), this);
    } catch (IllegalStateException e) { // what was here went with what failed behind it
      throw gate.reason(e);
    }
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
  Mono<List<LeasedBlock>> blocks(BlockScope scope) {
    return gate.arrived(steps.size()).map(here -> handOver(scope)).doOnCancel(this::close);
  }

  private static CancellationException closed() {
    return new CancellationException("window must be open (was closed)");
  }

  private List<LeasedBlock> handOver(BlockScope scope) {
    if (!markClosed()) {
      throw closed();
    }
    List<LeasedBlock> leased = new ArrayList<>(blocks.size());
    blocks.forEach(each -> leased.add(new LeasedBlock(each.position, scope.adopt(requireNonNull(each.block)))));
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
  /// @param over whether what was read into it has ended; while it has not, or memory is just being granted, whoever is
  ///     at it does this
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
    rising.leave(this);
    rising.abandoned(blocks);
    drafts.forEach(BlockDraft::close);
    closeBlocks();
    gate.end();
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
