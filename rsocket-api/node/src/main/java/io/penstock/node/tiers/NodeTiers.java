package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockArena;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.device.Device;
import io.penstock.device.ascend.AscendListener;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.kvevents.KvTokens;
import io.penstock.pool.curve.WhatIf;
import io.penstock.recording.RecordedTier;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.Sampling;
import io.penstock.storage.JournalOptions;
import io.penstock.storage.JournalStore;
import io.penstock.storage.LateJournal;
import io.penstock.storage.ReclaimOptions;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.record.RecordFormat;
import io.penstock.tier.BlockTier;
import io.penstock.tier.Medium;
import io.penstock.tier.Reservation;
import io.penstock.tier.StoreHealth;
import io.penstock.tier.TierHolds.PutTerms;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.BlockStore;
import io.penstock.tier.spi.ForwardingTier;
import io.penstock.tier.spi.TierInputs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The tiers of one node, with the device and the disk under them. Closing closes all of it.
public final class NodeTiers extends ForwardingTier {
  /// Batches that the stack itself has under way at a store.
  private static final int OWN_BATCHES = 8;

  private static final Duration LAST_MOMENT = Duration.ofSeconds(5);

  private static final Logger LOG = LoggerFactory.getLogger(NodeTiers.class);

  private final TierStack stack;
  private final @Nullable HbmDevice device;
  private final @Nullable BlockStore hbm;
  private final @Nullable BlockStore ssd;
  private final NodeMemory memory;
  private final @Nullable RecordedTier recorded;
  /// First trouble of each level that had one, by its name.
  private final Map<String, String> troubles = new ConcurrentHashMap<>();
  private volatile @Nullable KvTokens tokens;

  /// @param hbm the level on `device`
  private NodeTiers(BlockTier tier, TierStack stack, @Nullable RecordedTier recorded, @Nullable HbmDevice device,
      @Nullable BlockStore hbm, @Nullable BlockStore ssd,
      NodeMemory memory) {
    super(tier);
    this.stack = stack;
    this.recorded = recorded;
    this.device = device;
    this.hbm = hbm;
    this.ssd = ssd;
    this.memory = memory;
    if (ssd != null) {
      ssd.watch(() -> changed(ssd));
      if (ssd.health().state() != StoreHealth.State.ACTIVE) {
        changed(ssd);
      }
    }
  }

  /// Opens the levels of `plan`. Reads a disk with earlier blocks, so it may take a while; not for an event loop. With
  /// [DiskPlan#opensBehind()] the levels serve before a slow disk is open.
  ///
  /// @param memory of the host; if all of it must be there first, a `dram` without bound is refused
  /// @param copies receives the copies of a device that is not simulated
  /// @return cold; each subscription opens once, the disk on the subscribing thread, or the device's if there is one;
  ///     signals the refusal of a device or a disk
  public static Mono<NodeTiers> open(TierPlan plan, NodeMemory memory, TierListener listener, AscendListener copies) {
    return open(plan, memory, listener, copies, Sampling.none());
  }

  /// Opens the levels with an estimate of the effect of other capacities.
  ///
  /// @param sampling for [#whatIf]
  public static Mono<NodeTiers> open(TierPlan plan, NodeMemory memory, TierListener listener, AscendListener copies,
      Sampling sampling) {
    return open(plan, memory, listener, copies, sampling, null);
  }

  /// Opens the levels, and records what happens to them.
  ///
  /// @param recording null for none
  public static Mono<NodeTiers> open(TierPlan plan, NodeMemory memory, TierListener listener, AscendListener copies,
      Sampling sampling, @Nullable TierRecording recording) {
    return open(plan, memory, listener, copies, sampling, recording, () -> {});
  }

  /// @param beforeDisk runs before a disk is opened, on the thread that opens it
  static Mono<NodeTiers> open(TierPlan plan, NodeMemory memory, TierListener listener, AscendListener copies,
      Sampling sampling, @Nullable TierRecording recording, Runnable beforeDisk) {
    return Mono.defer(() -> {
      plan.requireStack();
      if (plan.hbm().isOff()) {
        return withDisk(plan, beforeDisk, ssd -> stack(plan, memory, null, null, ssd, listener, sampling, recording));
      }
      int blocks = Math.toIntExact(plan.hbm().inBlocks(plan.space().layout().blockBytes()));
      return HbmDevice.open(plan.device(), memory.listener(), copies)
          .flatMap(device -> device.store(plan.space(), blocks)
              .flatMap(
                  hbm -> withDisk(plan, beforeDisk,
                      ssd -> stack(plan, memory, device, hbm, ssd, listener, sampling, recording)))
              .onErrorResume(error -> Endings.after(error, device.close())));
    });
  }

