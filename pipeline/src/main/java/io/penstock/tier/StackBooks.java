package io.penstock.tier;

import io.penstock.tier.spi.BlockStore;
import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.ChunkSource;
import io.penstock.block.SpaceId;
import io.penstock.pool.Ledger;
import io.penstock.tier.StackEntry.Pending;
import io.penstock.tier.StackEntry.Resident;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The books of a [TierStack]: which key is on which level, what happened, and the one lock that guards it all.
///
/// Everything but the final fields is guarded by [#lock]. What a decision leaves to be done goes to an [Aftermath],
/// which runs outside.
final class StackBooks {
  final Object lock = new Object();
  final TierInfo info;
  final SpaceId space;
  final StackOptions options;
  final List<Level> levels;
  /// The level of host memory, −1 if there is none.
  final int host;
  final TierListener listener;
  final StackMemory memory;
  final EventLog events;
  final StackFigures figures;
  final Mover mover;
  final Docks docks;
  final Departures departures;
  final RisingWindows rising = new RisingWindows();
  final OffloadQueue queue;
  final List<Settling> settling = new CopyOnWriteArrayList<>();
  private final StackTiering tiering;
  private final Ledger<StackEntry> ledger;
  private final ColdBlocks cold;
  /// Blocks that the decision being made has moved.
  private final Set<Resident> restless = new LinkedHashSet<>();
  private boolean closed;

  StackBooks(CacheSpace space, List<Level> levels, StackOptions options, TierListener listener, LongSupplier nanos,
      ChunkSource chunks) {
    this.levels = List.copyOf(levels);
    this.options = options;
    this.listener = listener;
    this.host = StackShape.requireStack(space, this.levels, options.mode());
    this.ledger = new Ledger<StackEntry>(space.id(), options.policy(), StackShape.books(this.levels, options.mode()));
    this.info = new TierInfo(options.name(), this.levels.getFirst().medium(), space, ledger.capacityBlocks());
    this.space = space.id();
    this.memory = new StackMemory(space.layout(), this.levels, host, options, chunks);
    this.events = new EventLog(options.eventLogSize());
    this.figures = new StackFigures(this.levels, host);
    this.queue = new OffloadQueue(this, nanos);
    this.tiering = new StackTiering(this.levels, options, ledger.capacityBlocks());
    this.docks = new Docks(this.levels);
    this.mover = new Mover(this);
    this.departures = new Departures(this, ledger);
    this.cold = new ColdBlocks(this, ledger);
    ledger.gate(new StackGate(docks, tiering, this.levels.size() - 1));
  }

  Aftermath aftermath() {
    return new Aftermath(events, settling);
  }

  long blockBytes() {
    return info.space().layout().blockBytes();
  }

  boolean hasStores() {
    return levels.size() > (host < 0 ? 0 : 1);
  }

  BlockStore store(int level) {
    return ((Level.Stored) levels.get(level)).store();
  }

  boolean isClosed() {
    synchronized (lock) {
      return closed;
    }
  }

  TierClosedException closedException() {
    return new TierClosedException(info.name());
  }

  // All below under the lock

  boolean isClosedNow() {
    return closed;
  }

  void requireOpen() {
    if (closed) {
      throw closedException();
    }
  }

  /// What there is of `key`: a decision that ends with [#reviewMoved], for the block may have been cold.
  @Nullable StackEntry peek(BlockKey key) {
    StackEntry entry = ledger.peek(key);
    if (entry != null) {
      return entry;
    }
    Resident resident = cold.fromNumber(key);
    if (resident != null) {
      restless.add(resident);
    }
    return resident;
  }

  /// Whether `key` can be had now.
  private boolean isVisible(BlockKey key) {
    return (ledger.peek(key) instanceof Resident resident && docks.isReadable(resident)) || cold.has(key);
  }

  /// Keeps as little of `resident` as will do, after it was looked after.
  ///
  /// @return whether that is just a number, and this object is over
  boolean cool(Resident resident) {
    return cold.toNumber(resident);
  }

