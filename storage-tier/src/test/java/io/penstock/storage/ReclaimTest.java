package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.stack.TierStack;
import io.penstock.stack.shape.StackLevel;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.disk.UnreadableSegments;
import io.penstock.storage.engine.EngineFailure.RecordUnreadableException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.MemoryDisk;
import io.penstock.storage.engine.MemoryEngine;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.file.ChronicleEngine;
import io.penstock.storage.engine.file.PlainEngine;
import io.penstock.testkit.Blocks;
import io.penstock.tier.TierEvent;
import io.penstock.tier.TierListener;
import io.penstock.tier.spi.BlockUnreadableException;
import io.penstock.tier.spi.StoredBlock;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.test.StepVerifier;

final class ReclaimTest {
  private abstract static class OnFiles extends ReclaimContract {
    @TempDir
    Path temporary;
    private @Nullable FileMedium medium;

    private FileMedium medium() {
      medium = medium == null ? new FileMedium(temporary) : medium;
      return medium;
    }

    Path directory() {
      return medium().directory();
    }

    @Override
    void crash() {
      medium().crash();
    }
  }

  @Nested
  final class OnChronicle extends OnFiles {
    @Override
    SegmentEngine engine(EngineOptions options) {
      return ChronicleEngine.open(directory(), options);
    }
  }

  @Nested
  final class OnPlainFiles extends OnFiles {
    @Override
    SegmentEngine engine(EngineOptions options) {
      return PlainEngine.open(directory(), options);
    }
  }

  @Nested
  final class InMemory extends ReclaimContract {
    private final List<MemoryDisk> disks = new ArrayList<>(List.of(new MemoryDisk()));
    private volatile Location damaged = new Location(1, 0, 8);
    private volatile Set<Location> unreadable = Set.of();
    private volatile int unreadableTo;
    private volatile int givenUpTo;
    private volatile Set<Location> givenUp = Set.of();
    private final Map<Location, Integer> reads = new ConcurrentHashMap<>();
    /// Happens during the next read, which fails then.
    private final AtomicReference<@Nullable Runnable> meanwhile = new AtomicReference<>();

    @Override
    SegmentEngine engine(EngineOptions options) {
      return new WrappedEngine(MemoryEngine.open(disks.getLast(), options)) {
        @Override
        public void read(Location record, long from, MemorySegment into) {
          reads.merge(record, 1, Integer::sum);
          Runnable event = meanwhile.getAndSet(null);
          if (event != null) {
            event.run();
            throw new RecordUnreadableException(record, new IOException("Input/output error"));
          }
          if (record.segment() <= unreadableTo || unreadable.contains(record)) {
            throw new StorageFailedException("read", new IOException("Input/output error"));
          }
          if (record.segment() <= givenUpTo || givenUp.contains(record)) {
            throw new RecordUnreadableException(record, new IOException("Input/output error"));
          }
          super.read(record, from, into);
          if (record.equals(damaged) && from + into.byteSize() > 300) {
            long at = Math.max(0, 300 - from);
            into.set(ValueLayout.JAVA_BYTE, at, (byte) (into.get(ValueLayout.JAVA_BYTE, at) ^ 1));
          }
        }
      };
    }

    @Override
    void crash() {
      disks.add(disks.getLast().copy());
    }

    @Test
    void damagedBlock_isNotMoved_butCountedAndTold() {
      JournalStore store = open(options(spread(1.2)));
      List<StoredBlock> all = fill(store, 0, 6L * SEGMENT / RECORD);
      StoredBlock bad = all.get(10);
      damaged = ((StoredRecord) bad).at();
      List<StoredBlock> live = new ArrayList<>();
      for (int i = 0; i < all.size(); i++) {
        if (i % 10 == 0) {
          live.add(all.get(i));
        } else {
          all.get(i).close();
        }
      }
      assertThat(store.disk().corrupt()).isEqualTo(1);
      assertThat(live.remove(1)).isSameAs(bad);
      assertReadable(store, live);
      try (BlockDraft draft = Blocks.draft(arena, bad.key())) {
        StepVerifier.create(store.read(List.of(bad), List.of(draft), GranuleRange.all(SPACE.layout())))
            .expectErrorSatisfies(failure -> assertThat(((BlockCorruptException) failure).key()).isEqualTo(bad.key()))
            .verify(PATIENCE);
      }
      bad.close();
      store.flush().block(PATIENCE);
      assertThat(store.disk().liveBytes()).isEqualTo((long) live.size() * RECORD);
      crash();
      assertThat(keys(open(options(spread(1.2))).recovered())).containsExactlyInAnyOrderElementsOf(keys(live));
    }