  /// Opens the disk last: earlier refusals leave no trace there.
  private static Mono<NodeTiers> withDisk(TierPlan plan, Runnable before,
      Function<@Nullable BlockStore, Mono<NodeTiers>> stack) {
    return Mono.defer(() -> {
      BlockStore ssd = plan.ssd().isOff() ? null : disk(plan, requireNonNull(plan.disk()), before);
      return Mono.defer(() -> stack.apply(ssd))
          .onErrorResume(error -> Endings.after(error, ssd == null ? Mono.empty() : ssd.close()));
    });
  }

  static Mono<NodeTiers> stack(TierPlan plan, NodeMemory memory, @Nullable HbmDevice device, @Nullable BlockStore hbm,
      @Nullable BlockStore ssd, TierListener listener, Sampling sampling, @Nullable TierRecording recording) {
    List<BlockStore> stores = Stream.of(hbm, ssd).filter(Objects::nonNull).map(Objects::requireNonNull).toList();
    ChunkSource chunks = memory.chunks();
    long ssdBlocks = ssd == null ? 0 : plan.ssd().inBlocks(plan.space().layout().blockBytes());
    AtomicReference<@Nullable TierStack> made = new AtomicReference<>();
    RecordedTier.Opening opening = (inputs, under) -> {
      TierStack stack = new TierStack(plan.space(), levels(plan, under, ssdBlocks), options(plan.name(), plan),
          listener, inputs, sampling);
      made.set(stack);
      return stack;
    };
    TierInputs given = TierInputs.of(chunks, plan.timesUses() ? TimeOfDay.ofProcess() : null);
    RecordedTier recorded =
        recording == null ? null : recording.open(plan, memory.preparedBytes(), given, stores, opening);
    if (recorded == null) {
      opening.open(given, stores);
    }
    TierStack stack = requireNonNull(made.get(), "stack");
    return memory.fill(stack.arena(), chunks, device)
        .thenReturn(new NodeTiers(recorded == null ? stack : recorded, stack, recorded, device, hbm, ssd, memory))
        .onErrorResume(error -> Endings.after(error, stack.close()));
  }

  /// The levels of `plan` on `stores`: a device first, a disk last.
  static List<StackLevel> levels(TierPlan plan, List<BlockStore> stores, long ssdBlocks) {
    List<StackLevel> levels = new ArrayList<>();
    stores.stream().filter(store -> store.medium() != Medium.DISK)
        .forEach(store -> levels.add(new StackLevel.Stored(store, store.capacityBlocks())));
    if (!plan.dram().isOff()) {
      levels.add(plan.host());
    }
    stores.stream().filter(store -> store.medium() == Medium.DISK)
        .forEach(store -> levels.add(new StackLevel.Stored(store, ssdBlocks)));
    return levels;
  }

  /// Queues as long as the blocks that may want in: the disk refuses no block that has a slot of memory.
  private static BlockStore disk(TierPlan plan, DiskPlan disk, Runnable before) {
    int movers = OWN_BATCHES + 4 * Math.max(plan.reserveBlocks(), plan.windowBlocks());
    BlockLayout layout = plan.space().layout();
    long segmentBytes = disk.segmentBytes(plan.ssd().inBlocks(layout.blockBytes()), RecordFormat.recordBytes(layout));
    JournalOptions options = JournalOptions.defaults(disk.folder()).withName("ssd").withEngine(disk.engine())
        .withSegments(segments(disk.share(), segmentBytes)).withDurability(disk.durability())
        .withReclaim(reclaim(disk.share())).withHealth(disk.health()).withQuarantine(disk.quarantine())
        .withMaxWaitingPuts(movers).withMaxWaitingReads(movers);
    Consumer<JournalStore> begun = journal -> journal.scrub(disk.scrub());
    return disk.opensBehind()
        ? LateJournal.openWithin(disk.health().stallAfter(), plan.space(), options, before, begun)
        : LateJournal.open(plan.space(), options, before, begun);
  }

  private static EngineOptions segments(DiskShare share, long segmentBytes) {
    return EngineOptions.defaults().withSegmentBytes(segmentBytes).withKeepFreeBytes(share.keepFreeBytes())
        .withCacheBytes(share.cacheBytes() == DiskShare.AUTO ? EngineOptions.UNLIMITED : share.cacheBytes());
  }

  private static ReclaimOptions reclaim(DiskShare share) {
    ReclaimOptions options =
        ReclaimOptions.defaults().withDiskWatermarks(share.highPercent() / 100.0, share.lowPercent() / 100.0);
    return share.capacityBytes() == DiskShare.AUTO ? options : options.withCapacityBytes(share.capacityBytes());
  }

  /// Logs one line for each change of the health of a level.
  private void changed(BlockStore store) {
    StoreHealth now = store.health();
    if (now.state() != StoreHealth.State.ACTIVE) {
      troubles.putIfAbsent(store.name(), now.words());
    }
    LOG.warn("level {} is {}", store.name(), now.words());
  }

  /// First trouble of each level that was not healthy at some time, such as `off: no answer within 5000 ms`, by the
  /// name of the level.
  public Map<String, String> troubles() {
    return Map.copyOf(troubles);
  }

