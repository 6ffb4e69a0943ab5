package io.penstock.storage;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.disk.SyncRule;
import io.penstock.storage.engine.EngineFailure.StorageFullException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.FreeSpace;
import io.penstock.storage.engine.file.PlainEngine;
import io.penstock.testkit.Blocks;
import io.penstock.tier.Presence;
import io.penstock.tier.Reservation;
import io.penstock.tier.TierListener;
import io.penstock.tier.TierStat;
import io.penstock.tier.spi.StoreUnavailableException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Journals that share a disk, with each other and with strangers: it never gets fuller than it may, and a disk that
/// strangers have filled costs no stored block.
@Timeout(60)
final class SharedDiskTest {
  private static final long MIB = 1 << 20;
  private static final long SEGMENT = MIB;
  private static final long KEPT_FREE = 2 * MIB;
  private static final long TOTAL = 16 * MIB;
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  /// 64 KiB.
  private static final CacheSpace SPACE =
      CacheSpace.of("shared", BlockLayout.attention(8, 16, 2, 64, ElementType.BF16));

  @TempDir
  Path disk;
  private final AtomicLong strangers = new AtomicLong();
  private final List<JournalTier> tiers = new ArrayList<>();

  @AfterEach
  void close() {
    tiers.forEach(tier -> tier.close().block(PATIENCE));
  }

  @Test
  void twoJournals_putMoreThanTheDiskHas_andNeitherFails_norTakesWhatIsToStayFree() throws IOException {
    JournalTier one = tier("one", played());
    JournalTier two = tier("two", played());
    for (int i = 0; i < 500; i++) {
      put(i % 2 == 0 ? one : two, i);
      assertThat(free()).as("after put %d", i).isGreaterThanOrEqualTo(KEPT_FREE);
    }
    assertThat(free()).as("not above the high watermarks for long").isGreaterThanOrEqualTo(TOTAL / 10 - 2 * SEGMENT);
    for (JournalTier tier : tiers) {
      TierStat stat = stat(tier);
      assertThat(stat.evicted()).as("what left, left by name").isEqualTo(250 - stat.blocks()).isPositive();
      assertThat(stat.blocks()).as("each has its share").isPositive();
      assertThat(stat.tiering().evictedForRoom()).isPositive();
    }
    assertThat(present(one, 498)).isTrue();
    assertThat(present(two, 499)).isTrue();
  }

  @Test
  void strangers_takeTheDisk_andTheJournalKeepsWhatItHas() throws IOException {
    JournalTier tier = tier("one", played());
    for (int i = 0; i < 100; i++) {
      put(tier, i);
    }
    strangers.set(free() - MIB);
    for (int i = 100; i < 200; i++) {
      tryPut(tier, i);
    }
    for (int i = 0; i < 100; i++) {
      assertThat(present(tier, i)).as("block %d, stored before the disk was full", i).isTrue();
    }
    assertThat(stat(tier).tiering().evictedForRoom()).isZero();
    strangers.set(0);
    put(tier, 200);
    assertThat(present(tier, 200)).isTrue();
  }

  @Test
  void diskAboveTheHighWatermark_takesNewBlocks_onlyInPlaceOfAsManyOldOnes() throws IOException {
    JournalTier tier = tier("one", played());
    for (int i = 0; i < 100; i++) {
      put(tier, i);
    }
    strangers.set(free() - TOTAL / 10 - KEPT_FREE + MIB);
    long before = TOTAL - free();
    for (int i = 100; i < 200; i++) {
      put(tier, i);
      assertThat(TOTAL - free()).as("bytes in use after put %d", i).isLessThanOrEqualTo(before + SEGMENT);
    }
    assertThat(stat(tier).blocks()).as("a segment's worth at most is missing").isGreaterThanOrEqualTo(100 - 2 * 16);
    assertThat(present(tier, 199)).isTrue();
  }

