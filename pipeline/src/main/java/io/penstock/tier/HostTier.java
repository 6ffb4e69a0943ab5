package io.penstock.tier;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.SlabArena;
import io.penstock.block.SpaceId;
import io.penstock.pool.Ledger;
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

/// Blocks in host memory (DRAM), in slabs, with an exact eviction policy.
///
/// A decision is one short critical section over a list of keys: touch, or insert and evict one at a time, in reference order. So hits
/// and victims equal the textbook policy whatever the streams do meanwhile. A key is in the books from the moment it is admitted or
/// reserved; its block is visible from the commit on. A victim leaves the books at once and its memory when its last lease ends, which
/// is what the reserve slots are for. Blocks are closed and readers are signalled outside the lock.
public final class HostTier implements BlockTier {
  private final TierInfo info;
  private final SpaceId space;
  private final HostTierOptions options;
  private final TierListener listener;
  private final SlabArena arena;
  private final EventLog events;

  private final Object lock = new Object();
  /// All below are guarded by `lock`.
  private final Ledger<HostEntry> ledger;
  private final Map<BlockKey, HostEntry.Pending> writing = new HashMap<>();
  private final Set<HostLease> leases = new LinkedHashSet<>();
  private final Set<HostReservation> reservations = new LinkedHashSet<>();
  private int visible;
  private long hits;
  private long misses;
  private long stored;
  private long evicted;
  private long corrupt;
  private boolean closed;

  public HostTier(CacheSpace space, HostTierOptions options, TierListener listener) {
    this.options = requireNonNull(options, "options");
    this.listener = requireNonNull(listener, "listener");
    this.info = new TierInfo(options.name(), Medium.HOST, space, options.capacityBlocks());
    this.space = space.id();
    this.arena = new SlabArena(options.name(), space.layout(), options.slots(), options.maxWaiters());
    this.events = new EventLog(options.eventLogSize());
    this.ledger = new Ledger<>(options.policy(), options.capacityBlocks());
  }

  @Override
  public TierInfo info() {
    return info;
  }

  /// The memory of this tier, for gauges.
  public BlockArena arena() {
    return arena;
  }

