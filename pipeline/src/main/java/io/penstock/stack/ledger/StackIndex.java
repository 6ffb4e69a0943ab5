package io.penstock.stack.ledger;

import io.penstock.block.BlockKey;
import io.penstock.block.SlabPart;
import io.penstock.block.session.SessionBounds;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.block.session.SessionState;
import io.penstock.block.session.SessionUse;
import io.penstock.pool.Hold;
import io.penstock.pool.Ledger;
import io.penstock.pool.PrefixIndex;
import io.penstock.pool.evict.SessionOrder;
import io.penstock.stack.decision.DeferredActions;
import io.penstock.stack.decision.Pending;
import io.penstock.stack.decision.Resident;
import io.penstock.stack.decision.StackEntry;
import io.penstock.stack.decision.StackFigures;
import io.penstock.stack.decision.StoreCopy;
import io.penstock.stack.shape.StackShape;
import io.penstock.tier.spi.BlockStore;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// The ledger of a `TierStack`, and its entry for each key: a [Resident], a [Pending], or a number. Used in decisions
/// only.
///
/// Of a block whose bytes are on the last disk alone, and that no reader and no move needs, the ledger keeps only a
/// number. It becomes a [Resident] again when a caller asks for the block, or when the block leaves the ledger. The
/// close of the stack drops the numbers; their blocks stay on the disk.
public final class StackIndex {
  private final StackShape shape;
  private final StackFigures figures;
  private final StackHistory history;
  private final LevelStates states;
  private final StackTiering tiering;
  private final Ledger<StackEntry> ledger;
  /// The last level if it is a disk: its store gives the numbers. Else −1.
  private final int numbered;
  private final StackLookups lookups;
  private final @Nullable SessionOrder sessions;
  /// Blocks of room that the host level has from its share.
  private long added;

  public StackIndex(StackShape shape, StackFigures figures, StackHistory history, LevelStates states) {
    this.shape = shape;
    this.figures = figures;
    this.history = history;
    this.states = states;
    this.tiering = new StackTiering(shape);
    this.ledger = new Ledger<>(shape.info().space().id(), shape.options().policy(), shape.ledgerCapacities());
    this.numbered = shape.isDisk(shape.last()) ? shape.last() : -1;
    this.lookups = new StackLookups(shape, figures, states, this::places);
    ledger.expect(shape.info().capacityBlocks()).gate(new LedgerGate()).timed(shape.inputs().useMicros());
    this.sessions = ledger.sessions();
    if (sessions != null) {
      sessions.bounds(SessionBounds.defaults(), shape.inputs()::nanos);
    }
  }

  // Sessions

  /// Runs `work`, whose references are of `session`; null for none.
  ///
  /// @param isLookup whether `work` begins with the first key of a lookup
  public void during(@Nullable SessionUse session, boolean isLookup, Runnable work) {
    if (session == null || sessions == null) {
      work.run();
      return;
    }
    sessions.begin(session, isLookup);
    try {
      work.run();
    } finally {
      sessions.finish();
    }
  }

  /// Says in which state a session is. False if it is not known.
  public boolean session(SessionUse session, SessionState state) {
    boolean isEnd = sessions != null && state == SessionState.ENDED
        && sessions.state(session.session()) != SessionState.ENDED;
    boolean isKnown = sessions != null && sessions.state(session, state);
    if (isKnown && isEnd) {
      history.ended(session.session());
    }
    return isKnown;
  }

  /// Keys of the visible blocks of a session.
  ///
  /// @param after last key of the page before; null for the first page
  /// @return null if the session, or its key `after`, is not known
  public @Nullable SessionPage sessionKeys(SessionId session, @Nullable BlockKey after, int most) {
    SessionPage page = ledger.sessionKeys(session, after, most);
    if (page == null) {
      return null;
    }
    return new SessionPage(lookups.visible(page.keys()).stream().mapToObj(page.keys()::get).toList(), page.next());
  }

  /// The session that still keeps the block of `key`; null if none does.
  public @Nullable SessionUse session(BlockKey key) {
    return ledger.session(key);
  }

  // Looking up

  /// The entry of `key`, without counting as a use. Makes a [Resident] of a number.
  public @Nullable StackEntry find(BlockKey key, DeferredActions after) {
    StackEntry entry = ledger.peek(key);
    return entry == null && ledger.number(key) >= 0 ? fromNumber(key, after) : entry;
  }

  private Resident fromNumber(BlockKey key, DeferredActions after) {
    Resident block = resident(key, ledger.number(key), ledger.level(key));
    ledger.update(key, block);
    after.review(block);
    return block;
  }

  private Resident resident(BlockKey key, int number, int level) {
    StoreCopy copy = new StoreCopy(shape.store(numbered).fromNumber(key, number));
    return Resident.counted(key, level, figures, numbered, copy);
  }

  /// Look-ups of keys that can be read.
  public StackLookups lookups() {
    return lookups;
  }

  /// The level of `key`; −1 if the ledger does not have it.
  public int level(BlockKey key) {
    return ledger.level(key);
  }

