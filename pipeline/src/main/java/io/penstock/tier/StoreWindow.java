package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.GranuleRange;
import io.penstock.block.LayerSlice;
import io.penstock.block.LayerSpan;
import io.penstock.block.SlabPart;
import io.penstock.block.SliceShape;
import io.penstock.operator.Trampoline;
import io.penstock.tier.slice.SlicePlan;
import io.penstock.tier.spi.StoreUnavailableException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A window of which some blocks are read from stores. It claims memory for all of them at once, then reads a few
/// layers of each at a time, in the order in which they are sent, as fast as the stores give them, at whatever pace the
/// reader asks for slices.
///
/// Its monitor is never held while it makes a decision of the stack.
final class StoreWindow extends LeasedWindow implements SlicePlan.Spans {
  private final StackState state;
  private final WindowReads reads;
  private final List<WindowBlock> blocks;
  private final int missing;
  private final List<SlicePlan.Cut> cuts;
  private final ReadSteps steps;
  private final ReadProgress progress = new ReadProgress(StoreWindow::closed);
  private final Trampoline stepReads = new Trampoline(this::readStep);
  private Runnable listener = () -> {};
  private volatile boolean granted;
  private volatile @Nullable Throwable refusal;
  /// The next step to read; written by the thread of the read under way.
  private int step;
  private final HeldTicket ticket = new HeldTicket();
  /// Whether bytes are being read into its drafts.
  @GuardedBy("this") private boolean reading;
  /// Whether everything was given back.
  @GuardedBy("this") private boolean cleaned;

  StoreWindow(StackState state, List<LeaseItem> items, SliceShape shape) {
    BlockLayout layout = state.shape().layout();
    this.state = state;
    this.reads = state.windows();
    this.blocks = items.stream().map(WindowBlock::new).toList();
    this.missing = missingKeys().size();
    this.cuts = SlicePlan.of(layout, blocks.size(), shape.startLayer(), shape.sliceBytes(), shape.order());
    this.steps = ReadSteps.of(layout, shape.startLayer(), cuts);
  }

  private List<BlockKey> missingKeys() {
    return blocks.stream().filter(WindowBlock::isMissing).map(WindowBlock::key).toList();
  }

  @Override
  public int size() {
    return blocks.size();
  }

  /// How many of its blocks were not in memory when it was taken.
  int missing() {
    return missing;
  }

  // Claiming memory

  /// Waits for memory for the missing blocks, all or nothing, then starts to read.
  ///
  /// @param told runs when the memory was granted or refused
  void claim(Runnable told) {
    listener = told;
    StoreUnavailableException why = reads.enter(this);
    if (why != null) { // other windows may hold all the memory until that store answers
      refuse(why);
      return;
    }
    try {
      ticket.hold(reads.memoryFor(blocks).claim(missingKeys(), drafts -> {
        grant(drafts);
        told.run();
      }, this::refuse));
    } catch (RuntimeException e) {
      refuse(e);
    }
  }

  /// Starts to read before the reader asks for the window, if half of the memory for windows stays free.
  ///
  /// @param told runs when a store that it reads from gives no blocks any more
  /// @return false if the memory is needed, or a store that it needs gives no blocks now; nothing was started then
  boolean prefetch(Runnable told) {
    listener = told;
    List<BlockKey> keys = missingKeys();
    SlabPart memory = reads.memoryFor(blocks);
    if (keys.isEmpty() || 2 * (memory.claimedSlots() + keys.size()) > memory.capacitySlots()) {
      return false;
    }
    List<BlockDraft> drafts;
    try {
      drafts = memory.tryClaim(keys);
    } catch (RuntimeException e) { // closed, or the system has no memory: the reader hears why when it asks
      return false;
    }
    if (drafts == null) {
      return false;
    }
    if (reads.enter(this) != null) {
      reads.leave(this);
      drafts.forEach(BlockDraft::close);
      return false;
    }
    grant(drafts);
    return true;
  }

  private void refuse(Throwable error) {
    refusal = error;
    listener.run();
  }

  private void grant(List<BlockDraft> drafts) {
    boolean begins;
    synchronized (this) {
      begins = !cleaned;
      reading = begins;
    }
    if (!begins) { // closed just before the grant
      drafts.forEach(BlockDraft::close);
      return;
    }
    try {
      reads.start(blocks, drafts).forEach(BlockDraft::close);
      blocks.forEach(block -> block.requireIntact(state.removals()));
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
      stepReads.run();
    }
  }

  private void refuseGranted(RuntimeException error) {
    refusal = error;
    cleanUp(true);
  }

  /// Whether it has its memory and reads.
  boolean isGranted() {
    return granted;
  }