    @Test
    void damagedBlock_isAMissAtOnce_toTheTierOverIt() {
      JournalStore before = open(options(spread(1.2)));
      List<StoredBlock> all = fill(before, 0, 6L * SEGMENT / RECORD);
      Location bad = ((StoredRecord) all.get(10)).at();
      before.close().block(PATIENCE);
      JournalStore store = open(options(spread(1.2)));
      damaged = bad;
      TierStack tier = new TierStack(SPACE, List.of(new StackLevel.Stored(store, 10_000)),
          StackOptions.defaults("ssd").withMode(StackOptions.Mode.WRITE_THROUGH),
          TierListener.noop());
      List<BlockKey> keys = keys(all);
      tier.remove(IntStream.range(0, keys.size()).filter(i -> i % 10 != 0).mapToObj(keys::get).toList())
          .block(PATIENCE);
      assertThat(store.disk().corrupt()).isEqualTo(1);
      assertThat(requireNonNull(tier.contains(keys.subList(10, 11)).block(PATIENCE)).count()).isZero();
      assertThat(requireNonNull(tier.stat().block(PATIENCE)).corrupt()).isEqualTo(1);
      long last = requireNonNull(tier.stat().block(PATIENCE)).lastSequence();
      assertThat(tier.events(0).take(last).filter(TierEvent.Lost.class::isInstance)
          .map(event -> ((TierEvent.Lost) event).key()).collectList()
          .block(PATIENCE)).containsExactly(keys.get(10));
      tier.close().block(PATIENCE);
    }

    @Test
    void segmentsThatCouldNotBeRead_areTriedAgain_withoutWrites() {
      JournalStore store = open(options(spread(1.2)));
      List<StoredBlock> all = fill(store, 0, 6L * SEGMENT / RECORD);
      List<StoredBlock> live = new ArrayList<>();
      Location first = ((StoredRecord) all.getFirst()).at();
      unreadableTo = 2;
      for (int i = 0; i < all.size(); i++) {
        if (i % 10 == 0) {
          live.add(all.get(i));
        } else {
          all.get(i).close();
        }
      }
      time.advanceTimeBy(Duration.ofMinutes(30));
      int kept = store.disk().segments();
      assertThat(((StoredRecord) live.getFirst()).at()).as("first block").isEqualTo(first);
      assertThat(store.disk().failure()).as("why they are still there").isNotNull();
      assertThat(store.diskStat().unreadable()).isZero();
      unreadableTo = 0;
      time.advanceTimeBy(Duration.ofMillis(UnreadableSegments.LAST_MILLIS));
      assertThat(store.disk().segments()).isLessThan(kept);
      assertReadable(store, live);
    }

    @Test
    void recordsThatCannotBeRead_areGivenUp_andTheBlocksBehindThemAreMoved() {
      JournalStore store = open(options(spread(1.1)));
      List<StoredBlock> all = fill(store, 0, 6L * SEGMENT / RECORD);
      List<StoredBlock> live = IntStream.range(0, all.size()).filter(i -> i % 10 == 0).mapToObj(all::get)
          .collect(Collectors.toCollection(ArrayList::new));
      List<StoredBlock> bad = List.of(all.get(10), all.get(140), all.get(270)); // each in a segment of its own
      unreadable = bad.stream().map(stored -> ((StoredRecord) stored).at()).collect(Collectors.toSet());
      all.stream().filter(stored -> !live.contains(stored)).forEach(StoredBlock::close);
      assertThat(store.disk().failure()).as("until they are tried again").isInstanceOf(StorageFailedException.class);
      live.removeLast().close();
      assertThat(store.disk().failure()).as("while blocks come and go").isInstanceOf(StorageFailedException.class);
      int held = store.disk().segments();
      time.advanceTimeBy(Duration.ofMinutes(2));

      List<StoredBlock> gone = bad.stream().filter(stored -> !store.isIntact(stored)).toList();
      assertThat(gone).isNotEmpty();
      assertThat(store.diskStat().unreadable()).isEqualTo(gone.size());
      assertThat(store.disk().segments()).isLessThan(held);
      live.removeAll(gone);
      assertThat(store.disk().liveBytes()).isEqualTo((long) live.size() * RECORD);
      for (StoredBlock stored : gone) {
        try (BlockDraft draft = Blocks.draft(arena, stored.key())) {
          StepVerifier.create(store.read(List.of(stored), List.of(draft), GranuleRange.all(SPACE.layout())))
              .expectErrorSatisfies(
                  failure -> assertThat(((BlockUnreadableException) failure).key()).isEqualTo(stored.key()))
              .verify(PATIENCE);
        }
        stored.close();
      }
      unreadable = Set.of();
      assertReadable(store, live);
      store.flush().block(PATIENCE);
      crash();
      assertThat(keys(open(options(spread(1.1))).recovered())).as("their segments are gone")
          .containsExactlyInAnyOrderElementsOf(keys(live));
    }

