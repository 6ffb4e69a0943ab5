package io.penstock.node.config;

import io.penstock.block.BlockLayout;
import io.penstock.device.memory.MemoryPages;
import io.penstock.node.setting.Capacity;
import io.penstock.node.setting.DeviceKind;
import io.penstock.node.setting.Setting;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.text.Sizes;
import io.penstock.stack.shape.StackOptions;
import io.penstock.storage.record.RecordFormat;
import io.penstock.wire.server.FrameLengths;
import io.penstock.wire.transport.TransportKind;
import java.net.InetAddress;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The rules that tie several settings together. A rule about a setting that was refused by itself does not apply; the
/// broken ones are reported together.
final class ConfigRules {
  private static final List<Setting<Capacity>> LEVELS = List.of(NodeSettings.HBM, NodeSettings.DRAM, NodeSettings.SSD);

  private final NodeConfig config;
  private final List<String> problems;
  private @Nullable BlockLayout layout;

  private ConfigRules(NodeConfig config, List<String> problems) {
    this.config = config;
    this.problems = problems;
  }

  /// Adds combinations in `config` that are not possible.
  static void require(NodeConfig config, List<String> problems) {
    ConfigRules rules = new ConfigRules(config, problems);
    rules.rule(rules::layout, Stream.concat(LayoutSettings.ALL.stream(), RankSettings.ALL.stream())
        .toArray(Setting<?>[]::new));
    LEVELS.forEach(level -> rules.rule(() -> rules.oneBlock(level), level));
    rules.rule(rules::someLevel, NodeSettings.HBM, NodeSettings.DRAM, NodeSettings.SSD);
    rules.rule(rules::hugePages, NodeSettings.DRAM, NodeSettings.MEMORY_PAGES);
    rules.rule(rules::device, NodeSettings.HBM, NodeSettings.HBM_DEVICE);
    rules.rule(rules::folder, NodeSettings.SSD, NodeSettings.SSD_DIR);
    rules.rule(rules::writeThrough, NodeSettings.HBM, NodeSettings.DRAM, NodeSettings.SSD, NodeSettings.STACK_MODE,
        NodeSettings.WRITE_POLICY);
    rules.rule(() -> Writing.require(config, problems), NodeSettings.WRITE_POLICY, NodeSettings.STACK_MODE,
        NodeSettings.SSD_OFFLOAD_USES, NodeSettings.SSD);
    rules.rule(() -> Writing.requireWatermarks(config, problems), NodeSettings.DRAM_HIGH, NodeSettings.DRAM_LOW);
    rules.rule(rules::segments, NodeSettings.SSD, NodeSettings.SSD_SEGMENT_BYTES);
    rules.rule(() -> rules.atLeast(NodeSettings.SSD_DISK_HIGH, NodeSettings.SSD_DISK_LOW), NodeSettings.SSD_DISK_HIGH,
        NodeSettings.SSD_DISK_LOW);
    rules.rule(() -> AscendSettings.requireFitOfMemory(config, problems), NodeSettings.HBM_DEVICE,
        NodeSettings.MEMORY_NUMA, NodeSettings.MEMORY_PAGES,
        NodeSettings.DRAM, AscendSettings.FABRIC_MEMORY);
    rules.rule(() -> AscendSettings.requireFitOfStaging(config, problems), AscendSettings.BUFFER_POOL,
        AscendSettings.ASYNC_TRANSFER, AscendSettings.FABRIC_MEMORY,
        AscendSettings.GLOBAL_RESOURCE_CONFIG);
    rules.rule(rules::oneSliceEachWay, NodeSettings.BUDGET,
        NodeSettings.SLICE_BYTES);
    rules.rule(rules::oneRecording, RecordSettings.ALL.toArray(Setting<?>[]::new));
    rules.rule(() -> SecuritySettings.require(config, problems), SecuritySettings.ALL.toArray(Setting<?>[]::new));
    rules.rule(
        () -> SecuritySettings.lack(config).ifPresent(lack -> rules.thisHost(NodeSettings.LISTEN_HOST, lack)),
        NodeSettings.LISTEN_HOST, NodeSettings.OPEN_TO_NETWORK, SecuritySettings.TLS_CERT,
        SecuritySettings.AUTH_USERS, SecuritySettings.TLS_CLIENT_AUTH);
    rules.rule(
        () -> SecuritySettings.lack(config).filter(lack -> !config.get(AdminSettings.PORT).isOff())
            .ifPresent(lack -> rules.thisHost(AdminSettings.HOST, lack)),
        AdminSettings.HOST, AdminSettings.PORT, NodeSettings.OPEN_TO_NETWORK, SecuritySettings.TLS_CERT,
        SecuritySettings.AUTH_USERS, SecuritySettings.TLS_CLIENT_AUTH);
    rules.rule(() -> rules.thisHost(KvEventSettings.HOST, "neither TLS nor authentication"), KvEventSettings.HOST,
        NodeSettings.OPEN_TO_NETWORK);
    DoorSettings.DOORS.forEach(door -> rules.rule(() -> rules.door(door), door.listen(), NodeSettings.OPEN_TO_NETWORK,
        SecuritySettings.TLS_CERT, SecuritySettings.AUTH_USERS, SecuritySettings.TLS_CLIENT_AUTH, door.tls()));
    rules.rule(rules::savesAll, NodeSettings.SSD_SAVE, NodeSettings.SSD, NodeSettings.EXACT,
        NodeSettings.SSD_OFFLOAD_USES, NodeSettings.WRITE_POLICY);
    DoorSettings.requireOpen(config, problems);
    rules.rule(rules::keysOfS3, DoorSettings.S3.listen(), S3Settings.KEYS, SecuritySettings.AUTH_USERS);
    rules.rule(() -> ClusterSettings.require(config, problems), Stream.concat(ClusterSettings.ALL.stream(),
        Stream.of(NodeSettings.LISTEN_HOST, SecuritySettings.TLS_CERT, SecuritySettings.AUTH_USERS))
        .toArray(Setting<?>[]::new));
    rules.rule(() -> ClusterSettings.lack(config).ifPresent(lack -> rules.thisHost(ClusterSettings.HOST, lack)),
        ClusterSettings.CLUSTER, ClusterSettings.HOST, ClusterSettings.SECRET, NodeSettings.OPEN_TO_NETWORK);
    rules.rule(() -> TransportSettings.requireSocket(config, problems), TransportSettings.REGIONS,
        TransportSettings.SOCKET);
    rules.rule(() -> TransportSettings.require(config, problems), TransportSettings.PROTOCOL, TransportSettings.SOCKET,
        TransportSettings.WEB_SOCKET_PORT);
    rules.rule(rules::replayOfEvents, KvEventSettings.PORT, KvEventSettings.REPLAY_PORT);
    rules.rule(rules::oneSliceASecond, NodeSettings.LIMITS_BYTES, NodeSettings.SLICE_BYTES);
    rules.rule(rules::twoFrames, NodeSettings.FRAMES_BYTES, NodeSettings.SLICE_BYTES, NodeSettings.WINDOW_BLOCKS);
    rules.rule(() -> rules.atLeast(NodeSettings.RESERVE_BLOCKS, NodeSettings.WINDOW_BLOCKS),
        NodeSettings.RESERVE_BLOCKS,
        NodeSettings.WINDOW_BLOCKS);
  }

