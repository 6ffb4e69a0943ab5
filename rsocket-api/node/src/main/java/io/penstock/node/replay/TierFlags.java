package io.penstock.node.replay;

import io.penstock.block.CacheSpace;
import io.penstock.block.EvictionPolicy;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.Flag;
import io.penstock.node.cli.Folders;
import io.penstock.node.cli.TemporaryFolder;
import io.penstock.node.config.NodeSettings;
import io.penstock.node.config.Policies;
import io.penstock.node.setting.Capacity;
import io.penstock.node.shape.ModelSize;
import io.penstock.node.text.Reason;
import io.penstock.node.text.Sizes;
import io.penstock.node.tiers.DiskPlan;
import io.penstock.node.tiers.DiskRoom;
import io.penstock.node.tiers.TierPlan;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.EngineKind;
import io.penstock.storage.disk.HealthOptions;
import io.penstock.storage.disk.SyncMode;
import io.penstock.storage.disk.SyncRule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// The options of a replay that configure the levels of its node.
final class TierFlags implements AutoCloseable {
  /// A replay waits for a slow disk: a level that is off changes hits, which are to be those of the policy. A disk that
  /// is silent for so long is broken.
  private static final HealthOptions PATIENT = HealthOptions.defaults().withStallAfter(Duration.ofHours(1));

  /// Wait for the room of the disk.
  private static final Duration ANSWER = Duration.ofSeconds(30);

  private static final List<EngineKind> ENGINES = List.of(EngineKind.values());

  @Option(names = "--hbm", paramLabel = "CAPACITY",
      description = "Blocks kept in device memory (HBM): a size, in bytes of the model, or \"N blocks\" (default: 0).")
  private @Nullable String hbm;

  @Mixin
  private final DeviceFlags device;

  @Option(names = "--dram", paramLabel = "CAPACITY",
      description = "Blocks kept in host memory (DRAM): a size, in bytes of the model, \"N blocks\" or unbounded"
          + " (default: as many as 4 GiB of payload, at most half of the memory).")
  private @Nullable String dram;

  @Option(names = "--ssd", paramLabel = "CAPACITY",
      description = "Blocks kept on disk (SSD): a size, in bytes of the model, \"N blocks\" or unbounded (default: 0).")
  private @Nullable String ssd;

  @Option(names = "--ssd-dir", paramLabel = "FOLDER",
      description = "An empty folder for the disk tier (default: a temporary one, deleted at the end). " + Folders.MADE)
  private @Nullable Path ssdDir;

  @Option(names = "--ssd-engine", paramLabel = "NAME",
      description = "Engine that writes the records on disk: chronicle or plain (default: chronicle).")
  private @Nullable String engine;

  @Option(names = {"--ssd-durability", "--durability"}, paramLabel = "NAME",
      description = "When blocks on disk are forced to the medium: none, interval or always (default: none, for a"
          + " replay starts cold).")
  private @Nullable String durability;

  @Option(names = "--engine", paramLabel = "NAME", hidden = true, description = "Short form of the option "
      + "above.")
  private @Nullable String shortEngine;

  @Option(names = "--stack-mode", paramLabel = "NAME",
      description = {
        "exclusive keeps a block on one level. write_through writes it to disk before it is visible, and keeps it on "
            + "every level below its own; each level must then be larger than the one above (default: exclusive)."})
  private @Nullable String mode;

  @Option(names = "--write-through", hidden = true, description = "Equal to --stack-mode write_through.")
  private boolean writeThrough;

  @Option(names = "--policy", paramLabel = "POLICY",
      description = "Which block leaves when the node is full: " + Policies.NAMES + " (default: lru).")
  private @Nullable String policy;

  private final Consumer<String> say;
  private @Nullable TemporaryFolder temporary;

  TierFlags(Console console) {
    this.say = console::say;
    this.device = new DeviceFlags(console.environment());
  }