  static StackOptions options(String name, TierPlan plan) {
    int reserve = Math.max(plan.reserveBlocks(), plan.windowBlocks());
    return StackOptions.defaults(name).withMode(plan.mode()).withPolicy(plan.policy())
        .withIngressBlocks(plan.reserveBlocks()).withTransferBlocks(2 * reserve).withPromotionBlocks(reserve)
        .withMaxWaiters(plan.waiters()).withEventLogSize(plan.eventsKept()).withTiering(plan.tiering())
        .withExact(plan.exact()).withHolds(plan.holds());
  }

  /// Adds the token ids of later puts to `tokens`.
  public void addTokensTo(KvTokens tokens) {
    this.tokens = tokens;
  }

  /// Adds tokens before any block becomes visible: events may follow the commit at once.
  @Override
  public Mono<Reservation> reserve(List<BlockKey> keys, PutTerms terms, BlockScope scope) {
    Mono<Reservation> room = super.reserve(keys, terms, scope);
    KvTokens added = tokens;
    return added == null || terms.tokens().isEmpty()
        ? room
        : room.doOnNext(given -> added.add(given.drafts().stream().map(BlockDraft::key).toList(), terms.tokens()));
  }

  /// Whether the disk is being opened for the first time, while the other levels serve.
  public boolean isOpening() {
    return ssd instanceof LateJournal journal && journal.isOpening();
  }

  /// Estimated effect of other capacities of the levels.
  public WhatIf whatIf() {
    return stack.whatIf();
  }

  /// The host memory of all levels, for gauges.
  public BlockArena arena() {
    return stack.arena();
  }

  /// The devices under the levels, by the number that the machine has for them.
  public Map<Integer, Device> devices() {
    return device == null ? Map.of() : Map.of(device.physicalId(), device.device());
  }

  /// Ends the leases, pins and unfinished puts whose life is over, see [TierStack#expire].
  void expire() {
    if (recorded == null) {
      stack.expire();
    } else {
      recorded.expire(stack::expire);
    }
  }

  /// Figures with the host memory under the levels.
  @Override
  public Mono<TierStat> stat() {
    return super.stat().map(stat -> stat.withMemory(memory.stat()));
  }

  /// Closes in the order of [#close]: blocks that are on their way to the disk get there first, and the log names the
  /// number of those that did not in time. It does not wait for a device that does not end its copies: when the level
  /// on it has not closed after `patience`, it is closed, which refuses the copies that wait, and after [#LAST_MOMENT]
  /// more it is left as it is, with its memory, for the end of the process. A disk has its own bound, which begins when
  /// it is to close; if the device is left, the end of the disk is not waited for.
  ///
  /// @param patience for all of it; at least 1 ms
  /// @param timers calls when it is over
  /// @param nanoClock measures the rest of it
  /// @return cold; signals [UnavailableException] if the device was left
  public Mono<Void> closeWithin(Duration patience, Scheduler timers, LongSupplier nanoClock) {
    Mono<Void> settled = stack.flush(patience, timers).doOnNext(this::sayLeft).then();
    HbmDevice under = device;
    if (under == null) {
      return settled.then(super.close());
    }
    Mono<Void> bounded = under.close()
        .timeout(LAST_MOMENT,
            Mono.error(() -> new UnavailableException("device %s must close within %d ms (was left as it is)"
                .formatted(under.device().name(), LAST_MOMENT.toMillis()))),
            timers)
        .cache();
    Mono<Void> refusing = Mono.defer(() -> {
      LOG.warn("level {} is not closed after {} ms: copies that wait for device {} are refused",
          requireNonNull(hbm).name(), patience.toMillis(), under.device().name());
      return bounded;
    });
    return Mono.defer(() -> {
      long end = nanoClock.getAsLong() + patience.toNanos();
      Mono<Void> levels = settled.then(Mono.defer(() -> {
        Duration left = Duration.ofNanos(Math.max(0, end - nanoClock.getAsLong()));
        // `Bounded` reports it
        return Mono.when(super.close(), requireNonNull(hbm).close().timeout(left, refusing, timers))
            .onErrorComplete(UnavailableException.class);
      }));
      return Endings.inOrder(List.of(levels, bounded));
    });
  }

  /// Moves to the disk what memory alone has, as [TierStack#save] does; nothing without a disk.
  public Mono<Void> save(Duration patience, Scheduler timers) {
    return ssd == null ? Mono.empty() : stack.save(patience, timers);
  }

  private void sayLeft(int blocks) {
    if (blocks > 0) {
      LOG.warn("{} blocks ({} bytes) that were on their way to the disk had not got there in time, and may be gone",
          blocks,
          (long) blocks * info().space().layout().blockBytes());
    }
  }

  /// Does not wait for blocks whose writing has not begun: they are left behind.
  @Override
  public Mono<Void> close() {
    return device == null ? super.close() : Endings.inOrder(List.of(super.close(), device.close()));
  }

  @Override
  protected boolean letsSessionsThrough() {
    return true;
  }
}
