package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabPart;
import io.penstock.block.SpaceId;
import io.penstock.pool.Ledger;
import io.penstock.tier.StackEntry.Pending;
import io.penstock.tier.StackEntry.Resident;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/// Tiers under one set of books: device memory, host memory and disk as one [BlockTier] with an exact eviction policy.
///
/// One ledger decides hit, victim, rise and descent, in one short critical section over a list of keys: touch, or insert and move down
/// one at a time, in reference order. So hits and victims equal the textbook policy over the sum of the levels, whatever the streams and
/// the copies do meanwhile. Bytes follow the books ([Mover]); until they are there, the block is read from where it is.
///
/// A key is in the books from the moment it is admitted or reserved; its block is visible from the commit on. A victim leaves the books
/// at once and its memory when its last reader ends, which is what the slots beyond the capacity are for. Blocks are closed, copies
/// started and readers signalled outside the lock.
public final class TierStack implements BlockTier {
  private final TierInfo info;
  private final SpaceId space;
  private final List<Level> levels;
  /// The level of host memory, −1 if there is none.
  private final int host;
  private final StackOptions options;
  private final TierListener listener;
  private final StackMemory memory;
  private final EventLog events;
  private final Mover mover;
  /// The last level's store, if a block has to be there before it is visible.
  private final @Nullable BlockStore through;

  private final Object lock = new Object();
  /// All below are guarded by `lock`.
  private final Ledger<StackEntry> ledger;
  private final Map<BlockKey, Pending> writing = new HashMap<>();
  private final Set<StackLease> leases = new LinkedHashSet<>();
  private final Set<StackReservation> reservations = new LinkedHashSet<>();
  /// Blocks that the decision being made has moved.
  private final Set<Resident> restless = new LinkedHashSet<>();
  private final long[] hitsOfLevel;
  private final long[] arrivals;
  private final int[] visibleOfLevel;
  private int visible;
  /// Blocks, visible or still leased, whose bytes are in stores alone.
  private int restingOnly;
  private long hits;
  private long misses;
  private long stored;
  private long evicted;
  private long corrupt;
  private boolean closed;

  /// @param levels fastest first; at most one of them host memory
  /// @throws IllegalArgumentException if the levels do not make a stack
  public TierStack(CacheSpace space, List<Level> levels, StackOptions options, TierListener listener) {
    this.options = requireNonNull(options, "options");
    this.listener = requireNonNull(listener, "listener");
    this.levels = List.copyOf(levels);
    this.host = StackShape.requireStack(space, this.levels, options.mode());
    this.ledger = new Ledger<>(options.policy(), StackShape.books(this.levels, options.mode()));
    this.info = new TierInfo(options.name(), this.levels.getFirst().medium(), space, ledger.capacityBlocks());
    this.space = space.id();
    this.memory = new StackMemory(space.layout(), this.levels, host, options);
    this.events = new EventLog(options.eventLogSize());
    this.mover = new Mover(this, lock, this.levels, host, options);
    this.through = options.mode() == StackMode.WRITE_THROUGH ? store(this.levels.size() - 1) : null;
    this.hitsOfLevel = new long[levels.size()];
    this.arrivals = new long[levels.size()];
    this.visibleOfLevel = new int[levels.size()];
    recover();
  }

  /// Takes what the stores kept from last time into the books, on their own level.
  private void recover() {
    Aftermath after = aftermath();
    synchronized (lock) {
      for (int level = 0; level < levels.size(); level++) {
        if (levels.get(level) instanceof Level.Stored stored) {
          for (Rest rest : stored.store().recovered()) {
            recover(level, rest, after);
          }
        }
      }
      reviewMoved(after);
    }
    after.run();
  }

  private void recover(int level, Rest rest, Aftermath after) {
    if (ledger.peek(rest.key()) != null) { // a faster level has it
      after.close(rest);
      return;
    }
    Resident resident = new Resident(rest.key(), level, levels.size());
    resident.places[level] = new Place(rest);
    counted(resident);
    shown(resident, 1);
    events.append(sequence -> new TierEvent.Stored(sequence, rest.key()));
    ledger.insertAt(level, rest.key(), resident, (key, entry, to) -> moved(key, entry, to, after));
  }