  /// Levels of the node.
  ///
  /// @param space of the payloads
  /// @param size of the blocks in the model, of which capacities are
  /// @throws IllegalArgumentException if the options do not fit together
  TierPlan plan(CacheSpace space, ModelSize size) {
    requireOneName("--engine", shortEngine, "--ssd-engine", engine);
    requireOneName("--write-through", writeThrough ? "set" : null, "--stack-mode", mode);
    Capacity memory =
        dram == null ? DramCapacity.usual(space.layout().blockBytes()) : capacity("--dram", dram, size);
    TierPlan plan = TierPlan.dram(space, memory).withHbm(hbm(size)).withPolicy(policy());
    if (plan.hbm().isOff()) {
      device.requireNone("without --hbm");
    } else {
      plan = plan.withDevice(device.plan());
    }
    Capacity capacity = capacity("--ssd", ssd, size);
    if (capacity.isOff()) {
      requireNoneOfDisk("without --ssd");
      return plan;
    }
    StackOptions.Mode keeps = mode();
    EngineKind keeper = engine();
    SyncRule syncs = durability();
    DiskPlan disk = DiskPlan.in(folder()).withHealth(PATIENT);
    DiskRoom.within(ANSWER, disk.folder()).ifPresent(room -> requireRoom(room, disk, capacity, space, size));
    return plan.withSsd(capacity, disk.withEngine(keeper).withDurability(syncs)).withMode(keeps);
  }

  /// A full disk takes no more blocks, and then hits are not those of the policy.
  ///
  /// @throws IllegalArgumentException if the files of the payloads do not fit
  static void requireRoom(DiskRoom on, DiskPlan disk, Capacity capacity, CacheSpace payload, ModelSize size) {
    int payloadBytes = payload.layout().blockBytes();
    long room = on.bytes(disk.share().highPercent(), disk.share().keepFreeBytes());
    long most = (long) (room / DiskRoom.SPREAD / payloadBytes);
    if (!capacity.equals(Capacity.UNBOUNDED) && capacity.inBlocks(payloadBytes) > most) {
      throw new IllegalArgumentException(
          ("--ssd must be <= %s, for the disk of %s has room for %s, and a payload of %s takes up to"
              + " %s times as much there (was %s)").formatted(size.words(most), disk.folder(), Sizes.human(room),
                  Sizes.exact(payloadBytes), DiskRoom.SPREAD, size.words(capacity.inBlocks(payloadBytes))));
    }
  }

  /// Levels of the nodes of a model with several KV groups, in blocks of the trace for each group.
  ///
  /// @param groups number of groups
  /// @throws IllegalArgumentException if the options do not fit together
  TierPlan ofGroups(CacheSpace space, ModelSize size, int groups) {
    requireLeftOut("--hbm", hbm, "with a model of several KV groups, whose blocks share no device");
    TierPlan plan = plan(space, size);
    return dram == null && !plan.dram().equals(Capacity.UNBOUNDED)
        ? plan.withDram(Capacity.ofBlocks(Math.max(1, plan.dram().inBlocks(space.layout().blockBytes()) / groups)))
        : plan;
  }

  /// Arguments of `penstock serve` for this plan.
  static List<String> arguments(TierPlan plan) {
    List<String> arguments = new ArrayList<>(List.of("--hbm", plan.hbm().toString(), "--dram", plan.dram().toString(),
        "--policy", lower(plan.policy()), "--stack-mode", lower(plan.mode()), "--exact", String.valueOf(plan.exact())));
    if (!plan.hbm().isOff()) {
      arguments.addAll(DeviceFlags.arguments(plan.device()));
    }
    DiskPlan disk = plan.disk();
    if (disk != null) {
      arguments.addAll(List.of("--ssd", plan.ssd().toString(), "--ssd-dir", disk.folder().toString(), "--ssd-engine",
          lower(disk.engine()),
          "--ssd-segment-bytes", NodeSettings.SSD_SEGMENT_BYTES.type().print().apply(disk.segmentBytes()),
          "--ssd-durability", lower(disk.durability().mode()),
          "--ssd-sync-interval", NodeSettings.SSD_SYNC_INTERVAL.type().print().apply(disk.durability().interval()),
          "--ssd-stall-after", NodeSettings.SSD_STALL_AFTER.type().print().apply(disk.health().stallAfter()),
          "--ssd-sync-bytes", NodeSettings.SSD_SYNC_BYTES.type().print().apply(disk.durability().bytes()),
          "--ssd-disk-high", String.valueOf(disk.share().highPercent()), "--ssd-disk-low",
          String.valueOf(disk.share().lowPercent())));
    }
    return arguments;
  }

