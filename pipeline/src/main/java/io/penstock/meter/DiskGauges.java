package io.penstock.meter;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.penstock.tier.spi.DiskStat;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/// Shows what the disk of a level does.
///
/// @param latest its figures; null while there are none
record DiskGauges(MeterRegistry registry, Tags tags, Supplier<@Nullable DiskStat> latest) {
  void bind() {
    show(KvMeters.DISK_UNSYNCED, DiskStat::unsyncedBytes);
    show(KvMeters.DISK_UNSYNCED_AGE, DiskStat::unsyncedMillis);
    count(KvMeters.DISK_SYNCS, result("done"), DiskStat::syncs);
    count(KvMeters.DISK_SYNCS, result("failed"), DiskStat::failedSyncs);
    count(KvMeters.DISK_UNCERTAIN, tags, DiskStat::uncertainBytes);
    show(KvMeters.DISK_SEGMENTS, DiskStat::segments);
    show(KvMeters.DISK_HELD, DiskStat::heldBytes);
    show(KvMeters.DISK_LIVE, DiskStat::liveBytes);
    count(KvMeters.DISK_PUT, tags, DiskStat::putBytes);
    count(KvMeters.DISK_MOVED, tags, DiskStat::movedBytes);
    show(KvMeters.DISK_AMPLIFICATION, DiskStat::writeAmplification);
    count(KvMeters.DISK_RECLAIMED, tags, DiskStat::reclaimed);
    count(KvMeters.DISK_SCRUB_PASSES, tags, DiskStat::scrubPasses);
    count(KvMeters.DISK_SCRUBBED, tags, DiskStat::scrubbedBytes);
    count(KvMeters.DISK_DAMAGED, tags, DiskStat::damaged);
    count(KvMeters.DISK_UNREADABLE, tags, DiskStat::unreadable);
    count(KvMeters.DISK_UNKEPT, tags, DiskStat::unkept);
    show(KvMeters.DISK_PROBLEMS, stat -> stat.problems().size());
  }

  private Tags result(String result) {
    return tags.and(MeterTag.RESULT.asString(), result);
  }

  private void show(KvMeters meter, ToDoubleFunction<DiskStat> figure) {
    Gauges.gauge(registry, meter, tags, this, gauges -> gauges.read(figure, Double.NaN));
  }

  private void count(KvMeters meter, Tags with, ToDoubleFunction<DiskStat> figure) {
    FunctionCounter.builder(meter.getName(), this, gauges -> gauges.read(figure, 0)).description(meter.description())
        .baseUnit(meter.getBaseUnit())
        .tags(with).register(registry);
  }

  private double read(ToDoubleFunction<DiskStat> figure, double otherwise) {
    DiskStat stat = latest.get();
    return stat == null ? otherwise : figure.applyAsDouble(stat);
  }
}