  @Override
  public TierInfo info() {
    return info;
  }

  /// The host memory of this tier, for gauges.
  public BlockArena arena() {
    return memory.arena;
  }

  StackMemory memory() {
    return memory;
  }

  SlabPart transfer() {
    return memory.transfer();
  }

  BlockStore store(int level) {
    return ((Level.Stored) levels.get(level)).store();
  }

  boolean hasStores() {
    return levels.size() > (host < 0 ? 0 : 1);
  }

  /// Most blocks of a window: there is memory for so many on their way up.
  int maxWindowBlocks() {
    return hasStores() ? options.transferBlocks() : Integer.MAX_VALUE;
  }

  boolean verifiesReads() {
    return options.verifyReads();
  }

  Aftermath aftermath() {
    return new Aftermath(events);
  }

  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    return contains(keys).map(Presence::prefix);
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    List<BlockKey> asked = checked(keys);
    return Mono.fromCallable(() -> {
      BitSet present = new BitSet();
      synchronized (lock) {
        requireOpen();
        for (int i = 0; i < asked.size(); i++) {
          present.set(i, ledger.peek(asked.get(i)) instanceof Resident);
        }
      }
      return Presence.of(asked.size(), present);
    });
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    List<BlockKey> asked = checked(keys);
    requireNonNull(onMiss, "onMiss");
    return Mono.create(sink -> {
      Lease lease = scope.adopt(decide(asked, onMiss));
      sink.onCancel(lease::close);
      sink.success(lease);
    });
  }

  private StackLease decide(List<BlockKey> keys, OnMiss onMiss) {
    StackLease lease = new StackLease(this, keys.size());
    Aftermath after = aftermath();
    synchronized (lock) {
      requireOpen();
      leases.add(lease);
      for (int i = 0; i < keys.size(); i++) {
        decide(lease, i, keys.get(i), onMiss, after);
      }
      reviewMoved(after);
      int hit = lease.hits.cardinality();
      hits += hit;
      misses += keys.size() - hit;
      after.hear(() -> listener.referenced(keys.size(), hit));
    }
    after.run();
    return lease;
  }

  private void decide(StackLease lease, int position, BlockKey key, OnMiss onMiss, Aftermath after) {
    StackEntry entry = ledger.peek(key);
    if (entry instanceof Resident resident) {
      hitsOfLevel[resident.level]++;
      touch(key, after);
      lease.hits.set(position);
      lease.found.set(position);
      lease.ready.add(item(position, resident));
    } else if (entry instanceof Pending pending && onMiss != OnMiss.SKIP) {
      hitsOfLevel[ledger.level(key)]++;
      touch(key, after);
      lease.hits.set(position);
      await(lease, position, pending);
    } else if (entry == null && onMiss != OnMiss.SKIP) {
      miss(lease, position, key, onMiss, after);
    }
  }

  private void touch(BlockKey key, Aftermath after) {
    ledger.touch(key, (moved, entry, level) -> moved(moved, entry, level, after));
  }

  /// A share of the block's memory, or the promise of it.
  private static StackLease.Item item(int position, Resident resident) {
    Block block = resident.host;
    if (block != null) {
      return new StackLease.Item(position, block.share(), null);
    }
    resident.pins++;
    return new StackLease.Item(position, null, resident);
  }

  private void miss(StackLease lease, int position, BlockKey key, OnMiss onMiss, Aftermath after) {
    Pending pending = writing.get(key); // chosen as victim while it is written
    if (onMiss == OnMiss.ADMIT) {
      if (pending == null) {
        pending = new Pending(key, lease);
        writing.put(key, pending);
        lease.admitted.set(position);
        lease.pending.add(pending);
        pending.await(lease, position);
      } else {
        await(lease, position, pending);
      }
      list(pending, after);
    } else if (pending != null) {
      await(lease, position, pending);
    }
  }

  private static void await(StackLease lease, int position, Pending pending) {
    lease.awaited.set(position);
    lease.pending.add(pending);
    pending.await(lease, position);
  }

  private void list(Pending pending, Aftermath after) {
    pending.listed = true;
    ledger.insert(pending.key, pending, (key, entry, level) -> moved(key, entry, level, after));
  }

  /// The books moved `entry`, or evicted it.
  private void moved(BlockKey key, StackEntry entry, int level, Aftermath after) {
    boolean leaves = level == levels.size();
    switch (entry) {
      case Pending pending -> pending.listed = !leaves;
      case Resident resident -> {
        shown(resident, -1);
        if (leaves) {
          dropped(key, after);
          leave(resident);
        } else {
          resident.level = level;
          shown(resident, 1);
          restless.add(resident);
        }
      }
    }
  }

  private void shown(Resident resident, int more) {
    visible += more;
    visibleOfLevel[resident.level] += more;
  }

  private void leave(Resident resident) {
    resident.gone = true;
    restless.add(resident);
  }

  private void reviewMoved(Aftermath after) {
    if (!restless.isEmpty()) {
      restless.forEach(resident -> mover.review(resident, after));
      restless.clear();
    }
  }

  private void dropped(BlockKey key, Aftermath after) {
    evicted++;
    events.append(sequence -> new TierEvent.Evicted(sequence, key));
    after.hear(() -> listener.evicted(info.space().layout().blockBytes()));
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    List<BlockKey> asked = checked(keys);
    return Mono.create(sink -> {
      StackReservation reservation = scope.adopt(new StackReservation(this, asked.size(), sink));
      sink.onCancel(reservation::close);
      try {
        List<BlockKey> wanted = enter(reservation, asked);
        if (wanted.isEmpty()) {
          reservation.succeed();
        } else {
          reservation.waitsAt(memory.ingress.claim(wanted, reservation::granted, reservation::fail));
        }
      } catch (RuntimeException e) {
        reservation.fail(e);
      }
    });
  }

  /// Puts the keys that nobody has or writes into the books, in order, and answers them.
  private List<BlockKey> enter(StackReservation reservation, List<BlockKey> keys) {
    List<BlockKey> wanted = new ArrayList<>(keys.size());
    Aftermath after = aftermath();
    synchronized (lock) {
      requireOpen();
      if (reservation.isClosed()) { // its revocation has passed already, or finds everything below
        throw new CancellationException("reservation ended before its turn came");
      }
      reservations.add(reservation);
      for (int i = 0; i < keys.size(); i++) {
        BlockKey key = keys.get(i);
        Pending pending = writing.get(key);
        if (ledger.peek(key) instanceof Resident || (pending != null && pending.admittedBy == null)) {
          reservation.skipped.set(i);
          continue;
        }
        if (pending == null) {
          pending = new Pending(key, null);
          writing.put(key, pending);
          list(pending, after);
        }
        pending.admittedBy = null;
        reservation.pending.put(key, pending);
        wanted.add(key);
      }
      reviewMoved(after);
    }
    after.run();
    return wanted;
  }

  Mono<List<Receipt>> commit(StackReservation reservation, List<BlockDraft> complete) {
    BlockStore below = through;
    if (below == null) {
      return Mono.fromCallable(() -> publish(reservation, sealed(reservation, complete), List.of()));
    }
    return Mono.create(sink -> {
      try {
        List<Block> blocks = sealed(reservation, complete);
        if (blocks.isEmpty()) {
          sink.success(List.of());
        } else {
          writeThrough(below, reservation, blocks, sink);
        }
      } catch (RuntimeException e) {
        sink.error(e);
      }
    });
  }

  /// Publishes when the bytes are below. The copy goes on when the caller leaves, and so does the commit.
  private void writeThrough(BlockStore below, StackReservation reservation, List<Block> blocks, MonoSink<List<Receipt>> sink) {
    below.put(blocks).subscribe(rests -> {
      try {
        sink.success(publish(reservation, blocks, rests));
      } catch (RuntimeException e) {
        sink.error(e);
      }
    }, error -> {
      blocks.forEach(Block::close);
      sink.error(error);
    });
  }

  private List<Block> sealed(StackReservation reservation, List<BlockDraft> complete) {
    requireMine(reservation, complete);
    for (BlockDraft draft : complete) {
      draft.requireComplete();
    }
    return sealed(complete);
  }

  /// @param rests where the blocks are at rest already; empty for nowhere
  private List<Receipt> publish(StackReservation reservation, List<Block> blocks, List<Rest> rests) {
    List<Receipt> receipts = new ArrayList<>(blocks.size());
    Aftermath after = aftermath();
    synchronized (lock) {
      if (closed || !reservation.pending.keySet().containsAll(blocks.stream().map(Block::key).toList())) {
        blocks.forEach(after::close); // the reservation was revoked meanwhile
        rests.forEach(after::close);
      } else {
        for (int i = 0; i < blocks.size(); i++) {
          receipts.add(publish(reservation, blocks.get(i), rests.isEmpty() ? null : rests.get(i), after));
        }
        stored += blocks.size();
        reviewMoved(after);
        after.hear(() -> listener.stored(blocks.size(), (long) blocks.size() * info.space().layout().blockBytes()));
      }
    }
    after.run();
    if (receipts.size() < blocks.size()) {
      throw ended();
    }
    return receipts;
  }

  /// Seals all drafts or, if one of them ended meanwhile, keeps none.
  private static List<Block> sealed(List<BlockDraft> drafts) {
    List<Block> blocks = new ArrayList<>(drafts.size());
    try {
      drafts.forEach(draft -> blocks.add(draft.seal()));
      return blocks;
    } catch (RuntimeException e) {
      blocks.forEach(Block::close);
      throw e;
    }
  }

  private Receipt publish(StackReservation reservation, Block block, @Nullable Rest rest, Aftermath after) {
    BlockKey key = block.key();
    Pending pending = requireNonNull(reservation.pending.remove(key), "a reserved key is being written");
    writing.remove(key);
    long sequence = events.append(number -> new TierEvent.Stored(number, key));
    for (StackEntry.Pending.Waiter waiter : pending.waiters()) {
      waiter.lease().ready.add(new StackLease.Item(waiter.position(), block.share(), null));
      settle(waiter.lease(), pending, after);
    }
    if (pending.listed) {
      settle(resident(block, rest));
    } else { // chosen as victim before its bytes came: those who waited have it, the tier does not keep it
      dropped(key, after);
      after.close(block);
      if (rest != null) {
        after.close(rest);
      }
    }
    return new Receipt(key, info.name(), through == null ? Durability.VOLATILE : through.durability(), sequence);
  }

  private Resident resident(Block block, @Nullable Rest rest) {
    Resident resident = new Resident(block.key(), ledger.level(block.key()), levels.size());
    resident.host = block;
    resident.atHost = host == 0;
    if (host == 0) {
      arrivals[0]++;
    }
    if (rest != null) {
      resident.places[levels.size() - 1] = new Place(rest);
      arrivals[levels.size() - 1]++;
    }
    return resident;
  }

  private void settle(Resident resident) {
    ledger.update(resident.key, resident);
    shown(resident, 1);
    restless.add(resident);
  }

  private void requireMine(StackReservation reservation, List<BlockDraft> complete) {
    if (reservation.isClosed()) {
      throw ended();
    }
    if (!new HashSet<>(reservation.drafts()).containsAll(complete)) {
      throw new IllegalArgumentException("drafts must be of this reservation (was another's)");
    }
  }

  private RuntimeException ended() {
    return isClosed() ? new TierClosedException(info.name()) : new IllegalStateException("reservation must be open (was closed)");
  }

  private static void settle(StackLease lease, Pending pending, Aftermath after) {
    lease.waiting--;
    lease.pending.remove(pending);
    after.signal(lease);
  }

  /// Takes back what `reservation` had not committed.
  void revoke(StackReservation reservation) {
    Aftermath after = aftermath();
    synchronized (lock) {
      reservations.remove(reservation);
      reservation.pending.values().forEach(pending -> revoke(pending, after));
      reservation.pending.clear();
    }
    after.run();
  }

  private void revoke(Pending pending, Aftermath after) {
    if (!writing.remove(pending.key, pending)) {
      return;
    }
    if (pending.listed) {
      ledger.remove(pending.key);
    }
    for (StackEntry.Pending.Waiter waiter : pending.waiters()) {
      settle(waiter.lease(), pending, after);
    }
  }

  /// Ends `lease`: drops what it did not hand out, and the admissions that nobody took over.
  void end(StackLease lease) {
    Aftermath after = aftermath();
    synchronized (lock) {
      leases.remove(lease);
      lease.drop().forEach(item -> giveUp(item, after));
      for (Pending pending : List.copyOf(lease.pending)) {
        pending.forget(lease);
        if (pending.admittedBy == lease) {
          revoke(pending, after);
        }
      }
      lease.pending.clear();
    }
    after.run();
  }

  private void giveUp(StackLease.Item item, Aftermath after) {
    if (item.block() != null) {
      after.close(item.block());
    } else {
      unpin(requireNonNull(item.promised()), after);
    }
  }

  /// Takes back what was taken and not read.
  void giveUp(List<StackLease.Item> items) {
    Aftermath after = aftermath();
    synchronized (lock) {
      items.forEach(item -> giveUp(item, after));
    }
    after.run();
  }

  private void unpin(Resident resident, Aftermath after) {
    resident.pins--;
    mover.review(resident, after);
  }

  /// What a lease may hand out now.
  record Taken(List<StackLease.Item> items, boolean ended, @Nullable Throwable failure) {}

  Taken take(StackLease lease, int maxBlocks) {
    Aftermath after = aftermath();
    Taken taken;
    synchronized (lock) {
      if (closed && !lease.isClosed()) {
        return new Taken(List.of(), false, new TierClosedException(info.name()));
      }
      List<StackLease.Item> items = lease.poll(maxBlocks);
      items.replaceAll(item -> redeemed(item, after));
      taken = new Taken(items, lease.ready.isEmpty() && lease.waiting == 0 && !lease.isClosed(), null);
    }
    after.run();
    return taken;
  }

  /// A share instead of the promise, if the bytes are in host memory now.
  private StackLease.Item redeemed(StackLease.Item item, Aftermath after) {
    Resident promised = item.promised();
    if (promised == null || promised.host == null) {
      return item;
    }
    StackLease.Item here = new StackLease.Item(item.position(), promised.host.share(), null);
    unpin(promised, after);
    return here;
  }

  /// Blocks whose bytes are being moved, or wait for room to be.
  int unsettledBlocks() {
    int[] count = {0};
    synchronized (lock) {
      for (int level = 0; level < levels.size(); level++) {
        ledger.forEach(level, (key, entry) -> count[0] += entry instanceof Resident resident && (resident.moving || resident.wait != null) ? 1 : 0);
      }
    }
    return count[0];
  }

  /// The block of `key` in host memory, if it is there now.
  @Nullable Block hostCopy(BlockKey key) {
    synchronized (lock) {
      return ledger.peek(key) instanceof Resident resident && resident.host != null ? resident.host.share() : null;
    }
  }

  // Windows on their way up

  /// Settles where the missing blocks are read, into which memory, and answers the memory that is not needed after all.
  List<BlockDraft> startReading(List<RisingWindow.Rising> blocks, List<BlockDraft> drafts) {
    List<BlockDraft> unused = new ArrayList<>(0);
    Aftermath after = aftermath();
    int next = 0;
    synchronized (lock) {
      for (RisingWindow.Rising rising : blocks) {
        if (!rising.isMissing()) {
          continue;
        }
        Resident resident = rising.promised();
        BlockDraft draft = drafts.get(next++);
        if (resident.host != null) {
          rising.block = resident.host.share();
          unpin(rising, after);
          unused.add(draft);
        } else {
          rising.draft = draft;
          rising.level = resident.fastestPlace();
          rising.place = requireNonNull(resident.places[rising.level], "a promised block is somewhere");
          rising.place.reads++;
        }
      }
    }
    after.run();
    return unused;
  }

  private void unpin(RisingWindow.Rising rising, Aftermath after) {
    if (rising.pinned) {
      rising.pinned = false;
      unpin(rising.promised(), after);
    }
  }

  /// The bytes of `blocks` are in host memory: they rise to where the books want them, if there is memory to wait in.
  void landed(List<RisingWindow.Rising> blocks) {
    Aftermath after = aftermath();
    synchronized (lock) {
      for (RisingWindow.Rising rising : blocks) {
        Resident resident = rising.promised();
        endReading(rising, after);
        if (mover.isWanted(resident)) {
          Block block = requireNonNull(rising.block).share();
          boolean direct = mover.belongsInHost(resident);
          after.then(() -> rise(resident, block, direct));
        }
        unpin(rising, after);
      }
    }
    after.run();
  }

  private void rise(Resident resident, Block block, boolean direct) {
    boolean atHost = direct && memory.resident().tryAdopt(block);
    boolean charged = atHost || memory.promotion().tryAdopt(block);
    Aftermath after = aftermath();
    synchronized (lock) {
      if (charged && !closed && mover.isWanted(resident)) {
        resident.host = block;
        resident.atHost = atHost;
        if (atHost) {
          arrivals[host]++;
        }
        counted(resident);
        mover.review(resident, after);
      } else {
        after.close(block);
      }
    }
    after.run();
  }

  /// Nobody will read `blocks` any further.
  void abandoned(List<RisingWindow.Rising> blocks) {
    Aftermath after = aftermath();
    synchronized (lock) {
      for (RisingWindow.Rising rising : blocks) {
        endReading(rising, after);
        unpin(rising, after);
      }
    }
    after.run();
  }

  private void endReading(RisingWindow.Rising rising, Aftermath after) {
    Place place = rising.place;
    if (place != null) {
      rising.place = null;
      mover.readEnded(rising.level, place, after);
    }
  }

  // For the mover, under the lock

  boolean isClosedNow() {
    return closed;
  }

  void arrived(int level, int blocks) {
    arrivals[level] += blocks;
  }

  /// Counts `resident` anew after its bytes came or went somewhere.
  void counted(Resident resident) {
    boolean now = resident.host == null && resident.fastestPlace() >= 0;
    if (now != resident.restingOnly) {
      resident.restingOnly = now;
      restingOnly += now ? 1 : -1;
    }
  }

  void countCorrupt(Aftermath after) {
    corrupt++;
    after.hear(listener::corrupt);
  }

  /// The block is gone against the stack's will.
  void lose(Resident resident, String reason, Aftermath after) {
    if (!resident.gone) {
      ledger.remove(resident.key);
      shown(resident, -1);
      resident.gone = true;
      events.append(sequence -> new TierEvent.Lost(sequence, resident.key, reason));
    }
    mover.review(resident, after);
  }

  /// Removes `resident`, read from a store with bytes that differ from their checksum.
  void quarantine(Resident resident) {
    Aftermath after = aftermath();
    synchronized (lock) {
      countCorrupt(after);
      lose(resident, "checksum mismatch", after);
    }
    after.run();
  }

  /// Removes `block`, whose bytes differ from their checksum, so that nobody gets it again. A newer block of the same key stays.
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

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    List<BlockKey> asked = checked(keys);
    return Mono.fromCallable(() -> {
      BitSet removed = new BitSet();
      Aftermath after = aftermath();
      synchronized (lock) {
        requireOpen();
        for (int i = 0; i < asked.size(); i++) {
          BlockKey key = asked.get(i);
          if (ledger.peek(key) instanceof Resident resident) {
            ledger.remove(key);
            shown(resident, -1);
            removed.set(i);
            leave(resident);
            events.append(sequence -> new TierEvent.Removed(sequence, key));
          }
        }
        reviewMoved(after);
      }
      after.run();
      return Presence.of(asked.size(), removed);
    });
  }

  @Override
  public Flux<TierEvent> events(long sequence) {
    Flux<TierEvent> history = events.after(sequence);
    return Flux.defer(() -> isClosed() ? Flux.error(new TierClosedException(info.name())) : history);
  }

  @Override
  public Mono<TierStat> stat() {
    return Mono.fromCallable(() -> {
      synchronized (lock) {
        requireOpen();
        long blockBytes = info.space().layout().blockBytes();
        return new TierStat(visible, info.capacityBlocks(), visible * blockBytes, (memory.arena.claimedSlots() + restingOnly) * blockBytes,
            hits, misses, stored, evicted, corrupt, events.lastSequence(), levelStats());
      }
    });
  }

  private List<LevelStat> levelStats() {
    int[] resting = new int[levels.size()];
    for (int level = 0; level < levels.size(); level++) {
      ledger.forEach(level, (key, entry) -> {
        if (entry instanceof Resident resident) {
          for (int i = 0; i < resting.length; i++) {
            resting[i] += mover.has(resident, i) ? 1 : 0;
          }
        }
      });
    }
    List<LevelStat> stats = new ArrayList<>(levels.size());
    for (int i = 0; i < levels.size(); i++) {
      Level level = levels.get(i);
      stats.add(new LevelStat(level.name(), level.medium(), level.capacityBlocks(), visibleOfLevel[i], resting[i], hitsOfLevel[i],
          arrivals[i]));
    }
    return stats;
  }

  /// What rests on disk stays there. Host memory goes back to the system when the last lease has ended, which may be after this
  /// completes.
  @Override
  public Mono<Void> close() {
    return Mono.defer(() -> {
      closeNow();
      List<Mono<Void>> stores = new ArrayList<>();
      for (Level level : levels) {
        if (level instanceof Level.Stored stored) {
          stores.add(stored.store().close());
        }
      }
      return Mono.whenDelayError(stores).doFinally(end -> memory.arena.close());
    });
  }

  private void closeNow() {
    List<StackLease> open;
    List<StackReservation> waiting;
    Aftermath after = aftermath();
    synchronized (lock) {
      if (closed) {
        return;
      }
      closed = true;
      open = List.copyOf(leases);
      waiting = List.copyOf(reservations);
      for (StackEntry entry : ledger.clear()) {
        if (entry instanceof Resident resident && resident.host != null) {
          after.close(resident.host);
        }
      }
      writing.values().forEach(pending -> pending.listed = false);
      visible = 0;
    }
    TierClosedException reason = new TierClosedException(info.name());
    waiting.forEach(reservation -> reservation.fail(reason));
    open.forEach(StackLease::signal);
    open.forEach(StackLease::close);
    after.run();
    events.close();
  }

  boolean isClosed() {
    synchronized (lock) {
      return closed;
    }
  }

  private void requireOpen() {
    if (closed) {
      throw new TierClosedException(info.name());
    }
  }

  private List<BlockKey> checked(List<BlockKey> keys) {
    List<BlockKey> copy = List.copyOf(keys);
    for (BlockKey key : copy) {
      if (!key.space().equals(space)) {
        throw new IllegalArgumentException("key must be of space " + space + " (was " + key + ")");
      }
    }
    if (new HashSet<>(copy).size() < copy.size()) {
      throw new IllegalArgumentException("keys must be distinct (was " + copy.size() + " keys with duplicates)");
    }
    return copy;
  }
}
