package io.penstock.storage;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.KvException;
import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.operator.Handover;
import io.penstock.storage.checkpoint.CheckpointedEngine;
import io.penstock.storage.disk.DiskHealth;
import io.penstock.storage.disk.JournalClock;
import io.penstock.storage.disk.MonitoredEngine;
import io.penstock.storage.disk.SyncMode;
import io.penstock.storage.disk.SyncQueue;
import io.penstock.storage.disk.SyncStat;
import io.penstock.storage.disk.UnreadableSegments;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.engine.OpenFiles;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.index.DeadRecord;
import io.penstock.storage.index.FoundBlocks;
import io.penstock.storage.index.JournalOpening;
import io.penstock.storage.index.JournalRecovery;
import io.penstock.storage.index.LocationTable;
import io.penstock.storage.index.RecordLocation;
import io.penstock.storage.record.RecordFormat;
import io.penstock.storage.record.RecordName;
import io.penstock.tier.Medium;
import io.penstock.tier.Receipt.Durability;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.BlockStore.Evictor;
import io.penstock.tier.spi.StoreUnavailableException;
import io.penstock.tier.spi.StoredBlock;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Blocks stored on a disk: an append-only journal of records, found again after a restart.
///
/// | | |
/// |---|---|
/// | put | one thread appends batch after batch; checksums are compared as the bytes leave memory |
/// | read | a few threads read just the granules asked for, straight into the drafts, and compare them there |
/// | a stored block closed | its record is dead: a removal keeps it so after a restart, or its segment goes |
/// | space | live blocks are moved out of segments that are mostly dead ([ReclaimOptions]); readers notice nothing |
/// | the store closed | stored blocks stay there: those closed after [#close()] free nothing |
/// | waiting | `maxWaitingPuts` batches and `maxWaitingReads` reads; a further one fails with [JournalBusyException] |
/// | an unhealthy disk | degraded when it is full or writes fail, off when reads fail or it does not answer |
/// | | calls that wait, and new ones, fail at once with [StoreUnavailableException]; probes try it again |
/// | cancel | changes nothing on the disk; stored blocks that the subscriber no longer takes are freed |
public final class JournalStore implements BlockStore {
  private final CacheSpace space;
  private final JournalOptions options;
  private final SegmentEngine engine;
  private final DiskHealth health;
  private final List<Runnable> watchers = new CopyOnWriteArrayList<>();
  private final SyncQueue syncs;
  private final JournalWrites writes;
  private final JournalRecovery recovery;
  private final LocationTable locations;
  private final LostRecords lost;
  private final AcceptedWork accepted;
  private final JournalReads reads;
  private final JournalEnd end;
  private final FoundBlocks recovered;
  private final DamageCopies copies;
  private final JournalThreads threads;
  @GuardedBy("this") private @Nullable Scrubber scrubber;
  /// Damage found by the opening, until the owner has it.
  @GuardedBy("this") private List<BlockKey> damaged;

  private JournalStore(CacheSpace space, JournalOptions options, SegmentEngine disk, JournalThreads threads) {
    this.space = space;
    this.options = options;
    this.health =
        new DiskHealth(options.name(), options.health(), threads.clock(), threads.ticks(), this::healthChanged);
    this.engine = new MonitoredEngine(disk, health);
    this.accepted = new AcceptedWork(options.name(), "puts", options.bounds().maxWaitingPuts());
    this.end = new JournalEnd(options, engine, health, threads);
    this.threads = threads;
    JournalOpening found = new JournalOpening(space, disk, boundary(), options.doubtfulSegments());
    this.recovered = found.run();
    this.recovery = found.summary();
    this.locations = found.locations();
    this.syncs = new SyncQueue(engine, options.syncs(), threads.clock(), this::synced);
    JournalLog log = new JournalLog(this, space, engine, syncs, found.index(), locations,
        found.sequence(), options.segments().segmentBytes());
    DiskWatermarks watermarks = new DiskWatermarks(engine, options, threads.clock());
    this.copies = new DamageCopies(engine, options.bounds().quarantine(), RecordFormat.recordBytes(space.layout()),
        threads.reading(), health, boundary());
    this.lost = new LostRecords(locations, space.id(), copies, health.suspects(), boundary());
    this.reads = new JournalReads(new RangeReader(engine, space.layout(), boundary(), lost, this::freed), space,
        options, health,
        threads.reading());
    Reclaimer reclaimer = new Reclaimer(engine, found.index(), locations, log,
        new RecordMover(engine::read, space.layout(), boundary()), lost,
        new UnreadableSegments(threads.clock()), options, watermarks);
    this.writes =
        new JournalWrites(log, reclaimer, new CapacityLimit(found.index(), log, reclaimer, watermarks, options),
            options.reclaim(), threads, accepted);
    this.damaged = found.damagedKeys();
    found.damage().forEach(copies::add); // first: compaction may delete their segments
    writes.begin(found.dead());
    syncs.start();
    if (found.isUnsynced() && options.durability().mode() != SyncMode.NONE) {
      syncs.changed();
      syncs.ask();
    }
    health.start(disk);
  }

