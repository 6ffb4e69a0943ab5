package io.penstock.pool;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.EvictionPolicy;
import io.penstock.block.SpaceId;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionPage;
import io.penstock.block.session.SessionUse;
import io.penstock.check.Checks;
import io.penstock.pool.evict.EvictionOrder;
import io.penstock.pool.evict.EvictionOrders;
import io.penstock.pool.evict.KeyTable;
import io.penstock.pool.evict.LevelBytes;
import io.penstock.pool.evict.LongColumn;
import io.penstock.pool.evict.LruList;
import io.penstock.pool.evict.SessionOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Decides hits and victims in reference order, as the textbook policy does: it touches a key, or inserts it and evicts
/// one key at a time.
///
/// The capacity may be divided into levels, fastest first. A key enters at level 0. A full level demotes its least
/// recently used key by one level; the last level evicts it. A use promotes a key to level 0. So the levels in sequence
/// hold the order of LRU over the whole capacity. FIFO does the same without promotions. The other policies choose the
/// key that is evicted by an [EvictionOrder], on whichever level it is; the levels above it then demote one key each.
/// Hits and victims do not depend on the division.
///
/// The ledger owns no memory of blocks; it tells the caller which keys it moved and evicted. Every operation is
/// O(levels), and growing copies 64 KiB at most. A key with a number costs 37 bytes in chunks of primitives; a key with
/// a value costs 8 more. Not thread-safe: the owner guards it.
///
/// @param <V> what the owner keeps of a key
public final class Ledger<V> {
  /// No limit on the number of blocks.
  public static final long UNBOUNDED = LruList.UNBOUNDED;

  private static final int NONE = KeyTable.NONE;

  private final EvictionPolicy policy;
  private final boolean isFifo;
  private @Nullable EvictionOrder order;
  private final List<LruList> levels = new ArrayList<>();
  private final KeyTable rows;
  private final LevelBytes levelOf = new LevelBytes();
  private final LedgerValues<V> values;
  private final Demotions<V> demotions;
  private final LongColumn uses = new LongColumn();
  private @Nullable LongSupplier clock;

  /// Receives each key that the policy moved. Must not call back.
  @FunctionalInterface
  public interface Moves<V> {
    /// `value` moved to `level`. The number of levels means that it was evicted.
    void moved(BlockKey key, V value, int level);

    /// Receives a moved key that has a number and was on `from`.
    default void movedNumber(BlockKey key, int number, int from, int level) {
      throw new IllegalStateException(
          "key must have a value to be moved (was " + key + ", with number " + number + ")");
    }
  }

  /// Says which level takes a key that is demoted. Must not call back.
  @FunctionalInterface
  public interface Gate<V> {
    /// Whether `level` takes `value`, for which a faster level has no room. A key that no level takes is evicted.
    boolean takes(V value, int level);

    /// Whether `level` takes a key that has a number.
    default boolean takesNumber(int level) {
      return true;
    }

    /// Reason that keeps `value` from being the victim. A key that is passed over counts as the most recently used.
    default Hold hold(V value) {
      return Hold.NONE;
    }

    /// Called when a key was passed over because of `hold`.
    default void passedOver(Hold hold) {}
  }

  /// @param space of all keys
  /// @param capacityBlocks most blocks of each level, fastest first; 1 to 127 of them, each [#UNBOUNDED] or above 0
  public Ledger(SpaceId space, EvictionPolicy policy, long... capacityBlocks) {
    this(new KeyTable(space, -1), policy, capacityBlocks);
  }

  Ledger(KeyTable rows, EvictionPolicy policy, long... capacityBlocks) {
    this.policy = policy;
    this.isFifo = requireNonNull(policy, "policy") == EvictionPolicy.FIFO;
    this.rows = rows;
    this.values = new LedgerValues<>(rows);
    if (capacityBlocks.length == 0 || capacityBlocks.length > Byte.MAX_VALUE) {
      throw new IllegalArgumentException(
          "capacityBlocks must be of 1 to " + Byte.MAX_VALUE + " levels (was " + capacityBlocks.length + ")");
    }
    for (long capacity : capacityBlocks) {
      levels.add(new LruList(rows, levelOf, levels.size(), capacity));
    }
    this.demotions = new Demotions<>(levels, rows, levelOf, values);
    order(sum(capacityBlocks));
  }