  /// A node saves all blocks at its end, or none.
  private void savesAll() {
    if (!config.get(NodeSettings.SSD_SAVE)) {
      return;
    }
    Setting<?> against = null;
    String wanted = "";
    if (config.get(NodeSettings.SSD).isOff()) {
      against = NodeSettings.SSD;
      wanted = "a size";
    } else if (config.get(NodeSettings.EXACT)) {
      against = NodeSettings.EXACT;
      wanted = "false";
    } else if (config.get(NodeSettings.SSD_OFFLOAD_USES) > 0) {
      against = NodeSettings.SSD_OFFLOAD_USES;
      wanted = "0";
    } else if (config.get(NodeSettings.WRITE_POLICY)
        .filter(StackOptions.WritePolicy.WRITE_THROUGH_SELECTIVE::equals).isPresent()) {
      against = NodeSettings.WRITE_POLICY;
      wanted = "auto or write_through";
    }
    if (against != null) {
      problems.add("%s must be %s for %s (%s)".formatted(against.key(), wanted, config.said(NodeSettings.SSD_SAVE),
          config.was(against)));
    }
  }

  /// @param about settings without which it says nothing
  private void rule(Runnable rule, Setting<?>... about) {
    if (Arrays.stream(about).allMatch(config::has)) {
      rule.run();
    }
  }