  /// Places of the bytes of `key`, see [StackFigures#places]; 0 if it is not visible.
  private int places(BlockKey key) {
    if (ledger.number(key) >= 0) {
      return StackShape.place(numbered);
    }
    return ledger.peek(key) instanceof Resident block ? block.places() : 0;
  }

  /// The block of `key`; null if there is none, or only its number.
  public @Nullable Resident resident(BlockKey key) {
    return ledger.peek(key) instanceof Resident block ? block : null;
  }

  /// The block of `key`, if its bytes are in host memory.
  public @Nullable Resident inMemory(BlockKey key) {
    Resident block = resident(key);
    return block != null && block.isInMemory() ? block : null;
  }

  /// Visible blocks that `wanted` accepts, without the blocks that are only numbers.
  public List<Resident> residents(Predicate<Resident> wanted) {
    List<Resident> found = new ArrayList<>();
    for (int level = 0; level < figures.levels(); level++) {
      ledger.forEach(level, (key, entry) -> {
        if (entry instanceof Resident block && wanted.test(block)) {
          found.add(block);
        }
      });
    }
    return found;
  }

  /// Calls `reader` with some keys, see [Ledger#scan].
  public int scan(int from, int count, Consumer<BlockKey> reader) {
    return ledger.scan(from, count, reader);
  }

  /// The levels of the block of `key` as of its last event, a bit each; 0 if there is no such block.
  long told(BlockKey key) {
    if (ledger.number(key) >= 0) {
      return 1L << numbered;
    }
    return ledger.peek(key) instanceof Resident block ? block.told() : 0;
  }

  /// The next `count` eviction victims of `level`; all its blocks if it has fewer.
  public List<BlockKey> victims(int level, int count) {
    return ledger.next(level, count);
  }

  /// Makes `block`, which is held, the last victim of its level, without counting a use.
  public void passOver(Resident block) {
    ledger.passOver(block.key());
  }

  /// When the block that leaves next was used last, see [Ledger#oldestUse].
  public long oldestUse() {
    return ledger.oldestUse();
  }

  // Uses

  /// Counts a hit of `key`, which is on `level`, at `position` of a request. Promotes the key, if it was used often
  /// enough.
  public void hit(BlockKey key, int level, int position, DeferredActions after) {
    boolean promoted = tiering.promotes(key, level);
    figures.hit(level, promoted);
    if (promoted) {
      use(key, position, after);
    } else {
      ledger.refresh(key, position);
    }
  }

  /// Promotes `key`, which is about to be read, without counting a hit.
  public void promote(BlockKey key, int position, DeferredActions after) {
    use(key, position, after);
  }

  private void use(BlockKey key, int position, DeferredActions after) {
    ledger.touch(key, position, new LedgerListener(after));
  }

  // Writes

  /// Enters a key that is about to be written. If the ledger has a block of the key already, which no store gives now,
  /// that block stays and counts as used.
  public void enter(Pending pending, DeferredActions after) {
    if (find(pending.key(), after) == null) {
      pending.setListed(true);
      ledger.insert(pending.key(), pending, pending.position(), new LedgerListener(after));
    } else {
      use(pending.key(), pending.position(), after);
    }
  }

  /// Takes `pending` out of the ledger, if the ledger has it.
  public void unlist(Pending pending) {
    if (pending.isListed()) {
      ledger.remove(pending.key());
      pending.setListed(false);
    }
  }

  /// Puts `block`, which was written, in the place of its [Pending].
  public void show(Resident block, DeferredActions after) {
    ledger.update(block.key(), block);
    block.show();
    after.review(block);
  }

  /// `block` was written, and no decision has entered it before: it is the most recently used from now on.
  ///
  /// @param position of the block in the request that names it
  public void insert(Resident block, int position, DeferredActions after) {
    block.show();
    ledger.insert(block.key(), block, position, new LedgerListener(after));
    after.review(block);
  }

  // Room of the host level

  /// Present maximum number of blocks of the host level.
  public long hostCapacity() {
    return shape.levels().get(shape.host()).capacityBlocks() + added;
  }

  /// Present maximum number of blocks of `level`, without those that faster levels have in a write-through stack.
  public long capacity(int level) {
    return ledger.capacity(level);
  }

  /// Blocks for which `level` has room without evicting any.
  long free(int level) {
    return ledger.capacity(level) - ledger.size(level);
  }

  /// Changes the room of the host level by `more` blocks, or fewer if negative, and demotes blocks without room. In a
  /// write-through stack the next level keeps these blocks, too.
  public void resize(long more, DeferredActions after) {
    int host = shape.host();
    added += more;
    LedgerListener listener = new LedgerListener(after);
    if (shape.isWriteThrough() && host < shape.last() && ledger.capacity(host + 1) != Ledger.UNBOUNDED) {
      ledger.capacity(host + 1, Math.max(1, ledger.capacity(host + 1) - more), listener);
    }
    ledger.capacity(host, ledger.capacity(host) + more, listener);
  }