  private static long sum(long... capacities) {
    long sum = 0;
    for (long capacity : capacities) {
      sum = capacity > UNBOUNDED - sum ? UNBOUNDED : sum + capacity;
    }
    return sum;
  }

  /// Prepares the policy for `blocks` in all, since the levels may grow. Only while the ledger is empty.
  public Ledger<V> expect(long blocks) {
    order(blocks);
    return this;
  }

  private void order(long blocks) {
    order = EvictionOrders.of(policy, rows.space(), blocks, rows::key);
    demotions.order(order);
  }

  /// The sessions of the policy; null if it knows none.
  public @Nullable SessionOrder sessions() {
    return order instanceof SessionOrder sessions ? sessions : null;
  }

  /// Keys of a session: first those that other sessions have used since, some of which may be gone.
  ///
  /// @param after last key of the page before; null for the first page
  /// @param most keys of the page; the first one may have as many more as other sessions have used
  /// @return null if the policy knows no such session, or it does not have the key `after` any more
  public @Nullable SessionPage sessionKeys(SessionId session, @Nullable BlockKey after, int most) {
    SessionOrder known = sessions();
    int from = after == null ? NONE : rows.find(after);
    if (known == null || known.state(session) == null
        || (after != null && (from == NONE || !known.isOf(session, from)))) {
      return null;
    }
    List<BlockKey> keys = new ArrayList<>();
    if (after == null) {
      keys.addAll(known.lent(session));
    }
    int last = known.rows(session, from, Math.max(1, most - keys.size()), row -> keys.add(rows.key(row)));
    return new SessionPage(keys, last == NONE ? null : rows.key(last));
  }

  /// The session that still keeps `key`; null if none does, or the policy knows none.
  public @Nullable SessionUse session(BlockKey key) {
    SessionOrder known = sessions();
    int row = rows.find(key);
    return known == null || row == NONE ? null : known.keeping(row);
  }

  /// Asks `gate` about each key that is demoted; without it every level takes every key.
  public Ledger<V> gate(Gate<V> gate) {
    demotions.gate(requireNonNull(gate, "gate"));
    return this;
  }

  /// Remembers when each key was used, for 8 more bytes a key. Only while the ledger is empty.
  ///
  /// @param useClock of any unit, above 0; null to remember nothing
  public Ledger<V> timed(@Nullable LongSupplier useClock) {
    clock = useClock;
    return this;
  }

  private void used(int row) {
    if (clock != null) {
      uses.set(row, clock.getAsLong());
    }
  }

  /// When the least recently used key of the last level that has keys was used; unless another order chooses the
  /// victim, or a [Hold] keeps it, that key leaves next. FIFO counts no uses but the first. 0 if there is none, or uses
  /// are not [#timed].
  public long oldestUse() {
    for (LruList level : levels.reversed()) {
      if (level.size() > 0) {
        return clock == null ? 0 : uses.get(level.first());
      }
    }
    return 0;
  }

  /// The value of `key`, without counting as a use; null if it has none.
  public @Nullable V peek(BlockKey key) {
    int row = rows.find(key);
    return row == NONE || values.isNumber(row) ? null : values.value(row);
  }

  /// The number of `key`; −1 if it has none.
  public int number(BlockKey key) {
    int row = rows.find(key);
    return row == NONE || !values.isNumber(row) ? -1 : values.number(row);
  }

  /// The level of `key`; −1 if it is absent.
  public int level(BlockKey key) {
    int row = rows.find(key);
    return row == NONE ? -1 : levelOf.get(row);
  }

