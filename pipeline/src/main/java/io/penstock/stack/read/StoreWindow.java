package io.penstock.stack.read;

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
import io.penstock.operator.Failures;
import io.penstock.operator.SerialLoop;
import io.penstock.stack.decision.LeaseItem;
import io.penstock.stack.move.HeldTicket;
import io.penstock.stack.move.Removals;
import io.penstock.stack.move.StoreWaiters;
import io.penstock.tier.LeasedBlock;
import io.penstock.tier.LeasedWindow;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.slice.SlicePlan;
import io.penstock.tier.spi.StoreUnavailableException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A window with blocks that are read from stores. It claims memory for all missing blocks at once. Then it reads a few
/// layers of each block at a time, in the order of sending, as fast as the stores give them; the demand of the reader
/// does not slow the reads.
///
/// The monitor guards the end of the window: reads, grants, closing. The thread of the read under way writes `step` and
/// the blocks. No decision of the stack is made under the monitor.
final class StoreWindow extends LeasedWindow implements SlicePlan.Spans, StoreWaiters.Waiter {
  private final WindowReads reads;
  private final Removals removals;
  private final List<WindowBlock> blocks;
  private final int missing;
  private final List<SlicePlan.Cut> cuts;
  private final ReadSteps steps;
  private final ReadProgress progress = new ReadProgress(StoreWindow::closed);
  private final SerialLoop stepReads = new SerialLoop(this::readStep, this::failed);
  private Runnable listener = () -> {};
  private volatile boolean granted;
  private volatile @Nullable Throwable refusal;
  /// The next step to read.
  private int step;
  private final HeldTicket ticket = new HeldTicket();
  /// Whether a read into the drafts is under way.
  @GuardedBy("this") private boolean reading;
  /// Whether [#cleanUp] or [#land] has given everything back.
  @GuardedBy("this") private boolean cleaned;

  StoreWindow(WindowReads reads, Removals removals, BlockLayout layout, List<LeaseItem> items, SliceShape shape) {
    this.reads = reads;
    this.removals = removals;
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

  /// Number of its blocks that were not in memory when the window was made.
  int missing() {
    return missing;
  }

  // Claiming memory

  /// Waits for memory for all missing blocks, then starts to read.
  ///
  /// @param told runs when the memory was granted or refused
  void claim(Runnable told) {
    listener = told;
    StoreUnavailableException why = reads.enter(this);
    if (why != null) { // waiting for memory is of no use: that store gives no blocks
      refuse(why);
      return;
    }
    try {
      ticket.hold(reads.memoryFor(blocks).claim(missingKeys(), drafts -> {
        grant(drafts);
        told.run();
      }, this::refuse));
    } catch (RuntimeException | Error e) {
      refuse(e);
    }
  }

  /// Starts to read before the reader asks for the window, if half of the transfer memory stays free.
  ///
  /// @param told runs when a store of this window ceases to give blocks
  /// @return false if memory is short, or a store of this window gives no blocks now; no read was started then
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
    } catch (RuntimeException | Error e) { // closed, or no memory: the reader gets the error when it asks
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
    refusal = Failures.passable(error);
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
      blocks.forEach(block -> block.requireIntact(removals));
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

  /// Whether the window has its memory, and so reads.
  boolean isGranted() {
    return granted;
  }

  /// Why the window gets no memory; null if it was not refused.
  @Nullable Throwable refusal() {
    return refusal;
  }

  // Stores that cease to give blocks

  @Override
  public boolean needs(int level) {
    return reads.needs(blocks, level);
  }

  /// Fails the reader at once, because a store of this window gives no blocks. The memory goes back when the store has
  /// answered.
  @Override
  public void interrupt(Throwable why) {
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

  /// Continues with the next step, or ends. The reader learns of the last step only when the blocks are sealed, so that
  /// it never gets half a window.
  private void stepRead() {
    step++;
    if (step == steps.size()) {
      land(); // even if the reader has left with the layers that it wanted
    } else if (isClosed() && step < steps.forReader()) {
      cleanUp(true);
    } else if (step == steps.forReader() && !reads.isPromoting(blocks)) {
      stopReading(); // only a promotion needs the layers that the reader left out
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
    } catch (RuntimeException | Error e) { // the store left something out
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
  /// @return whether the reader has left
  private synchronized boolean endsReading() {
    reading = false;
    return isClosed();
  }

  private void failed(Throwable error) {
    progress.fail(Failures.passable(Exceptions.unwrapMultiple(error).getFirst()));
    cleanUp(true);
  }

  // Handing out

  @Override
  protected Flux<LayerSlice> transferred(int number) {
    return Flux.range(0, cuts.size()).concatMap(i -> progress.arrived(steps.until(cuts.get(i)))
        .map(here -> slice(i, number)), 1).doFinally(end -> close());
  }

  private LayerSlice slice(int i, int number) {
    try {
      return SlicePlan.slice(cuts, i, number, this);
    } catch (IllegalStateException e) { // a later step failed, and its clean-up freed the bytes
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
  public Mono<List<LeasedBlock>> blocks(BlockScope scope) {
    return progress.arrived(steps.size()).map(here -> handOver(scope)).doOnCancel(this::close);
  }

  private List<LeasedBlock> handOver(BlockScope scope) {
    if (!markClosed()) {
      throw closed();
    }
    List<LeasedBlock> leased = new ArrayList<>(blocks.size());
    blocks.forEach(each -> leased.add(new LeasedBlock(each.position(), scope.adopt(requireNonNull(each.block())))));
    over();
    return leased;
  }

  // The end

  @Override
  protected void free() {
    ticket.cancel();
    cleanUp(false);
    over();
  }

  /// Gives everything back, once, and wakes the reader if it still waits.
  ///
  /// @param over whether the read has ended; else the thread that reads, or that grants the memory, cleans up later
  private void cleanUp(boolean over) {
    List<BlockDraft> drafts;
    synchronized (this) {
      if (cleaned || (reading && !over)) { // one step, so that a grant comes before it or sees `cleaned`
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
