package io.penstock.storage;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.storage.disk.JournalClock;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.BlockStore.Evictor;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.Logger;
import reactor.util.Loggers;

/// A journal that opens on a thread of its own. It is off until it is open. If the disk is unhealthy, the journal tries
/// again until it is open or closed. Then all calls go to the [JournalStore], and the owner receives changes of health.
///
/// Safe from any thread.
public final class LateJournal implements BlockStore {
  private static final Logger LOG = Loggers.getLogger(LateJournal.class);
  private static final StoreHealth OPENING = new StoreHealth(StoreHealth.State.OFF, "disk level is opening");

  private final CacheSpace space;
  private final JournalOptions options;
  private final Supplier<JournalStore> opening;
  private final Consumer<JournalStore> begun;
  private final JournalClock clock;
  private final Runnable stopping;
  private final List<Runnable> watchers = new CopyOnWriteArrayList<>();
  /// Completes with the first attempt: with its failure, or with null if the journal is open.
  private final CompletableFuture<@Nullable Throwable> first = new CompletableFuture<>();
  /// Completes when a close that came during an attempt is over.
  private final Sinks.Empty<Void> ended = Sinks.empty();
  private final Mono<Void> close = Mono.defer(this::closeNow).cache();
  private volatile StoreHealth health = OPENING;
  /// No caller waits for the first attempt any more.
  private volatile boolean isLate;
  private volatile @Nullable JournalStore opened;
  @GuardedBy("this") private @Nullable Evictor evictor;
  @GuardedBy("this") private @Nullable Consumer<BlockKey> reporter;
  @GuardedBy("this") private int attempts;
  /// Whether an attempt runs, or closes again the journal that it opened: it has the lock on the directory.
  @GuardedBy("this") private boolean attempting;
  @GuardedBy("this") private boolean closed;

  /// @param opening waits for the disk
  /// @param begun as in [#open]
  /// @param clock runs another task while one waits for the disk
  /// @param stopping ends the clock
  LateJournal(CacheSpace space, JournalOptions options, Supplier<JournalStore> opening, Consumer<JournalStore> begun,
      JournalClock clock, Runnable stopping) {
    this.space = space;
    this.options = options;
    this.opening = opening;
    this.begun = begun;
    this.clock = clock;
    this.stopping = stopping;
  }

  /// Opens the journal of `options`. If its disk is unhealthy, the journal is off, and opens later. Waits until every
  /// record's head was read: not for an event loop.
  ///
  /// @param begun gets the journal when it is open, before any use. If that fails, the journal is closed again
  /// @throws KvException as [JournalStore#open(CacheSpace, JournalOptions)] does, but for a disk that fails
  public static LateJournal open(CacheSpace space, JournalOptions options, Consumer<JournalStore> begun) {
    return open(space, options, () -> {}, begun);
  }

  /// Opens as the other form does.
  ///
  /// @param before runs before each attempt of a process that can run the engine, on the thread that opens: what it
  ///     throws is why the journal is not opened
  public static LateJournal open(CacheSpace space, JournalOptions options, Runnable before,
      Consumer<JournalStore> begun) {
    LateJournal journal = of(space, options, before, begun);
    journal.begin();
    return journal.orThrow(journal.first.join());
  }

  /// Opens as [#open] does, but waits only for `patience`. A journal that takes longer is off until it is open.
  public static LateJournal openWithin(Duration patience, CacheSpace space, JournalOptions options,
      Consumer<JournalStore> begun) {
    return openWithin(patience, space, options, () -> {}, begun);
  }

  /// Opens as the other form does.
  ///
  /// @param before as in [#open(CacheSpace, JournalOptions, Runnable, Consumer)]
  public static LateJournal openWithin(Duration patience, CacheSpace space, JournalOptions options, Runnable before,
      Consumer<JournalStore> begun) {
    LateJournal journal = of(space, options, before, begun);
    journal.begin();
    Throwable failure =
        journal.first.copy().completeOnTimeout(null, patience.toMillis(), TimeUnit.MILLISECONDS).join();
    journal.isLate = journal.isOpening();
    return journal.orThrow(failure);
  }

