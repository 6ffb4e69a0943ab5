package io.penstock.stack.write;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.SlabPart;
import io.penstock.budget.Permits;
import io.penstock.stack.decision.Decisions;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Pending;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.hold.StackHolds;
import io.penstock.stack.move.HeldTicket;
import io.penstock.stack.move.OffloadQueue;
import io.penstock.stack.move.StackMemory;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.Presence;
import io.penstock.tier.Receipt;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierHolds.HoldLimitException;
import io.penstock.tier.TierHolds.PutTerms;
import java.time.Duration;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// A reservation of a `TierStack`: waits for slots, then holds drafts. Methods without a note are used in decisions.
final class StackReservation extends Reservation implements Pending.Writer, OffloadQueue.Writer {
  private final Decisions decisions;
  private final StackShape shape;
  private final StackHolds holds;
  private final OffloadQueue offloads;
  private final StackMemory memory;
  private final StackWrites writes;
  private final int keys;
  private final PutTerms terms;
  private final MonoSink<Reservation> sink;
  private final AtomicBoolean answered = new AtomicBoolean();
  private final BitSet skipped = new BitSet();
  private final BitSet duplicates = new BitSet();
  /// Receipts of the drafts that were committed. Used in decisions only.
  private final Map<BlockKey, Receipt> committed = new HashMap<>();
  private volatile boolean hasCommitted;
  /// Commits that wait for a store. Used in decisions only.
  private int committing;
  /// Keys that another writer took over. Used in decisions only.
  private final Set<BlockKey> lost = new HashSet<>();
  /// Keys that this reservation writes and has not committed. Used in decisions only.
  private final Map<BlockKey, Pending> pending = new LinkedHashMap<>();
  @GuardedBy("this") private List<BlockDraft> drafts = List.of();
  private final HeldTicket ticket = new HeldTicket();
  private volatile @Nullable Throwable failure;
  /// Slots that it waits for; 0 while it waits for the write queue.
  private volatile int slots;
  private volatile boolean inWriteQueue;
  /// Pins that its blocks will get. Used in decisions only.
  private int pins;

  StackReservation(Decisions decisions, StackShape shape, StackHolds holds, OffloadQueue offloads, StackMemory memory,
      StackWrites writes, int keys, PutTerms terms,
      MonoSink<Reservation> sink) {
    this.terms = terms;
    this.decisions = decisions;
    this.shape = shape;
    this.holds = holds;
    this.offloads = offloads;
    this.memory = memory;
    this.writes = writes;
    this.keys = keys;
    this.sink = sink;
  }

  /// Records that the key at `position` needs no draft.
  ///
  /// @param visible whether the block is there; else another reservation writes it
  void skip(int position, boolean visible) {
    skipped.set(position);
    duplicates.set(position, visible);
  }

  PutTerms terms() {
    return terms;
  }

  /// Counts `blocks` as pinned, before they are.
  ///
  /// @throws HoldLimitException if that would be too many
  void promisePins(int blocks) {
    holds.promisePins(blocks, terms);
    pins = blocks;
  }

  /// A block of this reservation is visible: it gets its pin and its group.
  void written(Resident block, DeferredActions after) {
    if (pins > 0) {
      pins--;
      holds.unpromisePins(1, terms);
    }
    holds.written(block, terms, after);
  }

  /// Gives up the pins of blocks that were not written.
  void endPins() {
    holds.unpromisePins(pins, terms);
    pins = 0;
  }

  @Override
  public void write(Pending block) {
    pending.put(block.key(), block);
  }

  /// Another writer takes over the write of `key`.
  @Override
  public void lose(BlockKey key) {
    pending.remove(key);
    lost.add(key);
  }

  /// Whether this reservation still writes all of `blocks` that no other writer took over.
  boolean writesAll(List<Block> blocks) {
    for (Block block : blocks) {
      if (!pending.containsKey(block.key()) && !lost.contains(block.key())) {
        return false;
      }
    }
    return true;
  }

  /// Records that a commit has begun, which ends later: no other writer takes its keys over.
  void startCommit() {
    committing++;
  }