  /// Opens the journal of `options` with threads of its own. Waits until every record's head was read: not for an event
  /// loop.
  ///
  /// @throws KvException if the directory is locked, of another space, engine or version, or cannot be read
  /// @throws IllegalArgumentException if a block of `space` does not fit an eighth of a segment
  public static JournalStore open(CacheSpace space, JournalOptions options) {
    // No thread runs before its first task, so an engine that cannot be opened leaves none behind
    OpenFiles.require(options.engine().name().toLowerCase(Locale.ROOT), options.mostSegments());
    JournalThreads threads = JournalThreads.own(options);
    return open(space, options, options.engine().open(options.directory(), options.engineOptions()), threads);
  }

  /// Opens a journal on an open engine, with threads of the caller: for simulation and for other engines.
  ///
  /// @param engine closed with the store, also if opening fails
  /// @param appending runs one task at a time, in order
  /// @param reading runs tasks that wait for the disk; refuses none
  /// @param timing is the clock, and runs syncs, which wait for the disk
  public static JournalStore open(CacheSpace space, JournalOptions options, SegmentEngine engine, Executor appending,
      Executor reading,
      Scheduler timing) {
    return open(space, options, engine,
        new JournalThreads(appending, reading, JournalClock.of(timing), JournalClock.of(timing), () -> {}));
  }

  /// Opens a journal without a clock: an interval then ends when the bytes of the rule are reached.
  public static JournalStore open(CacheSpace space, JournalOptions options, SegmentEngine engine, Executor appending,
      Executor reading) {
    return open(space, options, engine,
        new JournalThreads(appending, reading, JournalClock.stopped(), JournalClock.stopped(), () -> {}));
  }

  private static JournalStore open(CacheSpace space, JournalOptions options, SegmentEngine engine,
      JournalThreads threads) {
    try {
      long record = RecordFormat.recordBytes(space.layout());
      if (record > engine.maxRecordBytes()) {
        throw new IllegalArgumentException("record bytes of a block must be <= " + engine.maxRecordBytes()
            + ", an eighth of segmentBytes (was " + record + ")");
      }
      int head = RecordFormat.headBytes(space.layout());
      if (head > RecordFormat.LONGEST_HEAD) {
        throw new IllegalArgumentException(
            "head bytes of a block's record must be <= " + RecordFormat.LONGEST_HEAD + " (was " + head + ")");
      }
      return new JournalStore(space, options,
          CheckpointedEngine.of(engine, options.durability().mode() != SyncMode.NONE), threads);
    } catch (Throwable e) { // the next opening must not find a lock
      left(engine, threads, e);
      throw e;
    }
  }

  private static void left(SegmentEngine engine, JournalThreads threads, Throwable first) {
    try {
      engine.close();
    } catch (RuntimeException e) {
      first.addSuppressed(e);
    } finally {
      threads.stopping().run();
    }
  }

  private String boundary() {
    return "tier " + options.name();
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
    return health.health();
  }

  @Override
  public void watch(Runnable changed) {
    watchers.add(changed);
  }

  /// Fails waiting calls when the disk is unhealthy, since their thread may be stuck.
  private void healthChanged() {
    StoreHealth now = health.health();
    StoreUnavailableException why = StoreUnavailableException.of(options.name(), now);
    if (now.state().takes()) {
      writes.retry();
    } else {
      writes.refuse(why);
    }
    if (!now.state().gives()) {
      reads.refuse(why);
    }
    watchers.forEach(Runnable::run);
  }

  @Override
  public long capacityBlocks() {
    return Long.MAX_VALUE;
  }

  /// Figures of the syncs.
  public SyncStat syncs() {
    return syncs.stat();
  }

  /// Space of the journal on the disk.
  public DiskUse disk() {
    return writes.stat();
  }

  @Override
  public TierStat.Disk diskStat() {
    return DiskFigures.of(syncs(), disk(), recovery, scrubbed(), lost, copies);
  }

  /// Begins to read and compare stored blocks in the background; once. A damaged block is lost, and its bytes go to
  /// `quarantine/`: the listener of [#report] receives it, and so does the next reader.
  ///
  /// @throws IllegalStateException if that goes on already
  public void scrub(ScrubOptions how) {
    Scrubber begun =
        new Scrubber(engine, locations, new RecordMover(engine::readOnce, space.layout(), boundary()), lost, how,
            threads, () -> accepted.open() + reads.open() > 0 || !health.health().state().gives(), writes::free);
    synchronized (this) {
      if (scrubber != null) {
        throw new IllegalStateException("a journal must be scrubbed once at a time (was scrubbed already)");
      }
      scrubber = begun;
    }
    begun.start();
  }