  /// @throws IllegalArgumentException if any of these options was given
  void requireNone(String when) {
    requireLeftOut("--hbm", hbm, when);
    device.requireNone(when);
    requireLeftOut("--dram", dram, when);
    requireLeftOut("--ssd", ssd, when);
    requireNoneOfDisk(when);
    requireLeftOut("--policy", policy, when);
  }

  private void requireNoneOfDisk(String when) {
    requireLeftOut("--ssd-dir", ssdDir, when);
    requireLeftOut("--ssd-engine", engine, when);
    requireLeftOut("--engine", shortEngine, when);
    requireLeftOut("--durability", durability, when);
    requireLeftOut("--stack-mode", mode, when);
    requireLeftOut("--write-through", writeThrough ? "set" : null, when);
  }

  private static void requireOneName(String flag, @Nullable Object value, String same, @Nullable Object other) {
    if (other != null) {
      requireLeftOut(flag, value, "with " + same + ", which means the same");
    }
  }

  static void requireLeftOut(String flag, @Nullable Object value, String when) {
    Flag.requireLeftOut(flag, value, when);
  }

  private Capacity hbm(ModelSize size) {
    Capacity kept = capacity("--hbm", hbm, size);
    if (kept.equals(Capacity.UNBOUNDED)) {
      throw new IllegalArgumentException("--hbm must be a size, \"N blocks\", or 0 for off (was " + hbm + ")");
    }
    return kept;
  }

  /// Value of `flag` in blocks; nothing if it was left out.
  private static Capacity capacity(String flag, @Nullable String text, ModelSize size) {
    if (text == null) {
      return Capacity.OFF;
    }
    Capacity capacity = parsed(flag, text);
    return capacity.equals(Capacity.UNBOUNDED) ? capacity : Capacity.ofBlocks(size.blocks(flag, capacity));
  }

  private static Capacity parsed(String flag, String text) {
    try {
      return Capacity.parse(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(Reason.about(flag, e), e);
    }
  }

  private EvictionPolicy policy() {
    return policy == null ? EvictionPolicy.LRU : Policies.parse("--policy", policy);
  }

  private EngineKind engine() {
    return engine != null
        ? oneOf("--ssd-engine", engine, ENGINES)
        : shortEngine != null ? oneOf("--engine", shortEngine, ENGINES) : EngineKind.CHRONICLE;
  }

  private StackOptions.Mode mode() {
    return mode != null
        ? oneOf("--stack-mode", mode, List.of(StackOptions.Mode.values()))
        : writeThrough ? StackOptions.Mode.WRITE_THROUGH : StackOptions.Mode.EXCLUSIVE;
  }

  private SyncRule durability() {
    return SyncRule.defaults()
        .withMode(durability == null ? SyncMode.NONE : oneOf("--durability", durability, List.of(SyncMode.values())));
  }

  static <E extends Enum<E>> E oneOf(String flag, String text, List<E> values) {
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
        temporary = TemporaryFolder.create("penstock-ssd-");
        return temporary.path();
      }
      Folders.requireEmpty("--ssd-dir", Folders.make(say, "--ssd-dir", ssdDir)); // a replay starts cold
      return ssdDir;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Deletes the temporary folder, if there is one.
  @Override
  public void close() {
    if (temporary != null) {
      temporary.close();
    }
  }
}