  /// The commit has ended.
  void endCommit() {
    committing--;
  }

  @Override
  public boolean isCommitting() {
    return committing > 0;
  }

  /// Whether all of `some` are its drafts.
  boolean owns(List<BlockDraft> some) {
    List<BlockDraft> own = drafts();
    return own.equals(some) || new HashSet<>(own).containsAll(some);
  }

  void committed(Receipt receipt) {
    committed.put(receipt.key(), receipt);
    hasCommitted = true;
  }

  /// Whether some of its drafts were committed. Outside a decision, too.
  boolean hasCommitted() {
    return hasCommitted;
  }

  /// The receipts of `drafts` if all were committed before, but those that another writer took over; null if not.
  @Nullable List<Receipt> receipts(List<BlockDraft> drafts) {
    if (committed.isEmpty()) {
      return null;
    }
    List<Receipt> receipts = drafts.stream().map(draft -> committed.get(draft.key())).filter(Objects::nonNull).toList();
    boolean all = drafts.stream().allMatch(draft -> committed.containsKey(draft.key()) || lost.contains(draft.key()));
    return all && !receipts.isEmpty() && drafts().containsAll(drafts) ? receipts : null;
  }

  /// Ends and answers the write of `key`; null if the write was revoked.
  @Nullable Pending take(BlockKey key) {
    return pending.remove(key);
  }

  /// Ends and answers all writes.
  List<Pending> takeAll() {
    List<Pending> all = List.copyOf(pending.values());
    pending.clear();
    return all;
  }

  /// Records whether it waits for the write queue.
  @Override
  public void queued(boolean now) {
    inWriteQueue = now;
  }

  /// Starts to wait for `wanted` slots. Outside a decision.
  void wantSlots(int wanted) {
    slots = wanted;
  }

  /// Holds `taken`, the ticket of the wait for slots. Outside a decision.
  void waitFor(Permits.Ticket taken) {
    ticket.hold(taken);
  }

  /// Takes the drafts over, and answers the subscriber. Outside a decision.
  void granted(List<BlockDraft> lent) {
    synchronized (this) {
      drafts = List.copyOf(lent);
    }
    if (isClosed()) {
      lent.forEach(BlockDraft::close);
    } else if (decisions.isClosed()) { // another reservation, which the closing stack ended, made room
      fail(shape.closed());
    } else {
      succeed();
    }
  }

  void succeed() {
    if (answered.compareAndSet(false, true)) {
      sink.success(this);
    }
  }

  /// Whether it waits for nothing any more.
  boolean isAnswered() {
    return answered.get() || isClosed();
  }

  /// Ends its wait for room, which took `timeout`. Outside a decision.
  void refuse(Duration timeout) {
    if (answered.compareAndSet(false, true)) {
      SlabPart ingress = memory.ingress();
      int wanted = slots;
      end(wanted == 0
          ? offloads.timeout(keys, timeout)
          : new RoomTimeoutException(ingress.name(), wanted, ingress.capacitySlots() - ingress.claimedSlots(),
              timeout));
    }
  }

  private void end(Throwable error) {
    failure = error;
    close();
    sink.error(error);
  }

  /// Ends the reservation. The subscriber gets the error, unless it has the reservation already. Outside a decision.
  @Override
  public void fail(Throwable error) {
    failure = isClosed() ? failure : error;
    close();
    if (answered.compareAndSet(false, true)) {
      sink.error(error);
    }
  }

  @Override
  public synchronized List<BlockDraft> drafts() {
    return drafts;
  }

  @Override
  public @Nullable Throwable failure() {
    return failure;
  }

  @Override
  public Presence skipped() {
    return Presence.of(keys, skipped);
  }

  @Override
  public Presence duplicates() {
    return Presence.of(keys, duplicates);
  }

  @Override
  public Mono<List<Receipt>> commit(List<BlockDraft> complete) {
    return writes.commit(this, complete);
  }

  @Override
  protected void free() {
    if (inWriteQueue) {
      offloads.leave(this);
    }
    ticket.cancel();
    drafts().forEach(BlockDraft::close);
    writes.revoke(this);
  }
}