  @Override
  public void report(Consumer<BlockKey> heard) {
    lost.report(heard);
  }

  @Override
  public boolean isIntact(StoredBlock stored) {
    return !locations.isLost(own(stored).number());
  }

  /// Figures of the scrub.
  public synchronized ScrubStat scrubbed() {
    return scrubber == null ? ScrubStat.NONE : scrubber.stat();
  }

  /// Result of the opening.
  public JournalRecovery recovery() {
    return recovery;
  }

  @Override
  public synchronized List<StoredBlock> recovered() {
    List<StoredBlock> storedBlocks = new ArrayList<>(recovered.size());
    recovered.takeAll((key, number) -> storedBlocks.add(fromNumber(key, number)));
    return storedBlocks;
  }

  @Override
  public synchronized void recover(Recovered to) {
    recovered.takeAll(to::numbered);
    damaged.forEach(to::damaged);
    damaged = List.of();
  }

  @Override
  public int toNumber(StoredBlock stored) {
    return own(stored).dissolve();
  }

  @Override
  public StoredBlock fromNumber(BlockKey key, int number) {
    return new StoredRecord(this, key, number);
  }

  @Override
  public Mono<List<StoredBlock>> put(List<Block> blocks) {
    List<Block> batch = List.copyOf(blocks);
    for (Block block : batch) {
      if (!block.key().space().equals(space.id())) {
        throw new IllegalArgumentException("block must be of space " + space.id() + " (was " + block.key() + ")");
      }
    }
    return Handover.<List<StoredBlock>>of(sink -> {
      if (!health.health().state().takes()) {
        sink.error(health.unavailable());
      } else if (accepted.enteredBy(sink::error)) {
        writes.put(batch, sink);
        if (!health.health().state().takes()) { // the state changed meanwhile
          writes.refuse(health.unavailable());
        }
      }
    }, JournalStore::closeAll).doOnError(StorageFullException.class, health::putFailed);
  }

  @Override
  public Mono<Void> read(List<? extends StoredBlock> storedBlocks, List<BlockDraft> drafts, GranuleRange range) {
    range.requireInside(space.layout());
    if (storedBlocks.size() != drafts.size()) {
      throw new IllegalArgumentException(
          "drafts must be " + storedBlocks.size() + ", one a stored block (was " + drafts.size() + ")");
    }
    List<StoredRecord> own = storedBlocks.stream().map(this::own).toList();
    return reads.read(own, List.copyOf(drafts), range);
  }

  /// Frees the blocks of a cancelled put.
  private static void closeAll(List<StoredBlock> storedBlocks) {
    storedBlocks.forEach(StoredBlock::close);
  }

  private StoredRecord own(StoredBlock stored) {
    if (stored instanceof StoredRecord own && own.store() == this) {
      return own;
    }
    throw new IllegalArgumentException("stored block must be of tier " + options.name() + " (was " + stored + ")");
  }

  LocationTable locations() {
    return locations;
  }

  /// A stored block was closed.
  void free(BlockKey key, int number) {
    RecordLocation last = locations.release(number);
    if (last != null) {
      health.suspects().forget(last.at());
      freed(new DeadRecord(new RecordName(key, last.sequence()), last.segment()));
    }
  }

  private void freed(DeadRecord dead) {
    writes.free(dead);
  }

  @Override
  public void useEvictor(Evictor shortage) {
    writes.useEvictor(shortage);
  }

  private void synced() {
    writes.synced();
  }

  /// Completes when every stored block closed before is dead on the disk, too: none of them comes back after a restart.
  ///
  /// @return a cold `Mono`; signals the failure if a removal could not be written: a later sweep tries again
  public Mono<Void> flush() {
    return Mono.create(sink -> {
      if (accepted.enteredBy(sink::error)) {
        writes.flush(sink);
      }
    });
  }

  /// Forces the rest, as [JournalOptions#durability()] says, and releases the directory in any case.
  ///
  /// @return signals the failure if bytes could not be forced or removals not written, and [StoreUnavailableException]
  ///     if the disk does not answer in time
  @Override
  public Mono<Void> close() {
    return end.close(Mono.defer(() -> Mono.when(closeScrub(), copies.close(), accepted.close(), reads.close())),
        writes);
  }

  private synchronized Mono<Void> closeScrub() {
    return scrubber == null ? Mono.empty() : scrubber.close();
  }

  @Override
  public String toString() {
    return "journal " + engine;
  }
}