  /// Why it gets no memory; null if it was not refused.
  @Nullable Throwable refusal() {
    return refusal;
  }

  // Stores that cease to give blocks

  /// Whether it waits for the store of `level`. In a decision.
  boolean needs(int level, AttachedStores stores) {
    return blocks.stream().anyMatch(block -> block.needs(level, stores));
  }

  /// A store that it waits for does not answer: its reader hears of it at once, its memory goes back when the store has
  /// answered.
  void interrupt(Throwable why) {
    if (granted) {
      progress.fail(why);
      progress.end();
    } else {
      refuse(why);
    }
  }

  // Reading

  /// Reads the next step of all missing blocks.
  private void readStep() {
    reads.read(blocks, steps.get(step)).subscribe(nothing -> {}, this::failed, this::stepRead);
  }

  /// The reader hears of the last step only when the blocks are sealed, so that it never gets half a window.
  private void stepRead() {
    step++;
    if (step == steps.size()) {
      land(); // also if its reader has what it asked for, and left
    } else if (isClosed() && step < steps.forReader()) {
      cleanUp(true);
    } else if (step == steps.forReader() && !reads.isPromoting(blocks)) {
      stopReading(); // without promotion, the layers that the reader did not ask for are of no use
    } else {
      progress.reached(step);
      stepReads.run();
    }
  }

  private void stopReading() {
    reads.leave(this);
    if (endsReading()) {
      cleanUp(true);
    } else {
      progress.reached(step);
    }
  }

  private void land() {
    reads.leave(this);
    try {
      reads.landed(seal());
    } catch (RuntimeException e) { // the store left something out
      blocks.stream().filter(WindowBlock::isIncomplete).forEach(each -> reads.notGiven(each.level(), List.of(each), e));
      failed(e);
      return;
    }
    boolean over;
    synchronized (this) {
      over = endsReading();
      cleaned = over;
    }
    if (over) {
      blocks.forEach(WindowBlock::close);
      progress.end();
    } else {
      progress.reached(step);
    }
  }

  private synchronized List<WindowBlock> seal() {
    List<WindowBlock> landed = blocks.stream().filter(WindowBlock::isRead).toList();
    landed.forEach(WindowBlock::seal);
    return landed;
  }

  /// Ends reading.
  ///
  /// @return whether its reader has left meanwhile
  private synchronized boolean endsReading() {
    reading = false;
    return isClosed();
  }

  private void failed(Throwable error) {
    progress.fail(Exceptions.unwrapMultiple(error).getFirst());
    cleanUp(true);
  }

  // Handing out

  @Override
  public Flux<LayerSlice> slices(int number) {
    return Flux.range(0, cuts.size()).concatMap(i -> progress.arrived(steps.until(cuts.get(i)))
        .map(here -> slice(i, number)), 1).doFinally(end -> close());
  }

  private LayerSlice slice(int i, int number) {
    try {
      return SlicePlan.slice(cuts, i, number, this);
    } catch (IllegalStateException e) { // a later step failed and took the bytes with it
      throw progress.reason(e);
    }
  }

  @Override
  public int position(int i) {
    return blocks.get(i).position();
  }

  @Override
  public synchronized LayerSpan span(int i, GranuleRange range) {
    return blocks.get(i).span(range);
  }

  @Override
  Mono<List<LeasedBlock>> blocks(BlockScope scope) {
    return progress.arrived(steps.size()).map(here -> handOver(scope)).doOnCancel(this::close);
  }

  private List<LeasedBlock> handOver(BlockScope scope) {
    if (!markClosed()) {
      throw closed();
    }
    List<LeasedBlock> leased = new ArrayList<>(blocks.size());
    blocks.forEach(each -> leased.add(new LeasedBlock(each.position(), scope.adopt(requireNonNull(each.block())))));
    return leased;
  }

  // The end

  @Override
  protected void free() {
    ticket.cancel();
    cleanUp(false);
  }

  /// Gives everything back, once; the reader, if it still waits, hears of the end.
  ///
  /// @param over whether the read into it has ended; before that, or while memory is just being granted, the thread
  ///     that reads or grants cleans up
  private void cleanUp(boolean over) {
    List<BlockDraft> drafts;
    synchronized (this) {
      if (cleaned || (reading && !over)) { // checked and set in one step: a grant comes before it or finds it
        return;
      }
      reading = false;
      cleaned = true;
      drafts = blocks.stream().filter(WindowBlock::isRead).map(WindowBlock::draft).toList();
    }
    reads.leave(this);
    reads.abandon(blocks);
    drafts.forEach(BlockDraft::close);
    blocks.forEach(WindowBlock::close);
    progress.end();
  }
}