  private void layout() {
    int before = problems.size();
    StatedLayout.require(config, problems);
    if (problems.size() == before) {
      RankSettings.require(config, problems);
    }
    layout = problems.size() == before ? config.layout() : null;
  }

  private void oneBlock(Setting<Capacity> level) {
    if (layout != null && !holdsOne(level, layout.blockBytes())) {
      problems.add("%s must be >= one block of %s (%s)".formatted(level.key(), Sizes.exact(layout.blockBytes()),
          config.was(level)));
    }
  }

  private boolean holdsOne(Setting<Capacity> level, int blockBytes) {
    return !(config.get(level) instanceof Capacity.Bytes some) || some.bytes() >= blockBytes;
  }

  private void someLevel() {
    if (LEVELS.stream().allMatch(level -> config.get(level).isOff())) {
      problems.add("one of hbm, dram and ssd must be > 0 (all are off)");
    }
  }

  private void hugePages() {
    if (config.get(NodeSettings.DRAM).equals(Capacity.UNBOUNDED)
        && config.get(NodeSettings.MEMORY_PAGES) == MemoryPages.HUGE) {
      problems.add("dram must be bounded for %s, which takes all of it at the start (%s)".formatted(
          config.said(NodeSettings.MEMORY_PAGES),
          config.was(NodeSettings.DRAM)));
    }
  }

  private void device() {
    if (config.get(NodeSettings.HBM).isOff() && config.get(NodeSettings.HBM_DEVICE) != DeviceKind.SIM) {
      problems.add(
          "hbm must be > 0 for %s (%s)".formatted(config.said(NodeSettings.HBM_DEVICE), config.was(NodeSettings.HBM)));
    }
  }

  private void oneRecording() {
    if (config.get(RecordSettings.FOLDER).isPresent() && config.get(RecordSettings.LAST).isPresent()) {
      problems.add("%s must be none with %s, which has all (%s)".formatted(RecordSettings.LAST.key(),
          RecordSettings.FOLDER.key(), config.was(RecordSettings.LAST)));
      return;
    }
    RecordSettings.ignored(this::records).ifPresent(ignored -> problems.add("%s must be left out %s %s (%s)".formatted(
        ignored.setting().key(), ignored.word(), ignored.other().key(), config.was(ignored.setting()))));
  }

  /// Whether the setting asks for something.
  private boolean records(Setting<?> setting) {
    if (setting.equals(RecordSettings.FOLDER)) {
      return config.get(RecordSettings.FOLDER).isPresent();
    } else if (setting.equals(RecordSettings.LAST)) {
      return config.get(RecordSettings.LAST).isPresent();
    }
    return config.changes(setting);
  }

  private void folder() {
    if (!config.get(NodeSettings.SSD).isOff() && config.get(NodeSettings.SSD_DIR).isEmpty()) {
      problems.add("ssd.dir must be a folder when ssd is on (%s)".formatted(config.was(NodeSettings.SSD_DIR)));
    }
  }

  /// With write-through, each level repeats the blocks of the levels above.
  private void writeThrough() {
    if (Writing.mode(config) != StackOptions.Mode.WRITE_THROUGH) {
      return;
    }
    if (config.get(NodeSettings.SSD).isOff()) {
      problems.add("ssd must be > 0 to be written through to (%s)".formatted(config.was(NodeSettings.SSD)));
      return;
    }
    BlockLayout blocks = layout;
    if (blocks != null && LEVELS.stream().allMatch(level -> holdsOne(level, blocks.blockBytes()))) {
      larger(LEVELS.stream().filter(level -> !config.get(level).isOff()).toList(), blocks.blockBytes());
    }
  }

  private void larger(List<Setting<Capacity>> levels, int blockBytes) {
    for (int i = 1; i < levels.size(); i++) {
      Setting<Capacity> above = levels.get(i - 1);
      Setting<Capacity> level = levels.get(i);
      if (config.get(level).inBlocks(blockBytes) <= config.get(above).inBlocks(blockBytes)) {
        problems.add("%s must be > %s, which it repeats when stack.mode is write_through (%s)".formatted(level.key(),
            config.said(above),
            config.was(level)));
      }
    }
  }