  private static LateJournal of(CacheSpace space, JournalOptions options, Runnable before,
      Consumer<JournalStore> begun) {
    var threads = JournalThreads.timed(options.name() + "-open", 2); // one opens, one looks at the clock
    return new LateJournal(space, options, () -> {
      options.engine().require(); // what it refuses leaves no trace in the folder
      before.run();
      return JournalStore.open(space, options);
    }, begun, JournalClock.of(threads), threads::shutdown);
  }

  private LateJournal orThrow(@Nullable Throwable failure) {
    if (failure != null && !isOfTheDisk(failure, options.directory())) {
      close.subscribe(nothing -> {}, nothing -> {}); // nothing is open
      throw Exceptions.propagate(failure);
    }
    return this;
  }

  /// Whether the disk is at fault, and not the name of the directory.
  static boolean isOfTheDisk(Throwable failure, Path directory) {
    for (Path each = directory.toAbsolutePath(); each != null; each = each.getParent()) {
      if (Files.isRegularFile(each)) {
        return false;
      }
    }
    return failure instanceof StoreUnavailableException && switch (failure.getCause()) {
      case AccessDeniedException e -> false;
      case FileAlreadyExistsException e -> false;
      case NoSuchFileException e -> false;
      case NotDirectoryException e -> false;
      case IOException e -> true;
      case null, default -> false;
    };
  }

  /// Whether the first attempt to open runs still.
  public boolean isOpening() {
    return !first.isDone();
  }

  // Attempts

  void begin() {
    clock.after(0, () -> attempt(options.health().firstProbe().toMillis()));
  }

  /// @param wait milliseconds until the next attempt if this one fails
  private void attempt(long wait) {
    synchronized (this) {
      if (closed) {
        return;
      }
      attempting = true;
      attempts++;
      sayLater(attempts, System.nanoTime());
    }
    JournalStore store = null;
    try {
      store = opening.get();
      if (!take(store)) {
        first.complete(null);
        end(store);
        return;
      }
    } catch (Throwable e) { // whatever it is: the next attempt may find another folder
      failed(e, store, wait);
      return;
    }
    store.watch(this::tell);
    tell(); // a caller that waits for the first attempt does not watch yet
    first.complete(null);
    stopping.run();
  }

  /// @return false after the close
  private synchronized boolean take(JournalStore store) {
    if (closed) {
      return false;
    }
    if (evictor != null) {
      store.useEvictor(evictor);
    }
    if (reporter != null) {
      store.report(reporter);
    }
    begun.accept(store);
    opened = store;
    attempting = false;
    return true;
  }

  /// @param untaken journal that was opened and must be closed again
  private void failed(Throwable e, @Nullable JournalStore untaken, long wait) {
    StoreHealth before = health;
    health = new StoreHealth(StoreHealth.State.OFF, e instanceof KvException ? e.getMessage() : e.toString());
    if ((isLate || !(e instanceof KvException)) && !health.equals(before)) {
      LOG.warn("store {} could not be opened, and is tried again", options.name(), e);
    }
    Mono<Void> release = untaken == null ? Mono.empty() : untaken.close();
    release.subscribe(nothing -> {}, failure -> {
      LOG.warn("store {} was opened, and did not close: {}", options.name(), failure.toString());
      again(e, untaken, wait);
    }, () -> again(e, untaken, wait));
  }

  private void again(Throwable why, @Nullable JournalStore untaken, long wait) {
    boolean isOver;
    synchronized (this) {
      attempting = false;
      isOver = closed;
    }
    first.complete(why);
    if (isOver) {
      end(untaken);
    } else {
      clock.after(wait, () -> attempt(Math.min(2 * wait, options.health().lastProbe().toMillis())));
    }
  }

