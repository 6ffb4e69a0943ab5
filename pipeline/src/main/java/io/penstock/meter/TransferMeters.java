package io.penstock.meter;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Times the items of a transfer engine and counts its bytes, connections, second attempts and failures. Meters of a
/// transport appear with its first item or connection. Safe from any thread.
public final class TransferMeters {
  /// Buckets of the histogram lie between these.
  private static final Duration LEAST = Duration.ofNanos(50_000);
  private static final Duration MOST = Duration.ofMinutes(1);

  private final MeterRegistry registry;
  private final Map<Kind, Meters> kinds = new ConcurrentHashMap<>();
  private final Map<Path, Counter> bytes = new ConcurrentHashMap<>();
  private final Map<String, Counter> failures = new ConcurrentHashMap<>();
  private final Counter retries;
  private final Counter unreachable;
  /// The registry has weak references to them.
  private final List<LongSupplier> shown = new CopyOnWriteArrayList<>();

  /// @param reasons a word for each way an item fails
  public TransferMeters(MeterRegistry registry, Collection<String> reasons) {
    this.registry = registry;
    this.retries = counter(KvMeters.TRANSFER_RETRIES, Tags.empty());
    this.unreachable = counter(KvMeters.TRANSFER_UNREACHABLE, Tags.empty());
    reasons.forEach(this::failures);
  }

  private record Kind(String transport, String direction) {}

  private record Path(String transport, String direction, String carrier) {}

  private record Meters(Timer duration, Counter connect, Counter queue) {}

  /// Parts of an item's time, in nanoseconds.
  ///
  /// @param connect waiting for a connection
  /// @param queue waiting for its turn
  /// @param transfer moving its bytes
  public record Times(long connect, long queue, long transfer) {
    long total() {
      return connect + queue + transfer;
    }
  }

  /// An item ended.
  ///
  /// @param direction `read` or `write`
  /// @param failure one of the reasons; null if the item completed
  public void ended(String transport, String direction, Times times, @Nullable String failure) {
    Meters meters = kinds.computeIfAbsent(new Kind(transport, direction), this::meters);
    meters.duration.record(times.total(), TimeUnit.NANOSECONDS);
    meters.connect.increment(times.connect / 1e9);
    meters.queue.increment(times.queue / 1e9);
    if (failure != null) {
      failures(failure).increment();
    }
  }

  /// Bytes of items were moved.
  ///
  /// @param direction `read` or `write`
  /// @param carrier word for the carrier of the bytes
  public void carried(String transport, String direction, String carrier, long bytes) {
    if (bytes > 0) {
      this.bytes.computeIfAbsent(new Path(transport, direction, carrier), path -> counter(KvMeters.TRANSFER_CARRIED,
          tags(path.transport, path.direction).and(MeterTag.CARRIER.asString(), path.carrier))).increment(bytes);
    }
  }

  private Counter failures(String reason) {
    return failures.computeIfAbsent(reason,
        word -> counter(KvMeters.TRANSFER_FAILURES, Tags.of(MeterTag.REASON.asString(), word)));
  }

  /// A connection was made.
  public void connected(String transport, long nanos) {
    KvMeters meter = KvMeters.TRANSFER_CONNECTS;
    Timer.builder(meter.getName()).description(meter.description()).tags(MeterTag.TRANSPORT.asString(), transport)
        .register(registry).record(nanos, TimeUnit.NANOSECONDS);
  }

  /// A connection ended.
  ///
  /// @param reason a word of an enum
  public void disconnected(String transport, String reason) {
    counter(KvMeters.TRANSFER_DISCONNECTS,
        Tags.of(MeterTag.TRANSPORT.asString(), transport, MeterTag.REASON.asString(), reason)).increment();
  }

  /// A peer could not be reached.
  public void unreachable() {
    unreachable.increment();
  }

  /// An item is tried once more.
  public void retried() {
    retries.increment();
  }

  /// Shows the items of an engine.
  ///
  /// @param items in progress, or waiting for their connection
  /// @param bytes of these
  /// @param queued items that wait for their turn
  public void show(LongSupplier items, LongSupplier bytes, LongSupplier queued) {
    gauge(KvMeters.TRANSFER_ITEMS, items);
    gauge(KvMeters.TRANSFER_IN_FLIGHT, bytes);
    gauge(KvMeters.TRANSFER_QUEUED, queued);
  }

  private void gauge(KvMeters meter, LongSupplier value) {
    shown.add(value);
    Gauge.builder(meter.getName(), value, LongSupplier::getAsLong).description(meter.description())
        .baseUnit(meter.getBaseUnit()).register(registry);
  }

  private Meters meters(Kind kind) {
    Tags tags = tags(kind.transport, kind.direction);
    KvMeters duration = KvMeters.TRANSFER_DURATION;
    return new Meters(
        Timer.builder(duration.getName()).description(duration.description()).tags(tags)
            .publishPercentileHistogram().minimumExpectedValue(LEAST).maximumExpectedValue(MOST).register(registry),
        waited(tags, "connect"), waited(tags, "queue"));
  }

  private static Tags tags(String transport, String direction) {
    return Tags.of(MeterTag.TRANSPORT.asString(), transport, MeterTag.DIRECTION.asString(), direction);
  }

  private Counter waited(Tags tags, String reason) {
    return counter(KvMeters.TRANSFER_WAITED, tags.and(MeterTag.REASON.asString(), reason));
  }

  private Counter counter(KvMeters meter, Tags tags) {
    return Counter.builder(meter.getName()).description(meter.description()).baseUnit(meter.getBaseUnit()).tags(tags)
        .register(registry);
  }
}
