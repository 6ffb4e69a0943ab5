package io.penstock.storage;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
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
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.Logger;
import reactor.util.Loggers;

/// A journal whose disk was unhealthy when it was to be opened: off until it can be, which is tried again and again.
/// From then on it is the [JournalStore], and tells what that has found as a change of its health.
///
/// Safe from any thread; opening waits for the disk on a thread of its clock.
public final class LateJournal implements BlockStore {
  private static final Logger LOG = Loggers.getLogger(LateJournal.class);

  private final CacheSpace space;
  private final JournalOptions options;
  private final Consumer<JournalStore> begun;
  private final LateOpening opening;
  private final List<Runnable> watchers = new CopyOnWriteArrayList<>();
  private volatile @Nullable JournalStore opened;
  @GuardedBy("this") private @Nullable Evictor shortage;
  @GuardedBy("this") private @Nullable Consumer<BlockKey> reporter;

  /// @param begun as in [#open(CacheSpace, JournalOptions, Consumer)]
  /// @param clock runs another task while one opens
  /// @param stopping ends the clock
  LateJournal(CacheSpace space, JournalOptions options, StoreUnavailableException first, Supplier<JournalStore> opening,
      Consumer<JournalStore> begun, JournalClock clock, Runnable stopping) {
    this.space = space;
    this.options = options;
    this.begun = begun;
    this.opening = new LateOpening(options, first, opening, clock, stopping, this::take);
    this.opening.begin(this::tell);
  }

  /// Opens the journal of `options`, at once or, if its disk is unhealthy, later. Waits until every record's head was
  /// read: not for an event loop.
  ///
  /// @param begun told of the journal when it is open, before it is used; if that fails, it is closed, and not
  ///     open
  /// @throws io.penstock.KvException as [JournalStore#open(CacheSpace, JournalOptions)] does, but for a disk that fails
  public static BlockStore open(CacheSpace space, JournalOptions options, Consumer<JournalStore> begun) {
    Supplier<JournalStore> opening = () -> JournalStore.open(space, options);
    try (var _ = OpeningWatch.begin(options)) {
      return begun(opening.get(), begun);
    } catch (StoreUnavailableException e) {
      if (!isOfTheDisk(e, options.directory())) {
        throw e;
      }
      var thread = JournalThreads.timed(options.name() + "-open", 2); // one that opens, one that looks at the clock
      return new LateJournal(space, options, e, opening, begun, JournalClock.of(thread), thread::shutdown);
    }
  }

  /// One that cannot be begun is closed here, as its only owner; so the next opening does not find its lock.
  static JournalStore begun(JournalStore store, Consumer<JournalStore> begun) {
    try {
      begun.accept(store);
      return store;
    } catch (Throwable e) {
      LateOpening.letGo(store).block();
      throw e;
    }
  }

  /// Whether the disk is at fault, and not the name of the directory.
  static boolean isOfTheDisk(StoreUnavailableException failure, Path directory) {
    for (Path each = directory.toAbsolutePath(); each != null; each = each.getParent()) {
      if (Files.isRegularFile(each)) {
        return false;
      }
    }
    return switch (failure.getCause()) {
      case AccessDeniedException e -> false;
      case FileAlreadyExistsException e -> false;
      case NoSuchFileException e -> false;
      case NotDirectoryException e -> false;
      case IOException e -> true;
      case null, default -> false;
    };
  }

  private synchronized void take(JournalStore store) {
    if (shortage != null) {
      store.useEvictor(shortage);
    }
    if (reporter != null) {
      store.report(reporter);
    }
    begun.accept(store);
    opened = store;
  }

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
    JournalStore store = opened;
    return store == null ? options.durability().receipt() : store.durability();
  }

  @Override
  public StoreHealth health() {
    JournalStore store = opened;
    return store == null ? opening.health() : store.health();
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
  public void useEvictor(Evictor room) {
    synchronized (this) {
      shortage = room;
      if (opened != null) {
        opened.useEvictor(room);
      }
    }
  }

  @Override
  public void report(Consumer<BlockKey> damaged) {
    synchronized (this) {
      reporter = damaged;
      if (opened != null) {
        opened.report(damaged);
      }
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

  private RuntimeException refusal() {
    return opening.isClosed()
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

  /// As in [JournalStore#close()]; waits for an opening that is under way, too.
  @Override
  public Mono<Void> close() {
    return opening.close();
  }
}
