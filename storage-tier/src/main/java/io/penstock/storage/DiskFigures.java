package io.penstock.storage;

import io.penstock.storage.disk.SyncStat;
import io.penstock.storage.index.JournalRecovery;
import io.penstock.tier.TierStat;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Collects the figures of a journal for its tier.
final class DiskFigures {
  private DiskFigures() {}

  static TierStat.Disk of(SyncStat syncs, DiskUse space, JournalRecovery opening, ScrubStat scrub, LostRecords lost,
      DamageCopies copies) {
    List<String> problems = Stream
        .of(problem("sync", syncs.failure()), problem("reclaim", space.failure()), problem("scrub", scrub.failure()),
            problem("quarantine", copies.failure()))
        .flatMap(List::stream).toList();
    return new TierStat.Disk(syncs.unsyncedBytes(), syncs.unsyncedMillis(), syncs.syncs(), syncs.failedSyncs(),
        syncs.lostBytes(), space.segments(), space.heldBytes(), space.liveBytes(), space.userBytes(),
        space.movedBytes(), space.reclaimed(), scrub.passes(), scrub.bytes(),
        opening.damaged() + space.corrupt() + scrub.corrupt() + lost.read(), lost.unreadable(), copies.unkept(),
        opening.damaged(), problems);
  }

  private static List<String> problem(String what, @Nullable RuntimeException failure) {
    return failure == null ? List.of() : List.of(what + ": " + failure.getMessage());
  }
}