  /// Counts a use of `key`, which has no number, at an unknown position of its request.
  ///
  /// @see #touch(BlockKey, int, Moves)
  public @Nullable V touch(BlockKey key, Moves<V> moves) {
    return touch(key, 0, moves);
  }

  /// Counts a use of `key`, which has no number. Unless the policy is FIFO, that promotes the key to level 0, and
  /// demotes others.
  ///
  /// @param position of `key` in the request that names it, from 0
  /// @param moves receives the demoted keys, and `key` if its level changed
  /// @return its value; null if the key is absent
  public @Nullable V touch(BlockKey key, int position, Moves<V> moves) {
    int row = rows.find(key);
    if (row == NONE) {
      return null;
    }
    V value = values.value(row);
    if (order != null) {
      order.touched(row, key, position);
    }
    if (!isFifo) {
      promote(row, key, value, moves);
    }
    return value;
  }

  private void promote(int row, BlockKey key, V value, Moves<V> moves) {
    used(row);
    int before = levelOf.get(row);
    levels.get(before).unlink(row);
    if (before > 0) {
      demotions.makeRoom(0, row, moves);
    }
    levels.getFirst().link(row);
    if (before > 0) {
      moves.moved(key, value, 0);
      demotions.demoteFrom(0, moves);
    }
  }

  /// Counts a use of `key` at an unknown position of its request.
  ///
  /// @see #refresh(BlockKey, int)
  public @Nullable V refresh(BlockKey key) {
    return refresh(key, 0);
  }

  /// Counts a use of `key` that leaves it on its level, as the most recently used there unless the policy is FIFO.
  ///
  /// @param position of `key` in the request that names it, from 0
  /// @return its value; null if the key is absent
  public @Nullable V refresh(BlockKey key, int position) {
    int row = rows.find(key);
    if (row == NONE) {
      return null;
    }
    if (order != null) {
      order.touched(row, key, position);
    }
    if (!isFifo) {
      used(row);
      LruList list = levels.get(levelOf.get(row));
      list.unlink(row);
      list.link(row);
    }
    return values.value(row);
  }

  /// The `count` keys that leave `level` next; all its keys if it has fewer.
  public List<BlockKey> next(int level, int count) {
    List<BlockKey> next = new ArrayList<>(Math.min(count, size(level)));
    levels.get(level).first(count, row -> next.add(rows.key(row)));
    return next;
  }

  /// Adds `key`, which is absent, at an unknown position of its request.
  ///
  /// @see #insert(BlockKey, Object, int, Moves)
  public void insert(BlockKey key, V value, Moves<V> moves) {
    insert(key, value, 0, moves);
  }

  /// Adds `key`, which is absent, as the most recently used. Demotes or evicts another key if a level is full.
  ///
  /// @param position of `key` in the request that names it, from 0
  /// @param moves receives the demoted and evicted keys
  public void insert(BlockKey key, V value, int position, Moves<V> moves) {
    requireNonNull(value, "value");
    enter(0, key, position, row -> values.set(row, value), moves);
  }

  /// Adds `key`, which is absent, as the most recently used of `level`.
  public void insertAt(int level, BlockKey key, V value, Moves<V> moves) {
    requireNonNull(value, "value");
    enter(level, key, 0, row -> values.set(row, value), moves);
  }

  /// Adds `key` at `level` with a number instead of a value.
  public void insertNumberAt(int level, BlockKey key, int number, Moves<V> moves) {
    Checks.notNegative("number", number);
    enter(level, key, 0, row -> values.setNumber(row, number), moves);
  }

  private void enter(int level, BlockKey key, int position, IntConsumer setValue, Moves<V> moves) {
    requireAbsent(key);
    if (order != null) {
      order.missed(key);
      demotions.makeRoom(level, NONE, moves);
    }
    int row = rows.add(key);
    setValue.accept(row);
    used(row);
    levels.get(level).link(row);
    if (order != null) {
      order.inserted(row, key, position);
    }
    demotions.demoteFrom(level, moves);
  }

