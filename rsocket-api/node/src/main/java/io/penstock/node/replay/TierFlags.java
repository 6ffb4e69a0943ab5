package io.penstock.node.replay;

import static java.util.Objects.requireNonNull;

import io.penstock.block.CacheSpace;
import io.penstock.node.config.Capacity;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.tiers.DiskPlan;
import io.penstock.node.tiers.TierPlan;
import io.penstock.pool.EvictionPolicy;
import io.penstock.storage.EngineKind;
import io.penstock.storage.SyncMode;
import io.penstock.storage.SyncRule;
import io.penstock.tier.StackMode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// The options of a replay that say what its node keeps.
final class TierFlags implements AutoCloseable {
  private static final List<EngineKind> ENGINES = List.of(EngineKind.values());

  @Option(names = "--hbm", paramLabel = "CAPACITY",
      description = "What the node keeps in device memory, simulated: a size or \"N blocks\" (default: 0).")
  private @Nullable String hbm;

  @Option(names = "--dram", paramLabel = "CAPACITY",
      description = "What it keeps in memory: a size, \"N blocks\" or unbounded (default: 4 GiB, at most half of the memory).")
  private @Nullable String dram;

  @Option(names = "--ssd", paramLabel = "CAPACITY", description = "What it keeps on disk: a size, \"N blocks\" or unbounded (default: 0).")
  private @Nullable String ssd;

  @Option(names = "--ssd-dir", paramLabel = "FOLDER", description = "An empty folder for the disk tier (default: a temporary one, deleted at the end).")
  private @Nullable Path ssdDir;

  @Option(names = "--engine", paramLabel = "NAME", description = "What keeps the records on disk: chronicle, plain or memory (default: chronicle).")
  private @Nullable String engine;

  @Option(names = "--durability", paramLabel = "NAME",
      description = "When blocks on disk are forced to the medium: none, interval or always (default: none, for a replay starts cold).")
  private @Nullable String durability;

  @Option(names = "--write-through", description = "Write every block to disk before it is visible, and keep it there while it is anywhere.")
  private boolean writeThrough;

  @Option(names = "--policy", paramLabel = "POLICY", description = "Who leaves first: lru or fifo (default: lru).")
  private @Nullable String policy;

  private @Nullable Path temporary;

  /// What the node keeps.
  ///
  /// @throws IllegalArgumentException if the options do not fit together
  TierPlan plan(CacheSpace space) {
    TierPlan plan = TierPlan.dram(space, dram == null ? DramCapacity.usual() : Capacity.parse(dram)).withHbm(capacity(hbm)).withPolicy(policy());
    if (capacity(ssd).isOff()) {
      requireLeftOut("--ssd-dir", ssdDir, "without --ssd");
      requireLeftOut("--engine", engine, "without --ssd");
      requireLeftOut("--durability", durability, "without --ssd");
      requireLeftOut("--write-through", writeThrough ? "set" : null, "without --ssd");
      return plan;
    }
    return plan.withSsd(capacity(ssd), DiskPlan.in(folder()).withEngine(engine()).withDurability(durability()))
        .withMode(writeThrough ? StackMode.WRITE_THROUGH : StackMode.EXCLUSIVE);
  }

  /// The same as arguments of `penstock serve`.
  static List<String> arguments(TierPlan plan) {
    List<String> arguments = new ArrayList<>(List.of("--hbm", plan.hbm().toString(), "--dram", plan.dram().toString(),
        "--policy", lower(plan.policy()), "--stack-mode", lower(plan.mode())));
    DiskPlan disk = plan.disk();
    if (disk != null) {
      arguments.addAll(List.of("--ssd", plan.ssd().toString(), "--ssd-dir", disk.folder().toString(), "--ssd-engine", lower(disk.engine()),
          "--ssd-segment-bytes", NodeSettings.SSD_SEGMENT_BYTES.type().print().apply(disk.segmentBytes()),
          "--ssd-durability", lower(disk.durability().mode()),
          "--ssd-sync-interval", NodeSettings.SSD_SYNC_INTERVAL.type().print().apply(disk.durability().interval()),
          "--ssd-sync-bytes", NodeSettings.SSD_SYNC_BYTES.type().print().apply(disk.durability().bytes())));
    }
    return arguments;
  }

  /// @throws IllegalArgumentException if any of these options was given
  void requireNone(String when) {
    requireLeftOut("--hbm", hbm, when);
    requireLeftOut("--dram", dram, when);
    requireLeftOut("--ssd", ssd, when);
    requireLeftOut("--ssd-dir", ssdDir, when);
    requireLeftOut("--engine", engine, when);
    requireLeftOut("--durability", durability, when);
    requireLeftOut("--write-through", writeThrough ? "set" : null, when);
    requireLeftOut("--policy", policy, when);
  }

  static void requireLeftOut(String flag, @Nullable Object value, String when) {
    if (value != null) {
      throw new IllegalArgumentException(flag + " must be left out " + when + " (was " + value + ")");
    }
  }

  private static Capacity capacity(@Nullable String text) {
    return text == null ? Capacity.OFF : Capacity.parse(text);
  }

  private EvictionPolicy policy() {
    return policy == null ? EvictionPolicy.LRU : oneOf("--policy", policy, List.of(EvictionPolicy.values()));
  }

  private EngineKind engine() {
    return engine == null ? EngineKind.CHRONICLE : oneOf("--engine", engine, ENGINES);
  }

  private SyncRule durability() {
    return SyncRule.defaults().withMode(durability == null ? SyncMode.NONE : oneOf("--durability", durability, List.of(SyncMode.values())));
  }

  private static <E extends Enum<E>> E oneOf(String flag, String text, List<E> values) {
    for (E value : values) {
      if (lower(value).equals(text.toLowerCase(Locale.ROOT))) {
        return value;
      }
    }
    throw new IllegalArgumentException("%s must be one of %s (was %s)".formatted(flag,
        String.join(", ", values.stream().map(TierFlags::lower).toList()), text));
  }

  static String lower(Enum<?> value) {
    return value.name().toLowerCase(Locale.ROOT);
  }

  private Path folder() {
    try {
      if (ssdDir == null) {
        temporary = Files.createTempDirectory("penstock-ssd-");
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().name("penstock-ssd-cleaner").unstarted(this::delete)); // a signal, too, is an end
        return temporary;
      }
      Files.createDirectories(ssdDir);
      try (Stream<Path> files = Files.list(ssdDir)) {
        if (files.findAny().isPresent()) {
          throw new IllegalArgumentException("--ssd-dir must be new or empty, for a replay starts cold (was " + ssdDir + ", not empty)");
        }
      }
      return ssdDir;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Deletes the temporary folder, if there is one.
  @Override
  public void close() {
    delete();
  }

  private synchronized void delete() {
    if (temporary == null || !Files.exists(temporary)) {
      return;
    }
    try (Stream<Path> files = Files.walk(requireNonNull(temporary))) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("the disk tier's folder " + temporary + " must be deleted by hand: " + e.getMessage(), e);
    }
  }
}
