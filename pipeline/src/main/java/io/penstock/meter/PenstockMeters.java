package io.penstock.meter;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.MeterRegistry;
import io.penstock.block.BlockArena;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.flow.LoadPrefix.Plan;
import io.penstock.pool.curve.WhatIf;
import io.penstock.pool.share.SharedMemory;
import io.penstock.tier.BlockTier;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.Medium;
import io.penstock.tier.TierInfo;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;

/// All meters of Penstock, in the registry of an application. The application makes one before its tiers, because a
/// tier is built with its [#listener].
///
/// Gauges of a tier ask the tier when the registry reads them, at most once a second, so a scrape needs no call before
/// it. A tier of this process answers at once; a remote one answers later, and the gauges then show the last answer.
/// Units are base units: seconds and bytes. Safe from any thread. The registry keeps alive what it shows.
public final class PenstockMeters {
  private final MeterRegistry registry;
  private final LongSupplier nanos;
  private final Map<BlockTier, TierGauges> tiers = new ConcurrentHashMap<>();
  private final Map<String, WhatIfGauges> estimates = new ConcurrentHashMap<>();

  private PenstockMeters(MeterRegistry registry, LongSupplier nanos) {
    this.registry = requireNonNull(registry, "registry");
    this.nanos = requireNonNull(nanos, "nanos");
  }

  /// The meters of one process, in `registry`.
  public static PenstockMeters in(MeterRegistry registry) {
    return in(registry, System::nanoTime);
  }

  /// @param nanos clock that tells the age of figures
  static PenstockMeters in(MeterRegistry registry, LongSupplier nanos) {
    return new PenstockMeters(registry, nanos);
  }

  /// Counts the work of a tier: pass it to the tier's constructor.
  ///
  /// @param tier configured name of the tier
  /// @param medium where its bytes are stored
  public TierListener listener(String tier, Medium medium) {
    return new MicrometerTierListener(registry, tier, medium);
  }

  /// Shows what `tier` has, once per tier.
  public PenstockMeters bind(BlockTier tier) {
    gauges(tier);
    return this;
  }

  /// Asks `tier` now, and shows its answer.
  ///
  /// @return cold; completes when the gauges show the answer, and signals the error of the tier
  public Mono<TierStat> refresh(BlockTier tier) {
    return Mono.defer(() -> gauges(tier).refresh());
  }

  private TierGauges gauges(BlockTier tier) {
    return tiers.computeIfAbsent(requireNonNull(tier, "tier"), one -> TierGauges.bind(registry, one, nanos));
  }

  /// Shows bytes in flight, capacity and waiters of `budget`, under its name.
  public PenstockMeters bind(ByteBudget budget) {
    Gauges.bind(registry, budget);
    return this;
  }

  /// Shows the slots of `arena`.
  ///
  /// @param name tag that distinguishes arenas
  public PenstockMeters bind(String name, BlockArena arena) {
    Gauges.bind(registry, name, arena);
    return this;
  }

  /// Shows the hit rates to expect at other capacities of a tier, once per name.
  ///
  /// @param estimate of the tier at this moment
  public PenstockMeters bind(TierInfo tier, Supplier<WhatIf> estimate) {
    estimates.computeIfAbsent(tier.name(), name -> WhatIfGauges.bind(registry, tier, estimate, nanos));
    return this;
  }

  /// Counts how often a prefix was fetched or computed, and why: the listener of a
  /// [io.penstock.flow.LoadPrefix.Choice].
  public Consumer<Plan> fetches(String tier) {
    return new FetchMeters(registry, tier);
  }

  /// Counts and times streams of slices.
  public StreamMeters streams() {
    return new StreamMeters(registry);
  }

  /// Counts connections.
  ///
  /// @param bounds a word for each bound that ends a connection
  /// @param transports a word for each transport
  public WireMeters connections(Collection<String> bounds, Collection<String> transports) {
    return new WireMeters(registry, bounds, transports);
  }

  /// Shows connections and streams that a server has open, and the room that unfinished frames have taken.
  public PenstockMeters bindServer(IntSupplier connections, IntSupplier streams, LongSupplier frameBytes) {
    Gauges.bindServer(registry, connections, streams, frameBytes);
    return this;
  }

  /// Counts and times the items of a transfer engine.
  ///
  /// @param reasons a word for each way in which an item fails
  public TransferMeters transfers(Collection<String> reasons) {
    return new TransferMeters(registry, reasons);
  }

  /// Counts the ends of the requests of a [PrefillConnector]: the listener of it.
  public RequestMeters requests() {
    return new RequestMeters(registry);
  }

  /// Counts and times the copies of a device.
  public CopyMeters copies(String device) {
    return new CopyMeters(registry, device);
  }

  /// Shows the number of clients of a side-car, and the memory mapped for them.
  public SideCarMeters sideCar(IntSupplier clients, IntSupplier regions, LongSupplier mappedBytes) {
    return new SideCarMeters(registry, clients, regions, mappedBytes);
  }

  /// Shows the bytes of host memory that is of one kind of pages.
  public PenstockMeters bindMemory(String pages, LongSupplier bytes) {
    Gauges.bindMemory(registry, pages, bytes);
    return this;
  }

  /// Shows the bytes of host memory that stay in memory, and how often memory was of another kind than configured.
  public PenstockMeters bindMemory(LongSupplier lockedBytes, LongSupplier fallbacks) {
    Gauges.bindMemoryLocked(registry, lockedBytes);
    Gauges.bindMemoryFallbacks(registry, fallbacks);
    return this;
  }

  /// Shows the share of each space in the host memory that spaces share.
  public PenstockMeters bind(SharedMemory memory) {
    Gauges.bindShared(registry, memory);
    return this;
  }
}