  int level(BlockKey key) {
    return ledger.level(key);
  }

  /// Counts a use of `key`, which is not visible now.
  void use(BlockKey key, Aftermath after) {
    ledger.touch(key, new Followed(this, cold, after));
  }

  /// Counts a use of `key`, which is on `level`.
  void touch(BlockKey key, int level, Aftermath after) {
    figures.hit(level);
    if (tiering.rises(key, level)) {
      use(key, after);
    } else {
      figures.held++;
      ledger.refresh(key);
    }
  }

  /// Puts a key into the books that is written. What cannot be had now stays in them instead, as if it had been used.
  void enter(Pending pending, Aftermath after) {
    if (peek(pending.key) == null) {
      list(pending, after);
    } else {
      use(pending.key, after);
    }
  }

  private void list(Pending pending, Aftermath after) {
    pending.listed = true;
    ledger.insert(pending.key, pending, new Followed(this, cold, after));
  }

  void unlist(Pending pending) {
    if (pending.listed) {
      ledger.remove(pending.key);
      pending.listed = false;
    }
  }

  /// Shows a block that was pending.
  void show(Resident resident) {
    ledger.update(resident.key, resident);
    figures.shown(resident, 1);
    changed(resident);
  }

  /// Looks after the bytes of whatever the decision has moved: the end of every decision.
  void reviewMoved(Aftermath after) {
    if (!restless.isEmpty()) {
      restless.forEach(resident -> mover.review(resident, after));
      restless.clear();
    }
  }

  /// Takes over what the store of `level` found.
  void recover(int level, Aftermath after) {
    store(level).recover(new Recovering(this, level, after));
    reviewMoved(after);
  }

  /// Enters a block found at opening, which is not in the books, on `resident.level`.
  void enter(Resident resident, Aftermath after) {
    figures.counted(resident);
    figures.shown(resident, 1);
    events.append(sequence -> new TierEvent.Stored(sequence, resident.key));
    ledger.insertAt(resident.level, resident.key, resident, new Followed(this, cold, after));
    restless.add(resident);
  }

  /// The same of one that rests on `at` under `number`, and enters on `start`; false if it cannot be cold.
  boolean enter(BlockKey key, int number, int at, int start, Aftermath after) {
    return cold.found(key, number, at, start, new Followed(this, cold, after));
  }

  /// Forgets a write of `key` that began when the store could not look for it.
  void unlistWrite(BlockKey key) {
    if (ledger.peek(key) instanceof Pending pending) {
      unlist(pending);
    }
  }

  /// Something about `resident` changed.
  void changed(Resident resident) {
    figures.counted(resident);
    disturbed(resident);
  }

  /// `resident` is looked after at the end of the decision.
  void disturbed(Resident resident) {
    restless.add(resident);
  }

  /// Which of `keys` are visible.
  BitSet visible(List<BlockKey> keys) {
    BitSet present = new BitSet();
    for (int i = 0; i < keys.size(); i++) {
      present.set(i, isVisible(keys.get(i)));
    }
    return present;
  }

  /// Visible blocks that are as `asked`, of those that are not cold.
  List<Resident> residents(Predicate<Resident> asked) {
    List<Resident> found = new ArrayList<>();
    for (int level = 0; level < levels.size(); level++) {
      ledger.forEach(level, (key, entry) -> {
        if (entry instanceof Resident resident && asked.test(resident)) {
          found.add(resident);
        }
      });
    }
    return found;
  }

  /// A share of the block of `key` in host memory, if it is there now.
  @Nullable Block hostCopy(BlockKey key) {
    return ledger.peek(key) instanceof Resident resident && resident.host != null ? resident.host.share() : null;
  }

  /// Ends the books; host memory goes, what rests in stores stays until [Mover#storesClosed].
  void close(Aftermath after) {
    settling.forEach(each -> each.close(after));
    closed = true;
    mover.close(ledger.clear(), after);
  }
}