  boolean verifiesReads() {
    return options.verifyReads();
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
          present.set(i, ledger.peek(asked.get(i)) instanceof HostEntry.Resident);
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

  private HostLease decide(List<BlockKey> keys, OnMiss onMiss) {
    HostLease lease = new HostLease(this, keys.size());
    Aftermath after = new Aftermath();
    synchronized (lock) {
      requireOpen();
      leases.add(lease);
      for (int i = 0; i < keys.size(); i++) {
        decide(lease, i, keys.get(i), onMiss, after);
      }
      int hit = lease.hits.cardinality();
      hits += hit;
      misses += keys.size() - hit;
      after.hear(() -> listener.referenced(keys.size(), hit));
    }
    after.run();
    return lease;
  }

  private void decide(HostLease lease, int position, BlockKey key, OnMiss onMiss, Aftermath after) {
    HostEntry entry = ledger.peek(key);
    if (entry instanceof HostEntry.Resident resident) {
      ledger.touch(key);
      lease.hits.set(position);
      lease.found.set(position);
      lease.ready.add(new Leased(position, resident.block().share()));
    } else if (entry instanceof HostEntry.Pending pending && onMiss != OnMiss.SKIP) {
      ledger.touch(key);
      lease.hits.set(position);
      await(lease, position, pending);
    } else if (entry == null && onMiss != OnMiss.SKIP) {
      miss(lease, position, key, onMiss, after);
    }
  }

  private void miss(HostLease lease, int position, BlockKey key, OnMiss onMiss, Aftermath after) {
    HostEntry.Pending pending = writing.get(key); // chosen as victim while it is written
    if (onMiss == OnMiss.ADMIT) {
      if (pending == null) {
        pending = new HostEntry.Pending(key, lease);
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

  private static void await(HostLease lease, int position, HostEntry.Pending pending) {
    lease.awaited.set(position);
    lease.pending.add(pending);
    pending.await(lease, position);
  }

  private void list(HostEntry.Pending pending, Aftermath after) {
    pending.listed = true;
    ledger.insert(pending.key, pending, (key, victim) -> evict(key, victim, after));
  }

  private void evict(BlockKey key, HostEntry victim, Aftermath after) {
    switch (victim) {
      case HostEntry.Pending pending -> pending.listed = false;
      case HostEntry.Resident resident -> {
        visible--;
        drop(key, resident.block(), after);
      }
    }
  }

  private void drop(BlockKey key, Block block, Aftermath after) {
    evicted++;
    events.append(sequence -> new TierEvent.Evicted(sequence, key));
    after.hear(() -> listener.evicted(block.layout().blockBytes()));
    after.close(block);
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    List<BlockKey> asked = checked(keys);
    return Mono.create(sink -> {
      HostReservation reservation = scope.adopt(new HostReservation(this, asked.size(), sink));
      sink.onCancel(reservation::close);
      try {
        List<BlockKey> wanted = enter(reservation, asked);
        if (wanted.isEmpty()) {
          reservation.succeed();
        } else {
          reservation.waitsAt(arena.claim(wanted, reservation::granted, reservation::fail));
        }
      } catch (RuntimeException e) {
        reservation.fail(e);
      }
    });
  }

  /// Puts the keys that nobody has or writes into the books, in order, and answers them.
  private List<BlockKey> enter(HostReservation reservation, List<BlockKey> keys) {
    List<BlockKey> wanted = new ArrayList<>(keys.size());
    Aftermath after = new Aftermath();
    synchronized (lock) {
      requireOpen();
      if (reservation.isClosed()) { // its revocation has passed already, or finds everything below
        throw new CancellationException("reservation ended before its turn came");
      }
      reservations.add(reservation);
      for (int i = 0; i < keys.size(); i++) {
        BlockKey key = keys.get(i);
        HostEntry.Pending pending = writing.get(key);
        if (ledger.peek(key) instanceof HostEntry.Resident || (pending != null && pending.admittedBy == null)) {
          reservation.skipped.set(i);
          continue;
        }
        if (pending == null) {
          pending = new HostEntry.Pending(key, null);
          writing.put(key, pending);
          list(pending, after);
        }
        pending.admittedBy = null;
        reservation.pending.put(key, pending);
        wanted.add(key);
      }
    }
    after.run();
    return wanted;
  }

  List<Receipt> commit(HostReservation reservation, List<BlockDraft> complete) {
    requireMine(reservation, complete);
    for (BlockDraft draft : complete) {
      draft.requireComplete();
    }
    List<Block> blocks = sealed(complete);
    List<Receipt> receipts = new ArrayList<>(blocks.size());
    Aftermath after = new Aftermath();
    synchronized (lock) {
      if (closed || !reservation.pending.keySet().containsAll(blocks.stream().map(Block::key).toList())) {
        blocks.forEach(after::close); // the reservation was revoked meanwhile
      } else {
        for (Block block : blocks) {
          receipts.add(publish(reservation, block, after));
        }
        stored += blocks.size();
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

  private Receipt publish(HostReservation reservation, Block block, Aftermath after) {
    BlockKey key = block.key();
    HostEntry.Pending pending = requireNonNull(reservation.pending.remove(key), "a reserved key is being written");
    writing.remove(key);
    long sequence = events.append(number -> new TierEvent.Stored(number, key));
    for (HostEntry.Pending.Waiter waiter : pending.waiters()) {
      waiter.lease().ready.add(new Leased(waiter.position(), block.share()));
      settle(waiter.lease(), pending, after);
    }
    if (pending.listed) {
      ledger.update(key, new HostEntry.Resident(block));
      visible++;
    } else { // chosen as victim before its bytes came: those who waited have it, the tier does not keep it
      drop(key, block, after);
    }
    return new Receipt(key, info.name(), Durability.VOLATILE, sequence);
  }

  private void requireMine(HostReservation reservation, List<BlockDraft> complete) {
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

  private static void settle(HostLease lease, HostEntry.Pending pending, Aftermath after) {
    lease.waiting--;
    lease.pending.remove(pending);
    after.signal(lease);
  }

  /// Takes back what `reservation` had not committed.
  void revoke(HostReservation reservation) {
    Aftermath after = new Aftermath();
    synchronized (lock) {
      reservations.remove(reservation);
      reservation.pending.values().forEach(pending -> revoke(pending, after));
      reservation.pending.clear();
    }
    after.run();
  }

  private void revoke(HostEntry.Pending pending, Aftermath after) {
    if (!writing.remove(pending.key, pending)) {
      return;
    }
    if (pending.listed) {
      ledger.remove(pending.key);
    }
    for (HostEntry.Pending.Waiter waiter : pending.waiters()) {
      settle(waiter.lease(), pending, after);
    }
  }

  /// Ends `lease`: drops what it did not hand out, and the admissions that nobody took over.
  void end(HostLease lease) {
    Aftermath after = new Aftermath();
    synchronized (lock) {
      leases.remove(lease);
      lease.drop().forEach(after::close);
      for (HostEntry.Pending pending : List.copyOf(lease.pending)) {
        pending.forget(lease);
        if (pending.admittedBy == lease) {
          revoke(pending, after);
        }
      }
      lease.pending.clear();
    }
    after.run();
  }

  /// What a lease may hand out now.
  record Taken(List<Leased> blocks, boolean ended, @Nullable Throwable failure) {}

  Taken take(HostLease lease, int maxBlocks) {
    synchronized (lock) {
      if (closed && !lease.isClosed()) {
        return new Taken(List.of(), false, new TierClosedException(info.name()));
      }
      List<Leased> blocks = lease.poll(maxBlocks);
      return new Taken(blocks, lease.ready.isEmpty() && lease.waiting == 0 && !lease.isClosed(), null);
    }
  }

  /// Removes `block`, whose bytes differ from their checksum, so that nobody gets it again. A newer block of the same key stays.
  void quarantine(Block block) {
    Aftermath after = new Aftermath();
    synchronized (lock) {
      corrupt++;
      listener.corrupt();
      BlockKey key = block.key();
      if (ledger.peek(key) instanceof HostEntry.Resident resident && resident.block().sharesMemoryWith(block)) {
        ledger.remove(key);
        visible--;
        after.close(resident.block());
        events.append(sequence -> new TierEvent.Lost(sequence, key, "checksum mismatch"));
      }
    }
    after.run();
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    List<BlockKey> asked = checked(keys);
    return Mono.fromCallable(() -> {
      BitSet removed = new BitSet();
      Aftermath after = new Aftermath();
      synchronized (lock) {
        requireOpen();
        for (int i = 0; i < asked.size(); i++) {
          BlockKey key = asked.get(i);
          if (ledger.peek(key) instanceof HostEntry.Resident resident) {
            ledger.remove(key);
            visible--;
            removed.set(i);
            after.close(resident.block());
            events.append(sequence -> new TierEvent.Removed(sequence, key));
          }
        }
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
        return new TierStat(visible, info.capacityBlocks(), visible * blockBytes, arena.claimedSlots() * blockBytes, hits, misses,
            stored, evicted, corrupt, events.lastSequence());
      }
    });
  }

  /// Memory goes back to the system when the last lease has ended, which may be after this completes.
  @Override
  public Mono<Void> close() {
    return Mono.fromRunnable(this::closeNow);
  }

  private void closeNow() {
    List<HostLease> open;
    List<HostReservation> waiting;
    Aftermath after = new Aftermath();
    synchronized (lock) {
      if (closed) {
        return;
      }
      closed = true;
      open = List.copyOf(leases);
      waiting = List.copyOf(reservations);
      for (HostEntry entry : ledger.clear()) {
        if (entry instanceof HostEntry.Resident resident) {
          after.close(resident.block());
        }
      }
      writing.values().forEach(pending -> pending.listed = false);
      visible = 0;
    }
    TierClosedException reason = new TierClosedException(info.name());
    waiting.forEach(reservation -> reservation.fail(reason));
    open.forEach(HostLease::signal);
    open.forEach(HostLease::close);
    after.run();
    events.close();
    arena.close();
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

  /// What a critical section leaves to be done outside the lock: memory to free, readers to tell.
  private final class Aftermath {
    private final List<Block> blocks = new ArrayList<>(0);
    private final Set<HostLease> told = new LinkedHashSet<>(0);
    private final List<Runnable> heard = new ArrayList<>(1);

    void hear(Runnable report) {
      heard.add(report);
    }

    void close(Block block) {
      blocks.add(block);
    }

    void signal(HostLease lease) {
      told.add(lease);
    }

    /// Whoever waits is told even if memory cannot be given back, or the listener fails.
    void run() {
      try {
        blocks.forEach(Block::close);
      } finally {
        told.forEach(HostLease::signal);
        events.signal();
      }
      heard.forEach(Runnable::run);
    }
  }
}
