package io.penstock.tier;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.ChunkSource;
import io.penstock.block.SpaceId;
import io.penstock.pool.Ledger;
import io.penstock.tier.StackEntry.Pending;
import io.penstock.tier.StackEntry.Resident;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// The books of a [TierStack]: which key is on which level, what happened, and the one lock that guards it all.
///
/// Everything but the final fields is guarded by [#lock]. What a decision leaves to be done goes to an [Aftermath], which runs outside.
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
  final OffloadQueue queue;
  private final StackTiering tiering;
  private final Ledger<StackEntry> ledger;
  private final ColdBlocks cold;
  /// Blocks that the decision being made has moved.
  private final Set<Resident> restless = new LinkedHashSet<>();
  /// Windows that wait for memory, or for bytes from below.
  private final Set<RisingWindow> rising = new LinkedHashSet<>();
  private boolean closed;

  /// Blocks above a store that are looked at for each that has to go: few of them have a copy there.
  private static final int LOOKED_AT = 8;

  StackBooks(CacheSpace space, List<Level> levels, StackOptions options, TierListener listener, LongSupplier nanos,
      ChunkSource chunks) {
    this.levels = List.copyOf(levels);
    this.options = options;
    this.listener = listener;
    this.host = StackShape.requireStack(space, this.levels, options.mode());
    this.ledger = new Ledger<StackEntry>(space.id(), options.policy(), StackShape.books(this.levels, options.mode())).gate(gate());
    this.info = new TierInfo(options.name(), this.levels.getFirst().medium(), space, ledger.capacityBlocks());
    this.space = space.id();
    this.memory = new StackMemory(space.layout(), this.levels, host, options, chunks);
    this.events = new EventLog(options.eventLogSize());
    this.figures = new StackFigures(this.levels, host);
    this.queue = new OffloadQueue(this, nanos);
    this.tiering = new StackTiering(this.levels, options, ledger.capacityBlocks());
    this.mover = new Mover(this);
    this.cold = new ColdBlocks(this, ledger);
  }

  Aftermath aftermath() {
    return new Aftermath(events);
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

  /// Removes `block`, whose bytes in host memory differ from their checksum, so that nobody gets it again. A newer block of the same key
  /// stays. Not under the lock.
  void quarantine(Block block) {
    Aftermath after = aftermath();
    synchronized (lock) {
      countCorrupt(after);
      if (ledger.peek(block.key()) instanceof Resident resident && resident.host != null && resident.host.sharesMemoryWith(block)) {
        lose(resident, "checksum mismatch", after);
      }
    }
    after.run();
  }

  /// The store of `level` found the block of `key` damaged: what else there is of it stays. Not under the lock.
  void damaged(int level, BlockKey key) {
    Aftermath after = aftermath();
    synchronized (lock) {
      if (!closed && peek(key) instanceof Resident resident && resident.places[level] != null
          && !store(level).isSound(resident.places[level].rest)) {
        countCorrupt(after);
        if (resident.hasOtherThan(level)) {
          mover.dropPlace(resident, level, after);
          restless.add(resident);
        } else {
          lose(resident, "checksum mismatch", after);
        }
      }
      reviewMoved(after);
    }
    after.run();
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
    Resident resident = cold.warm(key);
    if (resident != null) {
      restless.add(resident);
    }
    return resident;
  }

  /// Whether `key` can be had now.
  private boolean isVisible(BlockKey key) {
    return (ledger.peek(key) instanceof Resident resident && mover.isReadable(resident)) || cold.has(key);
  }

  /// Keeps as little of `resident` as will do, after it was looked after.
  ///
  /// @return whether that is just a number, and this object is over
  boolean cool(Resident resident) {
    return cold.cool(resident);
  }

  int level(BlockKey key) {
    return ledger.level(key);
  }

  private Ledger.Gate<StackEntry> gate() {
    return new Ledger.Gate<>() {
      @Override
      public boolean takes(StackEntry entry, int level) {
        return StackBooks.this.takes(entry, level);
      }

      @Override
      public boolean takesNumber(int level) {
        return level == levels.size() - 1 || mover.takes(level);
      }
    };
  }

  /// Whether `entry` may sink to `level`: what a store does not take now leaves, unless it rests there already.
  private boolean takes(StackEntry entry, int level) {
    if (entry instanceof Resident resident) {
      return resident.places[level] != null || (mover.takes(level) && tiering.offloads(resident.key, level));
    }
    return mover.takes(level);
  }

  /// Counts a use of `key`, which is not visible now.
  void use(BlockKey key, Aftermath after) {
    ledger.touch(key, new Followed(after));
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
    ledger.insert(pending.key, pending, new Followed(after));
  }

  void unlist(Pending pending) {
    if (pending.listed) {
      ledger.remove(pending.key);
      pending.listed = false;
    }
  }

  /// Gives a block whose bytes could not be had the bytes that somebody wrote anew.
  ///
  /// @param rest where they are at rest, too; dropped if they rest there already
  void revive(Resident resident, Block block, @Nullable Rest rest, Aftermath after) {
    int last = levels.size() - 1;
    if (resident.host == null) { // also while a store reads it that may not answer: what comes late is dropped
      resident.host = block;
      resident.atHost = host == 0;
      if (resident.atHost) {
        figures.arrived(0);
      }
    } else {
      after.close(block);
    }
    if (rest != null && resident.places[last] == null) {
      resident.places[last] = new Place(rest);
      figures.arrived(last);
    } else if (rest != null) {
      after.close(rest);
    }
    figures.counted(resident);
    restless.add(resident);
  }

  /// Shows a block that was pending.
  void show(Resident resident) {
    ledger.update(resident.key, resident);
    figures.shown(resident, 1);
    changed(resident);
  }

  /// Looks after what the ledger moves in one decision.
  private final class Followed implements Ledger.Moves<StackEntry> {
    private final Aftermath after;

    Followed(Aftermath after) {
      this.after = after;
    }

    @Override
    public void moved(BlockKey key, StackEntry entry, int level) {
      StackBooks.this.moved(key, entry, level, after);
    }

    @Override
    public void movedNumber(BlockKey key, int number, int from, int level) {
      Resident leaving = cold.moved(key, number, from, level);
      if (leaving != null) {
        StackBooks.this.moved(key, leaving, level, after);
      }
    }
  }

  /// The ledger moved `entry`, or evicted it.
  private void moved(BlockKey key, StackEntry entry, int level, Aftermath after) {
    boolean leaves = level == levels.size();
    switch (entry) {
      case Pending pending -> pending.listed = !leaves;
      case Resident resident -> {
        figures.shown(resident, -1);
        if (leaves) {
          evicted(key, after);
          resident.gone = true;
        } else {
          resident.level = level;
          figures.shown(resident, 1);
        }
        restless.add(resident);
      }
    }
  }

  /// The block leaves because there is no place for it.
  void evict(Resident resident, Aftermath after) {
    if (!resident.gone && !closed) {
      strike(resident);
      evicted(resident.key, after);
    }
    mover.review(resident, after);
  }

  /// Gives up blocks that rest in the store of `level`: copies of what is wanted higher up first where nothing else is promised, then who would
  /// leave next.
  int giveBack(int level, int blocks, Aftermath after) {
    int given = 0;
    for (int from = levels.size() - 1; from >= 0 && given < blocks && !closed; from--) {
      for (BlockKey key : ledger.next(from, from == level ? blocks : LOOKED_AT * blocks)) {
        if (given < blocks && peek(key) instanceof Resident resident && resident.places[level] != null) {
          giveBack(resident, level, after);
          given++;
        }
      }
    }
    reviewMoved(after);
    figures.givenBack += given;
    return given;
  }

  private void giveBack(Resident resident, int level, Aftermath after) {
    if (options.mode() == StackMode.EXCLUSIVE && resident.level != level && resident.host != null) {
      mover.dropPlace(resident, level, after);
    } else {
      evict(resident, after);
    }
  }

  void evicted(BlockKey key, Aftermath after) {
    figures.evicted++;
    events.append(sequence -> new TierEvent.Evicted(sequence, key));
    after.hear(() -> listener.evicted(blockBytes()));
  }

  /// Looks after the bytes of whatever the decision has moved: the end of every decision.
  void reviewMoved(Aftermath after) {
    if (!restless.isEmpty()) {
      restless.forEach(resident -> mover.review(resident, after));
      restless.clear();
    }
  }

  /// Removes `key` at somebody's wish; false if it is not visible.
  boolean remove(BlockKey key) {
    if (!(peek(key) instanceof Resident resident)) {
      return false;
    }
    strike(resident);
    restless.add(resident);
    events.append(sequence -> new TierEvent.Removed(sequence, key));
    return true;
  }

  private void strike(Resident resident) {
    ledger.remove(resident.key);
    figures.shown(resident, -1);
    resident.gone = true;
  }

  /// The block is gone against the stack's will.
  void lose(Resident resident, String reason, Aftermath after) {
    if (!resident.gone && !resident.released && !closed) {
      strike(resident);
      events.append(sequence -> new TierEvent.Lost(sequence, resident.key, reason));
      after.hear(() -> listener.lost(1));
    }
    mover.review(resident, after);
  }

  void countCorrupt(Aftermath after) {
    figures.corrupt++;
    after.hear(listener::corrupt);
  }

  void rises(RisingWindow window) {
    rising.add(window);
  }

  void risen(RisingWindow window) {
    rising.remove(window);
  }

  /// The store of `level` gives nothing now: whoever waits for it hears so, and goes on without.
  void interrupt(int level, StoreUnavailableException why, Aftermath after) {
    for (RisingWindow window : rising) {
      if (window.needs(level)) {
        after.then(() -> window.interrupt(why));
      }
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
    ledger.insertAt(resident.level, resident.key, resident, new Followed(after));
    restless.add(resident);
  }

  /// The same of one that rests on `at` under `number`, and enters on `start`; false if it cannot be cold.
  boolean enter(BlockKey key, int number, int at, int start, Aftermath after) {
    return cold.found(key, number, at, start, new Followed(after));
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

  /// Blocks whose bytes are being moved, or wait for room to be.
  int unsettledBlocks() {
    int[] count = {0};
    for (int level = 0; level < levels.size(); level++) {
      ledger.forEach(level, (key, entry) ->
          count[0] += entry instanceof Resident resident && (resident.moving || resident.wait != null) ? 1 : 0);
    }
    return count[0];
  }

  /// A share of the block of `key` in host memory, if it is there now.
  @Nullable Block hostCopy(BlockKey key) {
    return ledger.peek(key) instanceof Resident resident && resident.host != null ? resident.host.share() : null;
  }

  /// Ends the books; host memory goes, what rests in stores stays until [Mover#storesClosed].
  void close(Aftermath after) {
    closed = true;
    mover.close(ledger.clear(), after);
  }
}
