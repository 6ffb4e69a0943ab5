package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.CacheSpace;
import io.penstock.device.Device;
import io.penstock.device.ascend.AscendListener;
import io.penstock.node.setting.Capacity;
import io.penstock.pool.share.SharedMemory;
import io.penstock.stack.shape.StackOptions.Sampling;
import io.penstock.storage.engine.file.FolderLock;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierListener;
import io.penstock.wire.server.space.NodeSpaces;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The tiers of a node, one for each of its spaces. Several spaces share host memory by weight, within their quotas,
/// and divide the disk as [SpaceDisks] says. Closing closes all of it.
public final class SpaceTiers implements NodeSpaces {
  /// Part of its share, at most, that a space never gives up.
  private static final int LEAST_PART = 16;
  private static final Logger LOG = LoggerFactory.getLogger(SpaceTiers.class);

  private final List<NodeTiers> tiers = new CopyOnWriteArrayList<>();
  private final @Nullable SharedMemory memory;
  private final List<SpaceRoom.Part> parts = new ArrayList<>();
  private final Opening opening;
  private final double weights;
  /// The lock on the folder of the disk, whichever spaces have folders in it; null without a disk.
  private final @Nullable FolderLock folder;
  @GuardedBy("this") private final Map<CacheSpace, Mono<BlockTier>> opened = new HashMap<>();

  /// Arguments for opening tiers.
  private record Opening(TierPlan base, NodeMemory memory, OpenSpaces open, Watchers watchers,
      @Nullable TierRecording recording) {}

  /// Listeners of the tiers.
  ///
  /// @param listener makes one for the tier of a plan
  /// @param copies receives the copies of a device that is not simulated
  /// @param added receives each tier that is opened
  /// @param sampling for [NodeTiers#whatIf]
  public record Watchers(Function<TierPlan, TierListener> listener, AscendListener copies, Consumer<NodeTiers> added,
      Sampling sampling) {}

  private SpaceTiers(@Nullable SharedMemory memory, Opening opening, double weights) {
    this.memory = memory;
    this.opening = opening;
    this.weights = weights;
    DiskPlan disk = opening.base.disk();
    this.folder = disk == null ? null : new FolderLock(disk.folder());
  }

  /// Opens the tiers of `spaces`.
  ///
  /// @param base the plan of the node; its `dram` and `ssd` are those of all spaces together
  /// @param spaces none for the one space of `base`, which then has all of it
  /// @param open spaces that clients may open
  /// @return cold; signals errors of [NodeTiers#open], and `IllegalArgumentException` if `dram` has no room for a block
  ///     of each space
  public static Mono<SpaceTiers> open(TierPlan base, List<SpacePlan> spaces, OpenSpaces open, NodeMemory memory,
      Watchers watchers) {
    return open(base, spaces, open, memory, watchers, null);
  }

  /// Opens the tiers of `spaces`, and records what happens to them.
  ///
  /// @param recording null for none
  public static Mono<SpaceTiers> open(TierPlan base, List<SpacePlan> spaces, OpenSpaces open, NodeMemory memory,
      Watchers watchers, @Nullable TierRecording recording) {
    return Mono.defer(() -> {
      Opening opening = new Opening(base, memory, open, watchers, recording);
      return spaces.isEmpty() && open.most() == 0
          ? Mono.just(new SpaceTiers(null, opening, 1))
              .flatMap(all -> all.addAll(List.of(base)).onErrorResume(error -> Endings.after(error, all.close())))
          : shared(
              spaces.isEmpty()
                  ? List.of(new SpacePlan("main", base.space(), 1, Long.MAX_VALUE, Long.MAX_VALUE))
                  : spaces,
              opening);
    });
  }

  private static Mono<SpaceTiers> shared(List<SpacePlan> spaces, Opening opening) {
    double weights = spaces.stream().mapToDouble(SpacePlan::weight).sum();
    long dramBytes = opening.base.dram().inBlocks(1);
    List<Long> least =
        spaces.stream().map(space -> leastBlocks(space, dramBytes * (space.weight() / weights))).toList();
    long leastBytes = 0;
    for (int i = 0; i < spaces.size(); i++) {
      leastBytes += least.get(i) * spaces.get(i).blockBytes();
    }
    long most = spaces.stream().mapToInt(SpacePlan::blockBytes).max().orElseThrow();
    if (dramBytes - leastBytes < most) {
      throw new IllegalArgumentException(
          "dram must be >= a block of each space, and one of the largest, %d bytes (was %d)".formatted(
              leastBytes + most, dramBytes));
    }
    SharedMemory memory = new SharedMemory("dram", dramBytes - leastBytes, opening.memory.chunks());
    SpaceTiers all = new SpaceTiers(memory, opening, weights);
    SpaceDisks disks = new SpaceDisks(opening.base, spaces);
    List<SharedMemory.Share> shares = new ArrayList<>();
    for (int i = 0; i < spaces.size(); i++) {
      shares.add(all.share(spaces.get(i), least.get(i)));
    }
    List<TierPlan> plans = new ArrayList<>();
    for (int i = 0; i < spaces.size(); i++) {
      plans.add(disks.withDisk(all.plan(spaces.get(i), shares.get(i), least.get(i)), spaces.get(i)));
    }
    return all.addAll(plans).onErrorResume(error -> Endings.after(error, all.close()));
  }

  private static long leastBlocks(SpacePlan space, double shareBytes) {
    return Math.max(1, (long) (shareBytes / LEAST_PART / space.blockBytes()));
  }