    @Test
    void recordsThatCannotBeRead_doNotKeepASegment_asItsLast() {
      JournalStore store = open(options(spread(1.1)));
      List<StoredBlock> all = fill(store, 0, 6L * SEGMENT / RECORD);
      // Four, three and two in a segment
      List<StoredBlock> bad = Stream.of(10, 40, 70, 100, 140, 170, 200, 270, 300).map(all::get).toList();
      unreadable = bad.stream().map(stored -> ((StoredRecord) stored).at()).collect(Collectors.toSet());
      List<StoredBlock> live =
          IntStream.range(0, all.size()).filter(i -> i > 400 && i % 10 == 0).mapToObj(all::get).toList();
      all.stream().filter(stored -> !live.contains(stored) && !bad.contains(stored)).forEach(StoredBlock::close);
      assertThat(store.diskStat().unreadable()).as("before they were tried again").isZero();
      assertThat(bad).allMatch(store::isIntact);
      time.advanceTimeBy(Duration.ofMinutes(10));

      assertThat(store.disk().segments()).as("no more than is live, and two").isLessThanOrEqualTo(2);
      List<StoredBlock> gone = bad.stream().filter(stored -> !store.isIntact(stored)).toList();
      assertThat(gone).as("in two segments of three").hasSizeGreaterThanOrEqualTo(5);
      assertThat(store.diskStat().unreadable()).isEqualTo(gone.size());
      assertThat(store.disk().liveBytes()).isEqualTo((long) (live.size() + bad.size() - gone.size()) * RECORD);
      assertReadable(store, live);
    }

    @Test
    void recordsThatAreGivenUp_keepBelowTheRate_andOneThatIsGivenIsAskedForOnce() {
      JournalStore store = open(options(spread(1.1).withBytesPerSecond(SEGMENT)));
      List<StoredBlock> all = fill(store, 0, 6L * SEGMENT / RECORD);
      List<List<Location>> live = IntStream.rangeClosed(1, 3)
          .mapToObj(segment -> IntStream.range(0, all.size()).filter(i -> i % 2 == 0)
              .mapToObj(i -> ((StoredRecord) all.get(i)).at()).filter(at -> at.segment() == segment).toList())
          .toList();
      givenUp =
          live.stream().flatMap(segment -> segment.subList(0, segment.size() - 1).stream()).collect(Collectors.toSet());
      IntStream.range(0, all.size()).filter(i -> i % 2 == 1).forEach(i -> all.get(i).close());
      time.advanceTimeBy(Duration.ofMillis(100));
      assertThat(store.diskStat().unreadable()).as("of one segment").isBetween(1L, (long) live.getFirst().size());
      time.advanceTimeBy(Duration.ofMinutes(1));
      assertThat(store.diskStat().unreadable()).isEqualTo(givenUp.size());
      assertThat(live).as("asked for, and moved").allMatch(segment -> reads.get(segment.getLast()) <= 2);
    }

    @Test
    void blockThatWasMoved_whileItsOldRecordWasNotGiven_isReadWhereItIs() {
      JournalStore store = open(options(spread(1.2)));
      List<StoredBlock> all = fill(store, 0, 6L * SEGMENT / RECORD);
      Location before = ((StoredRecord) all.get(10)).at();
      meanwhile.set(() -> IntStream.range(0, all.size()).filter(i -> i % 10 != 0).forEach(i -> all.get(i).close()));
      assertReadable(store, List.of(all.get(10)));
      assertThat(((StoredRecord) all.get(10)).at()).as("moved").isNotEqualTo(before);
      assertThat(store.diskStat().unreadable()).isZero();
    }