  private void sayLater(int attempt, long since) {
    clock.after(options.health().stallAfter().toMillis(), () -> {
      if (isAttempting(attempt)) {
        LOG.warn(
            "store {} has been opening {} for {} s: it reads a large journal without checkpoints, or its disk does "
                + "not answer",
            options.name(), options.directory(),
            TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - since));
        sayLater(attempt, since);
      }
    });
  }

  private synchronized boolean isAttempting(int attempt) {
    return attempting && attempts == attempt;
  }

  // The end

  /// As in [JournalStore#close()]; waits for an opening that is under way, too.
  @Override
  public Mono<Void> close() {
    return close;
  }

  private Mono<Void> closeNow() {
    synchronized (this) {
      closed = true;
      if (attempting) {
        clock.after(options.health().closeWithin().toMillis(), this::leave);
        return ended.asMono();
      }
    }
    stopping.run();
    JournalStore store = opened;
    return store == null ? Mono.empty() : store.close();
  }

  /// An attempt ended after the close; the close waits for `late`, unless that took too long.
  private void end(@Nullable JournalStore late) {
    Mono<Void> closing = late == null ? Mono.empty() : late.close();
    closing.doFinally(end -> stopping.run()).subscribe(nothing -> {}, failure -> {
      if (ended.tryEmitError(failure).isFailure()) {
        LOG.warn("store {} was opened too late, and did not close: {}", options.name(), failure.getMessage());
      }
    }, () -> {
      if (ended.tryEmitEmpty().isFailure() && late == null) {
        LOG.warn("store {} was left while it was opened, and could not be: {}", options.name(), health.problem());
      }
    });
  }

  private void leave() {
    if (ended.tryEmitError(JournalEnd.tooLate(options)).isSuccess()) {
      LOG.warn("store {} is left while it is opened: its disk does not answer", options.name());
    }
  }

  // The store

  /// A watcher that fails keeps no other from hearing of it.
  private void tell() {
    for (Runnable watcher : watchers) {
      try {
        watcher.run();
      } catch (Throwable e) {
        LOG.warn("a watcher of store {} failed", options.name(), e);
      }
    }
  }

  @Override
  public String name() {
    return options.name();
  }

  @Override
  public Medium medium() {
    return Medium.DISK;
  }

  @Override
  public CacheSpace space() {
    return space;
  }

  @Override
  public Durability durability() {
    return options.durability().receipt();
  }

  @Override
  public StoreHealth health() {
    JournalStore store = opened;
    return store == null ? health : store.health();
  }

  @Override
  public TierStat.Disk diskStat() {
    JournalStore store = opened;
    return store == null ? TierStat.Disk.NONE : store.diskStat();
  }

  @Override
  public void watch(Runnable changed) {
    watchers.add(changed);
  }

  @Override
  public synchronized void useEvictor(Evictor room) {
    evictor = room;
    if (opened != null) {
      opened.useEvictor(room);
    }
  }

  @Override
  public synchronized void report(Consumer<BlockKey> damaged) {
    reporter = damaged;
    if (opened != null) {
      opened.report(damaged);
    }
  }

  @Override
  public boolean isIntact(StoredBlock stored) {
    JournalStore store = opened;
    return store == null || store.isIntact(stored);
  }

  @Override
  public long capacityBlocks() {
    return Long.MAX_VALUE;
  }

  @Override
  public Mono<List<StoredBlock>> put(List<Block> blocks) {
    JournalStore store = opened;
    return store == null ? Mono.error(this::refusal) : store.put(blocks);
  }

  @Override
  public Mono<Void> read(List<? extends StoredBlock> storedBlocks, List<BlockDraft> drafts, GranuleRange range) {
    JournalStore store = opened;
    return store == null ? Mono.error(this::refusal) : store.read(storedBlocks, drafts, range);
  }

  private synchronized RuntimeException refusal() {
    return closed
        ? new TierClosedException(options.name())
        : StoreUnavailableException.of(options.name(), health());
  }

  @Override
  public List<StoredBlock> recovered() {
    JournalStore store = opened;
    return store == null ? List.of() : store.recovered();
  }

  @Override
  public void recover(Recovered to) {
    JournalStore store = opened;
    if (store != null) {
      store.recover(to);
    }
  }

  @Override
  public int toNumber(StoredBlock stored) {
    JournalStore store = opened;
    return store == null ? NO_NUMBER : store.toNumber(stored);
  }

  @Override
  public StoredBlock fromNumber(BlockKey key, int number) {
    JournalStore store = opened;
    return store == null ? BlockStore.super.fromNumber(key, number) : store.fromNumber(key, number);
  }
}