  private SharedMemory.Share share(SpacePlan space, long leastBlocks) {
    long quota = Math.max(space.blockBytes(), space.quotaBytes() - leastBlocks * space.blockBytes());
    synchronized (parts) {
      parts.add(new SpaceRoom.Part(space.name(), space.weight(), quota));
      return requireNonNull(memory).share(space.name(), space.weight(), quota);
    }
  }

  /// Host memory alone.
  private TierPlan plan(SpacePlan space, SharedMemory.Share share, long leastBlocks) {
    List<SpaceRoom.Part> all;
    synchronized (parts) {
      all = List.copyOf(parts);
    }
    return opening.base.withSpace(space.space()).withSsd(Capacity.OFF, null)
        .withRoom(new SpaceRoom(space.name(), share, Math.min(leastBlocks, space.quotaBytes() / space.blockBytes()),
            requireNonNull(memory).totalBytes(), all));
  }

  private Mono<SpaceTiers> addAll(List<TierPlan> plans) {
    warnOfOtherJournals(plans);
    return Flux.fromIterable(plans).concatMap(this::add).then(Mono.just(this));
  }

  private void warnOfOtherJournals(List<TierPlan> plans) {
    DiskPlan disk = opening.base.disk();
    if (disk != null && !opening.base.ssd().isOff()) {
      Set<Path> own = plans.stream().map(TierPlan::disk).filter(Objects::nonNull).map(DiskPlan::folder)
          .collect(Collectors.toSet());
      DiskAnswer.within(disk.health().stallAfter(), "what other journals " + disk.folder() + " has",
          () -> OtherJournals.beside(own, disk.folder())).flatMap(OtherJournals::advice)
          .ifPresent(advice -> LOG.warn("journals of other spaces: {}", advice));
    }
  }

  private Mono<NodeTiers> add(TierPlan plan) {
    Watchers watchers = opening.watchers;
    return NodeTiers
        .open(plan, opening.memory, watchers.listener().apply(plan), watchers.copies(), watchers.sampling(),
            opening.recording, folder == null ? () -> {} : folder::take)
        .doOnNext(tier -> {
          tiers.add(tier);
          watchers.added().accept(tier);
        });
  }

  @Override
  public List<BlockTier> tiers() {
    return List.copyOf(tiers);
  }

  /// Ends the leases, pins and unfinished puts whose life is over, in every space.
  public void expire() {
    tiers.forEach(NodeTiers::expire);
  }

  @Override
  public boolean areOpen() {
    return opening.open.most() > 0;
  }

  @Override
  public synchronized Mono<BlockTier> open(CacheSpace space) {
    Mono<BlockTier> known = opened.get(space);
    if (known != null) {
      return known;
    }
    if (opened.size() >= opening.open.most()) {
      return Mono.empty();
    }
    Mono<BlockTier> tier = Mono.defer(() -> {
      long quota = requireNonNull(memory).totalBytes() * opening.open.percent() / 100;
      SpacePlan plan = new SpacePlan("open-" + space.id(), space, opening.open.weight(weights), quota,
          Long.MAX_VALUE);
      return add(plan(plan, share(plan, 1), 1)).cast(BlockTier.class);
    }).doOnError(error -> forget(space)).cache();
    opened.put(space, tier);
    return tier;
  }

  private synchronized void forget(CacheSpace space) {
    opened.remove(space);
  }

  /// All of the tiers.
  public List<NodeTiers> all() {
    return List.copyOf(tiers);
  }

  /// The first of the tiers.
  public NodeTiers first() {
    return tiers.getFirst();
  }

  /// Whether a disk is being opened for the first time, while other levels serve.
  public boolean isOpening() {
    return tiers.stream().anyMatch(NodeTiers::isOpening);
  }

  /// The devices under the levels, by the number that the machine has for them.
  public Map<Integer, Device> devices() {
    return first().devices();
  }

  /// Host memory that several spaces share.
  public Optional<SharedMemory> memory() {
    return Optional.ofNullable(memory);
  }

  /// Moves to their disks what memory alone has. The tiers do so at the same time; `patience` is for all of them.
  public Mono<Void> save(Duration patience, Scheduler timers) {
    return Mono.when(tiers.stream().map(tier -> tier.save(patience, timers)).toList());
  }

  /// Closes every tier as [NodeTiers#closeWithin] does, one after the other; `patience` is for all of them.
  public Mono<Void> closeWithin(Duration patience, Scheduler timers, LongSupplier nanoClock) {
    return Mono.defer(() -> {
      long end = nanoClock.getAsLong() + patience.toNanos();
      List<Mono<Void>> ends = new ArrayList<>();
      for (NodeTiers tier : tiers) {
        ends.add(Mono.defer(() -> tier.closeWithin(
            Duration.ofNanos(Math.max(Duration.ofMillis(1).toNanos(), end - nanoClock.getAsLong())), timers,
            nanoClock)));
      }
      ends.add(Mono.fromRunnable(this::closeShared));
      return Endings.inOrder(ends);
    });
  }

  /// Closes every tier at once.
  public Mono<Void> close() {
    List<Mono<Void>> ends = new ArrayList<>(tiers.stream().map(NodeTiers::close).toList());
    ends.add(Mono.fromRunnable(this::closeShared));
    return Endings.inOrder(ends);
  }

  private void closeShared() {
    if (memory != null) {
      memory.close();
    }
    if (folder != null) {
      folder.close();
    }
  }
}
