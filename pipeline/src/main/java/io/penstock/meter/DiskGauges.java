package io.penstock.meter;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.penstock.tier.TierStat;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/// Shows the work of the disk of a level.
///
/// @param latest figures of the disk; null while there are none
record DiskGauges(MeterRegistry registry, Tags tags, Supplier<TierStat.@Nullable Disk> latest) {
  void bind() {
    show(KvMeters.DISK_UNSYNCED, TierStat.Disk::unsyncedBytes);
    show(KvMeters.DISK_UNSYNCED_AGE, disk -> TierGauges.seconds(disk.unsyncedMillis()));
    count(KvMeters.DISK_SYNCS, result("done"), TierStat.Disk::syncs);
    count(KvMeters.DISK_SYNCS, result("failed"), TierStat.Disk::failedSyncs);
    count(KvMeters.DISK_UNCERTAIN, tags, TierStat.Disk::uncertainBytes);
    show(KvMeters.DISK_SEGMENTS, TierStat.Disk::segments);
    show(KvMeters.DISK_HELD, TierStat.Disk::heldBytes);
    show(KvMeters.DISK_LIVE, TierStat.Disk::liveBytes);
    count(KvMeters.DISK_PUT, tags, TierStat.Disk::putBytes);
    count(KvMeters.DISK_MOVED, tags, TierStat.Disk::movedBytes);
    show(KvMeters.DISK_AMPLIFICATION, TierStat.Disk::writeAmplification);
    count(KvMeters.DISK_RECLAIMED, tags, TierStat.Disk::reclaimed);
    count(KvMeters.DISK_SCRUB_PASSES, tags, TierStat.Disk::scrubPasses);
    count(KvMeters.DISK_SCRUBBED, tags, TierStat.Disk::scrubbedBytes);
    count(KvMeters.DISK_DAMAGED, tags, TierStat.Disk::damaged);
    count(KvMeters.DISK_UNREADABLE, tags, TierStat.Disk::unreadable);
    count(KvMeters.DISK_UNKEPT, tags, TierStat.Disk::unkept);
    show(KvMeters.DISK_PROBLEMS, stat -> stat.problems().size());
  }

  private Tags result(String result) {
    return tags.and(MeterTag.RESULT.asString(), result);
  }

  private void show(KvMeters meter, ToDoubleFunction<TierStat.Disk> figure) {
    Gauges.gauge(registry, meter, tags, this, gauges -> gauges.read(figure, Double.NaN));
  }

  private void count(KvMeters meter, Tags with, ToDoubleFunction<TierStat.Disk> figure) {
    FunctionCounter.builder(meter.getName(), this, gauges -> gauges.read(figure, 0)).description(meter.description())
        .baseUnit(meter.getBaseUnit())
        .tags(with).register(registry);
  }

  private double read(ToDoubleFunction<TierStat.Disk> figure, double otherwise) {
    TierStat.Disk stat = latest.get();
    return stat == null ? otherwise : figure.applyAsDouble(stat);
  }
}