    @Test
    void segmentThatCouldNotBeRead_costsNoPut_asLongAsAnotherGivesRoom() {
      JournalStore store = open(options(spread(1000).withCapacityBytes(16L * SEGMENT)));
      List<StoredBlock> all = fill(store, 0, 10L * SEGMENT / RECORD);
      List<StoredBlock> live = new ArrayList<>();
      for (int i = 0; i < all.size(); i++) {
        if (i % 5 == 0) {
          live.add(all.get(i));
        } else {
          all.get(i).close();
        }
      }
      givenUpTo = 2;
      // In one batch: no room was made before
      live.addAll(put(store, all.size(), all.size() + 8L * SEGMENT / RECORD));
      assertThat(store.disk().failure()).isInstanceOf(RecordUnreadableException.class);
      assertThat(store.diskStat().unreadable()).as("a whole segment is not given up").isZero();
      assertThat(store.disk().heldBytes()).isLessThanOrEqualTo(16L * SEGMENT);
      givenUpTo = 0;
      assertReadable(store, live);
    }

    /// Uniform overwrites, oldest segments first in effect: a share u of a victim is live, where u = e^(-(1-u)/d), with
    /// d of all bytes live.
    @Test
    void uniformOverwrites_at80PercentLive_amplifyAsTheModelSays() {
      uniformOverwrites_at80PercentLive_amplifyAsTheModelSays(2);
    }

    @Tag("proof")
    @Test
    void uniformOverwrites_at80PercentLive_amplifyAsTheModelSays_atLength() {
      uniformOverwrites_at80PercentLive_amplifyAsTheModelSays(3);
    }

    private void uniformOverwrites_at80PercentLive_amplifyAsTheModelSays(int turns) {
      JournalStore store = open(options(spread(1.25)));
      int blocks = 60 * SEGMENT / RECORD;
      List<StoredBlock> live = fill(store, 0, blocks);
      Random random = new Random(7);
      DiskUse start = store.disk();
      double density = 0;
      int rounds = 0;
      for (long written = 0; written < 2L * turns * blocks; written += 50) {
        List<StoredBlock> news = put(store, blocks + written, blocks + written + 50);
        for (StoredBlock stored : news) {
          live.set(random.nextInt(blocks), stored).close();
        }
        if (written == (long) turns * blocks / 50 * 50) {
          start = store.disk();
          density = 0;
          rounds = 0;
        }
        DiskUse now = store.disk();
        density += (double) now.liveBytes() / now.heldBytes();
        rounds++;
      }
      DiskUse end = store.disk();
      double measured = 1 + (double) (end.movedBytes() - start.movedBytes()) / (end.userBytes() - start.userBytes());
      double model = model(density / rounds);
      assertThat(measured).as("live share " + density / rounds + ", model " + model).isBetween(0.9 * model,
          1.1 * model);
      assertReadable(store, live);
    }

    private static double model(double density) {
      double share = 0.5;
      for (int i = 0; i < 1000; i++) {
        share = Math.exp(-(1 - share) / density);
      }
      return 1 / (1 - share);
    }
  }

  @Test
  void options_refuseWhatMakesNoSense() {
    ReclaimOptions options = ReclaimOptions.defaults();
    assertThatIllegalArgumentException().isThrownBy(() -> options.withMostSpread(1))
        .withMessage("mostSpread must be >= 1.1 (was 1.0)");
    assertThatIllegalArgumentException().isThrownBy(() -> options.withWatermarks(0.5, 0.6))
        .withMessage("lowWatermark and highWatermark must be in (0, 1], in that order (was 0.6 and 0.5)");
    assertThatIllegalArgumentException().isThrownBy(() -> options.withBytesPerSecond(0))
        .withMessage("bytesPerSecond must be > 0 (was 0)");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> JournalOptions.defaults(Path.of("x")).withCapacityBytes(1 << 30))
        .withMessage("capacityBytes must be >= 4 segments, 4294967296 (was 1073741824)");
  }
}
