package io.penstock.meter;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.penstock.block.BlockArena;
import io.penstock.pool.share.SharedMemory;
import io.penstock.tier.ByteBudget;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;

/// Shows budgets, arenas and servers as gauges. The registry keeps them alive.
final class Gauges {
  private Gauges() {}

  /// Shows bytes in flight, capacity and waiters of `budget`.
  static void bind(MeterRegistry registry, ByteBudget budget) {
    Tags tags = Tags.of(MeterTag.BUDGET.asString(), budget.permits().name());
    gauge(registry, KvMeters.BUDGET_IN_FLIGHT, tags, budget, ByteBudget::inUseBytes);
    gauge(registry, KvMeters.BUDGET_PEAK, tags, budget, ByteBudget::peakBytes);
    gauge(registry, KvMeters.BUDGET_CAPACITY, tags, budget, ByteBudget::capacityBytes);
    gauge(registry, KvMeters.BUDGET_WAITING, tags, budget, one -> one.permits().waiting());
  }

  /// Shows the slots of `arena`.
  ///
  /// @param name tag that distinguishes arenas
  static void bind(MeterRegistry registry, String name, BlockArena arena) {
    Tags tags = Tags.of(MeterTag.ARENA.asString(), name);
    gauge(registry, KvMeters.ARENA_CLAIMED, tags, arena, BlockArena::claimedSlots);
    gauge(registry, KvMeters.ARENA_HIGH_WATER, tags, arena, BlockArena::highWaterSlots);
    gauge(registry, KvMeters.ARENA_CAPACITY, tags, arena, BlockArena::capacitySlots);
  }

  /// Shows connections and streams that a server serves.
  static void bindServer(MeterRegistry registry, IntSupplier connections, IntSupplier streams,
      LongSupplier frameBytes) {
    gauge(registry, KvMeters.WIRE_CONNECTIONS, Tags.empty(), connections, IntSupplier::getAsInt);
    gauge(registry, KvMeters.WIRE_STREAMS, Tags.empty(), streams, IntSupplier::getAsInt);
    gauge(registry, KvMeters.WIRE_FRAMES, Tags.empty(), frameBytes, LongSupplier::getAsLong);
  }

  /// Shows the bytes of host memory that is of one kind of pages.
  static void bindMemory(MeterRegistry registry, String pages, LongSupplier bytes) {
    gauge(registry, KvMeters.MEMORY_TAKEN, Tags.of(MeterTag.PAGES.asString(), pages), bytes, LongSupplier::getAsLong);
  }

  /// Shows the bytes of host memory that stay in memory.
  static void bindMemoryLocked(MeterRegistry registry, LongSupplier bytes) {
    gauge(registry, KvMeters.MEMORY_LOCKED, Tags.empty(), bytes, LongSupplier::getAsLong);
  }

  /// Shows the share of each space in the host memory that spaces share.
  static void bindShared(MeterRegistry registry, SharedMemory memory) {
    gauge(registry, KvMeters.SHARED_CAPACITY, Tags.empty(), memory, SharedMemory::totalBytes);
    gauge(registry, KvMeters.SHARED_FREE, Tags.empty(), memory, SharedMemory::freeBytes);
    gauge(registry, KvMeters.SHARED_LARGEST, Tags.empty(), memory, SharedMemory::largestFreeBytes);
  }

  /// Shows how often host memory was of another kind than configured.
  static void bindMemoryFallbacks(MeterRegistry registry, LongSupplier fallbacks) {
    KvMeters meter = KvMeters.MEMORY_FALLBACKS;
    FunctionCounter.builder(meter.getName(), registry, any -> fallbacks.getAsLong()) // the counter keeps the supplier
        .description(meter.description()).register(registry);
  }

  static <T> void gauge(MeterRegistry registry, KvMeters meter, Tags tags, T of, ToDoubleFunction<T> value) {
    Gauge.builder(meter.getName(), of, value).description(meter.description()).baseUnit(meter.getBaseUnit()).tags(tags)
        .strongReference(true).register(registry);
  }
}