  @Test
  void smallFileSystem_sharedByTwoJournalsOfChronicle_isNeverFull() throws IOException, InterruptedException {
    Path mount = Files.createDirectories(disk.resolve("small"));
    assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=96m", "penstock-test", mount.toString()) == 0,
        "a tmpfs can be mounted here");
    try {
      JournalTier one = chronicle(mount.resolve("one"));
      JournalTier two = chronicle(mount.resolve("two"));
      for (int i = 0; i < 800; i++) {
        put(i % 2 == 0 ? one : two, 2L * i, 2L * i + 2);
        assertThat(FreeSpace.of(mount).usableBytes()).as("after put %d", i).isGreaterThanOrEqualTo(8 * MIB);
      }
      assertThat(stat(one).evicted() + stat(two).evicted()).isPositive();
      assertThat(present(one, 1_596)).isTrue();
      assertThat(present(two, 1_598)).isTrue();
      one.close().block(PATIENCE);
      two.close().block(PATIENCE);
    } finally {
      tiers.clear();
      run("umount", "-l", mount.toString());
    }
  }

  private JournalTier chronicle(Path folder) {
    JournalOptions options =
        JournalOptions.defaults(folder).withSegments(new EngineOptions(4 * MIB, 8 * MIB)).withReclaim(watermarks());
    return add(new JournalTier(JournalStore.open(SPACE, options), 1_000_000, stackOptions(), TierListener.noop()));
  }

  private JournalTier tier(String name, FreeSpace space) {
    EngineOptions segments = new EngineOptions(SEGMENT, KEPT_FREE);
    JournalOptions options =
        JournalOptions.defaults(disk.resolve(name)).withEngine(EngineKind.PLAIN).withSegments(segments)
            .withDurability(SyncRule.none()).withReclaim(watermarks());
    JournalStore store = JournalStore.open(SPACE, options, PlainEngine.open(disk.resolve(name), segments, space),
        new SerialExecutor(), Runnable::run);
    return add(new JournalTier(store, 1_000_000, stackOptions(), TierListener.noop()));
  }

  private JournalTier add(JournalTier tier) {
    tiers.add(tier);
    return tier;
  }

  private static ReclaimOptions watermarks() {
    return ReclaimOptions.defaults().withDiskWatermarks(0.90, 0.80).withBytesPerSecond(Long.MAX_VALUE);
  }

  private static StackOptions stackOptions() {
    return StackOptions.defaults("ssd").withIngressBlocks(8).withTransferBlocks(8).withPromotionBlocks(2)
        .withBounceBlocks(1);
  }

  /// A disk of its own size, with whatever lies in this test's folder.
  private FreeSpace played() {
    return new FreeSpace() {
      @Override
      public long usableBytes() {
        return Math.max(0, free());
      }

      @Override
      public long totalBytes() {
        return TOTAL;
      }
    };
  }

  private long free() {
    try (Stream<Path> files = Files.walk(disk)) {
      return TOTAL - strangers.get()
          - files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void put(JournalTier tier, long number) {
    put(tier, number, number + 1);
  }

  private static void put(JournalTier tier, long from, long to) {
    try (BlockScope scope = new BlockScope()) {
      List<BlockKey> keys = Blocks.keys(SPACE, from, to);
      Reservation reservation = requireNonNull(tier.reserve(keys, scope).block(PATIENCE));
      reservation.drafts().forEach(Blocks::produce);
      assertThat(reservation.commit(reservation.drafts()).block(PATIENCE)).hasSize(keys.size());
    }
  }

  /// Puts a block into a tier whose disk may be full.
  private static void tryPut(JournalTier tier, long number) {
    try {
      put(tier, number);
    } catch (StoreUnavailableException e) {
      assertThat(e).as("typed").isInstanceOf(StorageFullException.class);
    }
  }

  private static boolean present(JournalTier tier, long number) {
    Presence presence = requireNonNull(tier.contains(Blocks.keys(SPACE, number, number + 1)).block(PATIENCE));
    return presence.get(0);
  }

  private static TierStat stat(JournalTier tier) {
    return requireNonNull(tier.stat().block(PATIENCE));
  }

  private static int run(String... command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
    return process.exitValue();
  }
}