  private void segments() {
    long bytes = config.get(NodeSettings.SSD_SEGMENT_BYTES); // 0 is auto
    if (bytes > 0 && !config.get(NodeSettings.SSD).isOff() && layout != null) {
      long least = 8L * RecordFormat.recordBytes(layout);
      if (bytes < least) {
        problems.add("ssd.segment.bytes must be >= 8 records of a block, %d B (%s)".formatted(least,
            config.was(NodeSettings.SSD_SEGMENT_BYTES)));
      }
    }
  }

  private void oneSliceEachWay() {
    if (config.get(NodeSettings.BUDGET) < 2L * config.get(NodeSettings.SLICE_BYTES)) {
      problems.add("%s must be >= 2 slices, one in and one out, of %s (%s)".formatted(NodeSettings.BUDGET.key(),
          config.said(NodeSettings.SLICE_BYTES), config.was(NodeSettings.BUDGET)));
    }
  }

  private void thisHost(Setting<String> of, String lack) {
    String host = config.get(of);
    if (!isThisHost(host) && !config.get(NodeSettings.OPEN_TO_NETWORK)) {
      problems.add(("%s must be an address of this host alone, such as 127.0.0.1, for connections have %s; %s allows"
          + " others (%s)").formatted(of.key(), lack, NodeSettings.OPEN_TO_NETWORK.flag(), config.was(of)));
    }
  }

  /// A door beyond this host is protected as the data port is.
  private void door(DoorSettings door) {
    config.get(door.listen()).filter(place -> place.transport() == TransportKind.TCP && !isThisHost(place.host()))
        .filter(place -> !config.get(NodeSettings.OPEN_TO_NETWORK))
        .flatMap(place -> SecuritySettings.lack(config)
            .or(() -> config.get(door.tls()) ? Optional.empty() : Optional.of("no TLS")))
        .ifPresent(lack -> problems.add(("%s must be an address of this host alone, such as 127.0.0.1, for connections"
            + " have %s; %s allows others (%s)").formatted(door.name(), lack, NodeSettings.OPEN_TO_NETWORK.flag(),
                config.was(door.listen()))));
  }

  /// Clients of S3 show no passwords: a node with users knows them by their keys.
  private void keysOfS3() {
    if (config.get(DoorSettings.S3.listen()).isPresent() && config.get(S3Settings.KEYS).isEmpty()
        && config.get(SecuritySettings.AUTH_USERS).isPresent()) {
      problems.add("s3.keys.file must be a file with %s and %s (%s)".formatted(
          config.said(DoorSettings.S3.listen()), config.said(SecuritySettings.AUTH_USERS),
          config.was(S3Settings.KEYS)));
    }
  }

  private void replayOfEvents() {
    if (config.get(KvEventSettings.PORT).isOff() && !config.get(KvEventSettings.REPLAY_PORT).isOff()) {
      problems.add("kv.events.port must be a port for %s (%s)".formatted(config.said(KvEventSettings.REPLAY_PORT),
          config.was(KvEventSettings.PORT)));
    }
  }

  /// Host names are not looked up, because their meaning may change.
  static boolean isThisHost(String host) {
    try {
      return host.equals("localhost") || InetAddress.ofLiteral(host).isLoopbackAddress();
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  private void twoFrames() {
    if (layout != null) {
      long least = 2L * FrameLengths.of(config.limits(), layout).longest();
      if (config.get(NodeSettings.FRAMES_BYTES) < least) {
        problems.add("%s must be >= 2 frames of the longest, %s (%s)".formatted(NodeSettings.FRAMES_BYTES.key(),
            Sizes.exact(least), config.was(NodeSettings.FRAMES_BYTES)));
      }
    }
  }

  private void oneSliceASecond() {
    config.get(NodeSettings.LIMITS_BYTES).filter(most -> most < config.get(NodeSettings.SLICE_BYTES))
        .ifPresent(most -> problems.add("%s must be >= %s (%s)".formatted(NodeSettings.LIMITS_BYTES.key(),
            config.said(NodeSettings.SLICE_BYTES), config.was(NodeSettings.LIMITS_BYTES))));
  }

  private void atLeast(Setting<? extends Number> bigger, Setting<? extends Number> smaller) {
    if (config.get(bigger).longValue() < config.get(smaller).longValue()) {
      problems.add("%s must be >= %s (%s)".formatted(bigger.key(), config.said(smaller), config.was(bigger)));
    }
  }
}