  /// Blocks that the ledger has on the host level.
  public long onHostLevel() {
    return ledger.size(shape.host());
  }

  /// Demotes up to `count` of the next victims of the host level, or evicts them if no level takes them.
  ///
  /// @return how many left the level; fewer if the others are held
  public int demoteFromHost(int count, DeferredActions after) {
    LedgerListener listener = new LedgerListener(after);
    int left = 0;
    while (left < count && ledger.demoteNext(shape.host(), listener)) {
      left++;
    }
    return left;
  }

  /// Whether the block of `key` is in memory, and has to stay in the stack.
  public boolean isKept(BlockKey key) {
    Resident block = inMemory(key);
    return block != null && isKept(block);
  }

  /// Whether a reader, a move, a lease or a hard pin holds `block`. A soft pin does not keep memory from a space that
  /// is below its share.
  private static boolean isKept(Resident block) {
    return block.isInUse() || block.isKept();
  }

  /// Demotes `key` from the host level, if its block is in `run` and neither in use nor kept.
  public void leave(BlockKey key, SlabPart.Run run, DeferredActions after) {
    Resident block = inMemory(key);
    if (block != null && !isKept(block) && run.has(block.hostBlock()) && ledger.level(key) == shape.host()) {
      ledger.demote(key, new LedgerListener(after));
    }
  }

  // Blocks that a store found

  /// Enters `block`, which a store found, on its level.
  public void enter(Resident block, DeferredActions after) {
    block.show();
    history.stored(block);
    ledger.insertAt(block.level(), block.key(), block, new LedgerListener(after));
    after.review(block);
  }

  /// Enters a block, which the store of `at` has under `number`, on `level`. False if the ledger keeps no numbers of
  /// that store.
  public boolean enter(BlockKey key, int number, int at, int level, DeferredActions after) {
    if (at != numbered) {
      return false;
    }
    figures.stored(numbered, 1);
    figures.inStoresOnly(1);
    figures.visible(level, 1);
    figures.readable(key, StackShape.place(numbered));
    history.stored(key, numbered);
    ledger.insertNumberAt(level, key, number, new LedgerListener(after));
    return true;
  }

  /// Keeps only a number of `block`, if a number is enough.
  ///
  /// @return whether it does, and so ended `block`
  public boolean keepNumber(Resident block) {
    if (numbered < 0 || !block.isIdleIn(numbered)) {
      return false;
    }
    int number = shape.store(numbered).toNumber(block.copy(numbered).block());
    if (number == BlockStore.NO_NUMBER) {
      return false;
    }
    history.reviewed(block);
    ledger.updateNumber(block.key(), number);
    block.becomeNumber(numbered);
    return true;
  }

  // Leaving

  /// Takes `block` out of the ledger.
  public void remove(Resident block, DeferredActions after) {
    ledger.remove(block.key());
    block.remove();
    after.review(block);
  }

  /// Takes everything out of the ledger.
  public List<StackEntry> clear() {
    PrefixIndex readable = figures.readable();
    if (readable != null) {
      readable.clear();
    }
    return ledger.clear();
  }

  /// Applies the moves and evictions of the ledger to the blocks, in one decision.
  private final class LedgerListener implements Ledger.Moves<StackEntry> {
    private final DeferredActions after;

    LedgerListener(DeferredActions after) {
      this.after = after;
    }

    @Override
    public void movedNumber(BlockKey key, int number, int from, int level) {
      if (level < figures.levels()) {
        figures.visible(from, -1);
        figures.visible(level, 1);
      } else {
        figures.readable(key, 0); // even if the store throws
        history.evicted(key, numbered, after);
        Resident block = resident(key, number, from);
        block.remove();
        after.review(block);
      }
    }

    @Override
    public void moved(BlockKey key, StackEntry entry, int level) {
      switch (entry) {
        case Pending pending -> pending.setListed(level < figures.levels());
        case Resident block -> moved(block, level);
      }
    }

    private void moved(Resident block, int level) {
      if (level < figures.levels()) {
        block.moveTo(level);
      } else {
        block.remove();
        history.evicted(block, after);
      }
      after.review(block);
    }
  }

  /// Says which level takes a demoted block. A store that takes no blocks now still keeps a copy that it has.
  private final class LedgerGate implements Ledger.Gate<StackEntry> {
    @Override
    public boolean takes(StackEntry entry, int level) {
      if (entry instanceof Resident block) {
        return block.isStored(level) || (states.takes(level) && tiering.offloads(block.key(), level));
      }
      return states.takes(level);
    }

    @Override
    public Hold hold(StackEntry entry) {
      if (!(entry instanceof Resident block)) {
        return Hold.NONE;
      }
      Hold strongest = block.strongestHold();
      return strongest == Hold.NONE && !shape.options().exact() && block.isInUse() ? Hold.IN_USE : strongest;
    }

    @Override
    public void passedOver(Hold hold) {
      figures.passedOver(hold);
    }

    @Override
    public boolean takesNumber(int level) {
      return level == numbered || states.takes(level);
    }
  }
}