  private void requireAbsent(BlockKey key) {
    if (rows.find(key) != NONE) {
      throw new IllegalStateException("key must be absent to be inserted (was present, " + key + ")");
    }
  }

  /// Changes the value of `key`, which is present, without counting as a use.
  public void update(BlockKey key, V value) {
    values.replace(present(key), requireNonNull(value, "value"));
  }

  /// Gives `key` a number instead of its value or number.
  public void updateNumber(BlockKey key, int number) {
    Checks.notNegative("number", number);
    values.replaceNumber(present(key), number);
  }

  private int present(BlockKey key) {
    int row = rows.find(key);
    if (row == NONE) {
      throw new IllegalStateException("key must be present to be updated (was absent, " + key + ")");
    }
    return row;
  }

  /// Removes `key`, which has no number.
  ///
  /// @return its value; null if it was absent
  public @Nullable V remove(BlockKey key) {
    int row = rows.find(key);
    if (row == NONE) {
      return null;
    }
    V value = values.value(row);
    levels.get(levelOf.get(row)).unlink(row);
    if (order != null) {
      order.removed(row);
    }
    demotions.drop(row);
    return value;
  }

  /// Calls `reader` with some keys, so that many calls answer every key that stays meanwhile. Numbers are included.
  ///
  /// @param from 0, then what the call before answered
  /// @param count how many at least, as far as there are any
  /// @return where to go on; −1 after the last key
  public int scan(int from, int count, Consumer<BlockKey> reader) {
    return rows.scan(from, count, reader);
  }

  /// Removes everything.
  ///
  /// @return the values, next victim first; numbers are forgotten
  public List<V> clear() {
    List<V> kept = new ArrayList<>(values.values());
    for (LruList list : levels.reversed()) {
      forEachValue(list, row -> kept.add(values.value(row)));
      list.clear();
    }
    rows.clear();
    levelOf.clear();
    uses.clear();
    values.clear();
    if (order != null) {
      order.clear();
    }
    return kept;
  }

  /// Maximum number of keys of `level`.
  public long capacity(int level) {
    return levels.get(level).capacity();
  }

  /// Changes how many keys `level` may have, and demotes the victims beyond that.
  public void capacity(int level, long blocks, Moves<V> moves) {
    levels.get(level).capacity(blocks);
    while (levels.get(level).isTooFull()) {
      demotions.demoteFrom(level, moves);
    }
  }

  /// Demotes the next victim of `level`, or evicts one, as if the level were full and one more key arrived.
  ///
  /// @return false if every key there is held
  public boolean demoteNext(int level, Moves<V> moves) {
    return demotions.demoteNext(level, moves);
  }

  /// Demotes `key`, which has no number, as if it were the eviction victim of its level, also if it has a soft pin.
  /// Does nothing if another [Hold] keeps it.
  public void demote(BlockKey key, Moves<V> moves) {
    int row = present(key);
    int to = demotions.below(levelOf.get(row), row);
    Hold hold = demotions.hold(row);
    if (hold == Hold.SOFT_PIN || hold.frees(to == levels.size())) {
      demotions.demoteFrom(demotions.move(row, to, moves), moves);
    }
  }

  /// Makes `key`, which is present, the last to leave its level, without counting a use: a [Hold] keeps it.
  public void passOver(BlockKey key) {
    int row = present(key);
    demotions.passOver(row);
    LruList list = levels.get(levelOf.get(row));
    list.unlink(row);
    list.link(row);
  }

  public int size() {
    return rows.size();
  }

  /// Keys on `level`.
  public int size(int level) {
    return levels.get(level).size();
  }

  /// Calls `reader` with each key on `level` and its value, next victim first. Keys with a number are left out.
  public void forEach(int level, BiConsumer<BlockKey, V> reader) {
    forEachValue(levels.get(level), row -> reader.accept(rows.key(row), values.value(row)));
  }

  private void forEachValue(LruList list, IntConsumer reader) {
    list.forEach(row -> {
      if (!values.isNumber(row)) {
        reader.accept(row);
      }
    });
  }
}
