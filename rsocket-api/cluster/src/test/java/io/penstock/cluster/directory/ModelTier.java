package io.penstock.cluster.directory;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockScope;
import io.penstock.testkit.Blocks;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Lease;
import io.penstock.tier.Medium;
import io.penstock.tier.OnMiss;
import io.penstock.tier.Presence;
import io.penstock.tier.Reservation;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierEvent.Level;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierStat;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// A tier without bytes: it has keys on levels, which tests put, move and drop, and it tells its followers, as they
/// ask. Safe from any thread.
public final class ModelTier implements BlockTier {
  public static final Level DRAM = new Level("dram", Medium.HOST);
  public static final Level SSD = new Level("ssd", Medium.DISK);
  private static final List<Level> ORDER = List.of(DRAM, SSD);

  private final int log;
  private final Map<BlockKey, List<Level>> levels = new LinkedHashMap<>();
  private final Set<Level> down = new HashSet<>();
  private final List<Follower> followers = new CopyOnWriteArrayList<>();
  private long sequence;
  private int snapshots;

  /// @param log most changes that a follower may lag behind before it gets a new snapshot
  public ModelTier(int log) {
    this.log = log;
  }

  public synchronized void put(BlockKey key, Level... on) {
    List<Level> before = levels.put(key, List.of(on));
    sequence++;
    tell(before == null
        ? new TierEvent.Stored(sequence, key, List.of(on))
        : new TierEvent.Moved(sequence, key, before, List.of(on)));
  }

  public synchronized void evict(BlockKey key) {
    List<Level> before = levels.remove(key);
    if (before != null) {
      sequence++;
      tell(new TierEvent.Evicted(sequence, key, before));
    }
  }

  public synchronized void lower(Level level) {
    if (down.add(level)) {
      sequence++;
      tell(new TierEvent.LevelDown(sequence, level, "test"));
    }
  }

  public synchronized void raise(Level level) {
    if (down.remove(level)) {
      sequence++;
      tell(new TierEvent.LevelUp(sequence, level));
    }
  }

  /// Number of the level that gives a block; -1 if none does.
  public synchronized int levelOf(BlockKey key) {
    for (Level level : levels.getOrDefault(key, List.of())) {
      if (!down.contains(level)) {
        return ORDER.indexOf(level);
      }
    }
    return -1;
  }

  public synchronized List<BlockKey> keys() {
    return List.copyOf(levels.keySet());
  }

  /// Snapshots begun so far.
  public synchronized int snapshots() {
    return snapshots;
  }

  private void tell(TierEvent event) {
    followers.forEach(follower -> follower.tell(event));
  }

  @Override
  public Flux<TierEvent> follow() {
    return Flux.from(subscriber -> {
      Follower follower = new Follower(subscriber);
      followers.add(follower);
      subscriber.onSubscribe(follower);
    });
  }

  private final class Follower implements Subscription {
    private final Subscriber<? super TierEvent> subscriber;
    private final Deque<TierEvent> changes = new ArrayDeque<>();
    private Iterator<BlockKey> snapshot = List.<BlockKey>of().iterator();
    private boolean isOpening = true;
    private boolean isOpen;
    private boolean isEmitting;
    private long asked;

    Follower(Subscriber<? super TierEvent> subscriber) {
      this.subscriber = subscriber;
    }

    void tell(TierEvent change) {
      if (isOpening) {
        return;
      }
      changes.add(change);
      if (changes.size() > log) {
        changes.clear();
        isOpening = true;
      }
      emit();
    }

    @Override
    public void request(long n) {
      synchronized (ModelTier.this) {
        asked += n;
        emit();
      }
    }

    private void emit() {
      if (isEmitting) {
        return;
      }
      isEmitting = true;
      for (TierEvent next = next(); next != null; next = next()) {
        asked--;
        subscriber.onNext(next);
      }
      isEmitting = false;
    }

    private TierEvent next() {
      if (asked == 0 || !followers.contains(this)) {
        return null;
      }
      if (isOpening) {
        isOpening = false;
        isOpen = true;
        snapshots++;
        snapshot = keys().iterator();
        return new TierEvent.SnapshotStarted(sequence, List.copyOf(down));
      }
      if (!changes.isEmpty()) {
        return changes.poll();
      }
      while (snapshot.hasNext()) {
        BlockKey key = snapshot.next();
        if (levels.containsKey(key)) {
          return new TierEvent.Present(sequence, key, levels.get(key));
        }
      }
      if (isOpen) {
        isOpen = false;
        return new TierEvent.SnapshotEnded(sequence);
      }
      return null;
    }

    @Override
    public void cancel() {
      followers.remove(this);
    }

    void complete() {
      followers.remove(this);
      subscriber.onComplete();
    }
  }

  @Override
  public Mono<Void> close() {
    return Mono.fromRunnable(() -> new ArrayList<>(followers).forEach(Follower::complete));
  }

  @Override
  public Mono<TierStat> stat() {
    return Mono.fromSupplier(() -> new TierStat(levels.size(), Long.MAX_VALUE, 0, 0, 0, 0, 0, 0, 0, sequence,
        ORDER.stream().map(level -> new TierStat.Level(level.name(), level.medium(), Long.MAX_VALUE, 0, 0, 0, 0,
            StoreHealth.GOOD, null, null)).toList()));
  }

  @Override
  public TierInfo info() {
    return new TierInfo("model", Medium.HOST, Blocks.smallSpace(), Long.MAX_VALUE);
  }

  @Override
  public Mono<Integer> match(List<BlockKey> keys) {
    throw notAsked();
  }

  @Override
  public Mono<Presence> contains(List<BlockKey> keys) {
    throw notAsked();
  }

  @Override
  public Mono<Lease> lease(List<BlockKey> keys, OnMiss onMiss, BlockScope scope) {
    throw notAsked();
  }

  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, BlockScope scope) {
    throw notAsked();
  }

  @Override
  public Mono<Presence> remove(List<BlockKey> keys) {
    throw notAsked();
  }

  @Override
  public Flux<TierEvent> events(long sequence) {
    throw notAsked();
  }

  private static AssertionError notAsked() {
    return new AssertionError("an announcement asks for stat and follow alone");
  }
}
