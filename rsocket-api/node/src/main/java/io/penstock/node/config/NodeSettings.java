package io.penstock.node.config;

import io.penstock.block.EvictionPolicy;
import io.penstock.device.memory.MemoryPages;
import io.penstock.device.sidecar.SideCarServerOptions;
import io.penstock.node.setting.AscendTypes;
import io.penstock.node.setting.Capacity;
import io.penstock.node.setting.DeviceKind;
import io.penstock.node.setting.LogLevel;
import io.penstock.node.setting.PortRange;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import io.penstock.node.setting.Topic;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.text.Durations;
import io.penstock.node.text.Sizes;
import io.penstock.stack.shape.StackOptions;
import io.penstock.stack.shape.StackOptions.WritePolicy;
import io.penstock.storage.EngineKind;
import io.penstock.storage.ScrubOptions;
import io.penstock.storage.check.QuarantineBound;
import io.penstock.storage.disk.HealthOptions;
import io.penstock.storage.disk.SyncMode;
import io.penstock.storage.disk.SyncRule;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The table of a node's settings. It drives the file, the environment, the command line, their help and their errors.
public final class NodeSettings {
  public static final Setting<String> LISTEN_HOST = new Setting<>("listen.host", SettingType.host(), "127.0.0.1",
      "Address that clients connect to; :: for all interfaces, 0.0.0.0 for those of IPv4, localhost for both of this"
          + " host. Beyond this host only with TLS and authentication, or with --open-to-network.");
  public static final Setting<Boolean> OPEN_TO_NETWORK = new Setting<>("open.to.network", AscendTypes.flag(), "false",
      "Whether other hosts may connect without TLS and authentication.");
  public static final Setting<PortRange> LISTEN_PORT =
      new Setting<>("listen.port", TransportSettings.ports(), "7733",
          "Port that clients connect to, or a range of which the first free one is taken.");
  public static final Setting<Boolean> REGISTRY = new Setting<>("registry", AscendTypes.flag(), "false",
      "Whether prefill and decode ranks find each other by this node (penstock registry).");
  public static final Setting<Capacity> HBM = new Setting<>("hbm", SettingType.finiteCapacityOrOff(), "off",
      "Blocks kept in device memory (HBM).");
  public static final Setting<DeviceKind> HBM_DEVICE =
      new Setting<>("hbm.device", SettingType.oneOf(DeviceKind.class), "sim",
          "Kind of the device: sim uses host memory, ascend an Ascend device.");
  public static final Setting<Capacity> DRAM = new Setting<>("dram", SettingType.capacityOrOff(), "1 GiB",
      "Blocks kept in host memory (DRAM).");
  public static final Setting<MemoryPages> MEMORY_PAGES = new Setting<>("memory.pages",
      SettingType.oneOf(MemoryPages.class), "auto",
      "Pages of host memory: auto takes the largest available; huge takes all of dram at the start from pages set aside"
          + " for it, or the node ends; plain takes ordinary pages; shared takes memory that clients of this user on"
          + " this host read without a socket.");
  public static final Setting<Boolean> MEMORY_LOCK = new Setting<>("memory.lock", AscendTypes.flag(), "false",
      "Whether the node asks the system not to swap host memory. A refusal is no error.");
  public static final Setting<Optional<Integer>> MEMORY_NUMA =
      new Setting<>("memory.numa", AscendTypes.orNone(SettingType.count(0, 1023)), "none",
          "NUMA node whose memory is preferred.");
  public static final Setting<Capacity> SSD = new Setting<>("ssd", SettingType.capacityOrOff(), "off",
      "Blocks kept on disk.");
  public static final Setting<Optional<Path>> SSD_DIR = new Setting<>("ssd.dir", SettingType.folder(), "none",
      "Folder of the blocks on disk, for one node at a time. Made if it is not there.");
  public static final Setting<EngineKind> SSD_ENGINE =
      new Setting<>("ssd.engine", SettingType.oneOf(EngineKind.class), "chronicle",
          "Engine that writes the records on disk.");
  public static final Setting<Long> SSD_SEGMENT_BYTES =
      new Setting<>("ssd.segment.bytes", SettingType.longSizeOrAuto(1 << 20),
          SettingType.AUTO,
          "Size of one file on disk, at least 8 blocks; auto is an eighth of ssd, from 64 MiB to 1 GiB.");
  public static final Setting<SyncMode> SSD_DURABILITY = new Setting<>("ssd.durability",
      SettingType.oneOf(SyncMode.class), "interval",
      "Blocks that survive a crash of the machine: always keeps every acknowledged block, interval all but "
          + "the newest, none those that the system happened to write.");
  public static final Setting<Duration> SSD_SYNC_INTERVAL = new Setting<>("ssd.sync.interval", SettingType.duration(),
      Durations.print(SyncRule.DEFAULT_INTERVAL),
      "With ssd.durability interval: age at which written bytes are forced to the medium.");
  public static final Setting<Long> SSD_SYNC_BYTES = new Setting<>("ssd.sync.bytes", SettingType.longSize(1 << 20),
      Sizes.exact(SyncRule.DEFAULT_BYTES),
      "With ssd.durability interval: most bytes that are written and not yet forced to the medium.");
  public static final Setting<Long> SSD_SCRUB_RATE = new Setting<>("ssd.scrub.rate", SettingType.longSize(0),
      Sizes.exact(ScrubOptions.DEFAULT_BYTES_PER_SECOND),
      "Maximum bytes a second that the scrub reads in the background to find damage; 0 for no scrub.");
  public static final Setting<Duration> SSD_SCRUB_PASS = new Setting<>("ssd.scrub.pass", SettingType.duration(),
      Durations.print(ScrubOptions.DEFAULT_PASS),
      "Minimum time between the starts of two scrub passes.");
  public static final Setting<Long> SSD_QUARANTINE_BYTES =
      new Setting<>("ssd.quarantine.bytes", SettingType.longSize(0),
          Sizes.exact(QuarantineBound.DEFAULT_BYTES),
          "Maximum bytes of damaged blocks kept in quarantine; further ones are counted and dropped.");
  public static final Setting<Integer> SSD_QUARANTINE_RECORDS =
      new Setting<>("ssd.quarantine.records", SettingType.count(0, 1 << 20),
          String.valueOf(QuarantineBound.DEFAULT_RECORDS), "Maximum number of damaged blocks kept in "
              + "quarantine.");
  public static final Setting<Duration> SSD_STALL_AFTER = new Setting<>("ssd.stall.after",
      SettingType.duration(Duration.ofMillis(100)),
      Durations.print(HealthOptions.DEFAULT_STALL_AFTER),
      "Time after which a read or write counts as stalled; for a sync, four times this.");
  public static final Setting<Long> SSD_CAPACITY = new Setting<>("ssd.capacity", SettingType.longSizeOrAuto(4 << 20),
      SettingType.AUTO,
      "Maximum bytes of all files on disk, at least 4 files; auto is 1.5 times the size of the blocks.");
  public static final Setting<Long> SSD_CACHE = new Setting<>("ssd.cache", SettingType.longSizeOrAuto(1 << 20),
      SettingType.AUTO,
      "Maximum bytes of the newest files that stay in the page cache after a sync; auto leaves it to the "
          + "system.");
  public static final Setting<Long> SSD_KEEP_FREE = new Setting<>("ssd.keep.free", SettingType.longSize(0), "256 MiB",
      "Free bytes of the disk that a new file never takes.");
  public static final Setting<Integer> SSD_DISK_HIGH = new Setting<>("ssd.disk.high", SettingType.count(1, 100), "90",
      "High watermark: use of the disk in percent, by any program, above which the level does not grow; 100 disables"
          + " the watermarks.");
  public static final Setting<Integer> SSD_DISK_LOW = new Setting<>("ssd.disk.low", SettingType.count(1, 100), "80",
      "Low watermark: use of the disk in percent at which the level may grow again.");
  public static final Setting<Long> SSD_QUEUE_BYTES =
      new Setting<>("ssd.queue.bytes", SettingType.longSize(1 << 10), "256 MiB",
          "Maximum bytes in the write queue of the disk; writers wait while it is full.");
  public static final Setting<Integer> SSD_QUEUE_BLOCKS =
      new Setting<>("ssd.queue.blocks", SettingType.count(1, 1 << 24), "65536",
          "Maximum number of blocks in the write queue of the disk.");
  public static final Setting<Boolean> SSD_SAVE = new Setting<>("ssd.save", AscendTypes.flag(), "false",
      "Whether blocks that memory alone has are written to the disk when the node drains, within the rest of"
          + " drain.timeout, but at least 5 s.");
  public static final Setting<Integer> SSD_OFFLOAD_USES = new Setting<>("ssd.offload.uses", SettingType.count(0, 15),
      "0",
      "Uses that a block needs to be demoted to disk; with fewer it is evicted. Not with stack.mode write_through.");
  public static final Setting<Integer> SSD_PROMOTE_HITS =
      new Setting<>("ssd.promote.hits", SettingType.count(1, 15), "1",
          "Recent hits after which a block on disk is promoted.");
  public static final Setting<Integer> SSD_PREFETCH_BLOCKS =
      new Setting<>("ssd.prefetch.blocks", SettingType.count(0, 65_536), "0",
          "Maximum number of blocks of a request that are prefetched from disk.");
  public static final Setting<StackOptions.Mode> STACK_MODE =
      new Setting<>("stack.mode", SettingType.oneOf(StackOptions.Mode.class),
          "exclusive",
          "exclusive keeps a block on one level. write_through writes it to disk before it is visible, and keeps it on"
              + " every"
              + " level below its own; each level must then be larger than the one above.");
  public static final Setting<Optional<WritePolicy>> WRITE_POLICY =
      new Setting<>("write.policy", SettingType.orAuto(SettingType.oneOf(WritePolicy.class)), SettingType.AUTO,
          "When a block is written to disk: write_through before it is visible, write_through_selective when it leaves"
              + " memory and was used twice, write_back when it leaves memory; auto follows stack.mode and"
              + " ssd.offload.uses.");
  public static final Setting<Optional<Integer>> DRAM_HIGH = new Setting<>("dram.high",
      SettingType.orAuto(SettingType.count(1, 100)), SettingType.AUTO,
      "High watermark: use of dram in percent above which blocks are demoted; 100 for none; auto is 90 where memory is"
          + " written back to a disk, else 100. Not with exact.");
  public static final Setting<Integer> DRAM_LOW = new Setting<>("dram.low", SettingType.count(1, 100), "80",
      "Low watermark: use of dram in percent at which that ends.");
  public static final Setting<EvictionPolicy> POLICY =
      new Setting<>("policy", SettingType.oneOf(EvictionPolicy.class), "adaptive",
          "Which block leaves when all levels are full; adaptive chooses between lru and reuse_aware while it runs. Use"
              + " decides on which level a block is.");
  public static final Setting<Boolean> EXACT = new Setting<>("exact", AscendTypes.flag(), "false",
      "Decide as the textbook policy does: a key takes a block's place when it is asked for, not when its bytes come,"
          + " and readers that stand still may hold all blocks. For trusted clients.");
  public static final Setting<Duration> LEASE_LIFE = new Setting<>("lease.life", SettingType.duration(), "10s",
      "Life of a read lease that asks for none, at most 10m: what a match found stays so long for a get.");
  public static final Setting<Duration> PIN_LIFE = new Setting<>("pin.life", SettingType.duration(), "30m",
      "Life of a soft pin that asks for none, at most 24h.");
  public static final Setting<Integer> PIN_PERCENT = new Setting<>("pin.percent", SettingType.count(0, 100), "50",
      "Maximum share of pinned blocks, in per cent of the blocks that the last level keeps.");
  public static final Setting<Integer> WHATIF_SAMPLES =
      new Setting<>("whatif.samples", SettingType.count(0, 1 << 20), "4096",
          "Maximum number of keys that are sampled to estimate the hit rate at other capacities (penstock "
              + "whatif); 0 for no estimate.");
  public static final Setting<Boolean> SPACES_OPEN = new Setting<>("spaces.open", AscendTypes.flag(), "false",
      "Whether a client may open a space that the node does not have. Its blocks are kept in dram alone.");
  public static final Setting<Integer> SPACES_OPEN_MOST = new Setting<>("spaces.open.most",
      SettingType.count(1, 1024), "8", "With spaces.open: most spaces that clients open.");
  public static final Setting<Integer> SPACES_OPEN_PERCENT = new Setting<>("spaces.open.percent",
      SettingType.count(1, 90), "25",
      "With spaces.open: part of dram in percent that is guaranteed to these spaces, and"
          + " most that one of them takes.");
  public static final Setting<Long> BUDGET = new Setting<>("budget", SettingType.longSize(1 << 10), "64 MiB",
      "Maximum bytes in flight in the whole node.");
  public static final Setting<Integer> SLICE_BYTES =
      new Setting<>("slice.bytes", SettingType.size(4 << 10, 8 << 20), "512 KiB",
          "Maximum payload bytes of one slice on the wire.");
  public static final Setting<Integer> WINDOW_BLOCKS =
      new Setting<>("window.blocks", SettingType.count(1, 65_536), "64",
          "Maximum number of blocks of a window, which one stream claims at a time.");
  public static final Setting<Integer> RESERVE_BLOCKS =
      new Setting<>("reserve.blocks", SettingType.count(1, 1 << 20), "128",
          "Room beyond dram for blocks being written, and for evicted blocks still being read.");
  public static final Setting<Integer> WAITERS = new Setting<>("waiters", SettingType.count(2, 1 << 20), "1024",
      "Maximum number of writers that wait for room.");
  public static final Setting<Integer> EVENTS_KEPT =
      new Setting<>("events.kept", SettingType.count(16, 1 << 24), "65536",
          "Events kept for later readers.");
  public static final Setting<Integer> LOOPS =
      new Setting<>("loops", SettingType.count(1, 1024), String.valueOf(halfOfTheCores()),
          "Network threads; the default is half the cores, at least one.");
  public static final Setting<Integer> CONNECTIONS = new Setting<>("connections", SettingType.count(1, 1 << 20), "1024",
      "Most connections.");
  public static final Setting<Integer> CONNECTIONS_BY_ADDRESS =
      new Setting<>("connections.by.address", SettingType.count(1, 1 << 20), "512",
          "Maximum number of connections from one address, or from one IPv6 network of 64 bits.");
  public static final Setting<Integer> NEWCOMERS = new Setting<>("newcomers", SettingType.count(1, 1 << 20), "256",
      "Maximum number of further connections that are not set up yet. Beyond it, the node closes the oldest "
          + "one of the address that has the largest number of them.");
  public static final Setting<Optional<Long>> LIMITS_REQUESTS = new Setting<>("limits.requests",
      orOff(SettingType.longCount(10, 1_000_000_000)), "off",
      "Maximum requests a second of one connection, and in one burst, at least the 10 that a client needs "
          + "to begin. The node refuses further requests; a client may retry them.");
  public static final Setting<Optional<Long>> LIMITS_BYTES = new Setting<>("limits.bytes",
      orOff(SettingType.longSize(64 << 10)), "off",
      "Maximum bytes of blocks a second of one connection, in both directions together, and in one burst. "
          + "Further bytes wait.");
  public static final Setting<Duration> SETUP_TIMEOUT = new Setting<>("setup.timeout", SettingType.duration(), "5s",
      "Time in which a connection must be set up.");
  public static final Setting<Duration> SILENCE_TIMEOUT =
      new Setting<>("silence.timeout", SettingType.duration(), "5m",
          "Longest silence, without even a keep-alive frame, that a client may ask for.");
  public static final Setting<Long> FRAMES_BYTES =
      new Setting<>("frames.bytes", SettingType.longSize(1 << 10), "32 MiB",
          "Host memory for requests that have not come whole, beside the budget; twice the longest frame or more.");
  public static final Setting<Duration> FRAME_TIMEOUT = new Setting<>("frame.timeout", SettingType.duration(), "10s",
      "Maximum time from the first byte of a frame to its last.");
  public static final Setting<Duration> AWAIT_TIMEOUT = new Setting<>("await.timeout", SettingType.duration(), "1m",
      "Longest wait for a block that another client is writing.");
  public static final Setting<Duration> ROOM_TIMEOUT = new Setting<>("room.timeout", SettingType.duration(), "30s",
      "Longest wait of a writer for room; then its put is refused. Not with exact.");
  public static final Setting<Duration> STALL_TIMEOUT = new Setting<>("stall.timeout", SettingType.duration(), "30s",
      "Time after which a stream ends whose client gives no credit, takes nothing or sends nothing that it owes.");
  public static final Setting<Duration> IDLE_GRACE = new Setting<>("idle.grace", SettingType.duration(), "15ms",
      "Such a stream ends after this time while another connection finds no room and has less of it.");
  public static final Setting<Duration> DRAIN_TIMEOUT = new Setting<>("drain.timeout", SettingType.duration(), "30s",
      "Time after SIGTERM for running streams to end and for blocks to reach the disk.");
  public static final Setting<Optional<Path>> SIDECAR = new Setting<>("sidecar", SettingType.pathOrOff(), "off",
      "Unix socket at which the node copies between devices and memory of other processes of its user, or off.");
  public static final Setting<Long> SIDECAR_CLIENT_BYTES =
      new Setting<>("sidecar.client.bytes", SettingType.longSize(4 << 10),
          Sizes.exact(SideCarServerOptions.DEFAULT_CLIENT_BYTES),
          "Maximum host memory that one such process may map; the node allocates all of it at once.");
  public static final Setting<Long> SIDECAR_BYTES = new Setting<>("sidecar.bytes", SettingType.longSize(4 << 10),
      Sizes.exact(SideCarServerOptions.DEFAULT_BYTES), "Maximum host memory that all such processes "
          + "together may map.");
  public static final Setting<LogLevel> LOG_LEVEL =
      new Setting<>("log.level", SettingType.oneOf(LogLevel.class), "warn",
          "Level of the log on standard error.");
  public static final Setting<Duration> LOG_SLOW_TRANSFER =
      new Setting<>("log.slow.transfer", SettingType.duration(), "1s",
          "A get or put that takes longer has a line in the log, with what it waited for.");

  /// Settings by subject. Those of Ascend devices have a page of their own, [AscendSettings#ALL].
  public static final List<Topic> TOPICS = List.of(
      Topic.of("Network", LISTEN_HOST, LISTEN_PORT, OPEN_TO_NETWORK),
      new Topic("Admin endpoints", AdminSettings.ALL),
      new Topic("Prefill and decode", Stream.concat(Stream.of(REGISTRY), RankSettings.ALL.stream()).toList()),
      new Topic("Cluster", ClusterSettings.ALL),
      new Topic("Doors for other protocols", DoorSettings.everyDoor()),
      new Topic("Transports", TransportSettings.ALL),
      new Topic("Model and blocks", LayoutSettings.ALL),
      Topic.of("Memory", HBM, HBM_DEVICE, DRAM, DRAM_HIGH, DRAM_LOW, MEMORY_PAGES, MEMORY_LOCK, MEMORY_NUMA),
      Topic.of("Disk", SSD, SSD_DIR, SSD_ENGINE, SSD_SEGMENT_BYTES, SSD_CAPACITY, SSD_CACHE, SSD_KEEP_FREE,
          SSD_DISK_HIGH, SSD_DISK_LOW, SSD_QUEUE_BYTES, SSD_QUEUE_BLOCKS, SSD_SAVE),
      Topic.of("Durability and damage", SSD_DURABILITY, SSD_SYNC_INTERVAL, SSD_SYNC_BYTES, SSD_SCRUB_RATE,
          SSD_SCRUB_PASS, SSD_QUARANTINE_BYTES, SSD_QUARANTINE_RECORDS, SSD_STALL_AFTER),
      Topic.of("Levels", WRITE_POLICY, STACK_MODE, POLICY, EXACT, SSD_OFFLOAD_USES, SSD_PROMOTE_HITS,
          SSD_PREFETCH_BLOCKS,
          LEASE_LIFE, PIN_LIFE, PIN_PERCENT, WHATIF_SAMPLES),
      new Topic("Recording", RecordSettings.ALL),
      Topic.of("Spaces", SPACES_OPEN, SPACES_OPEN_MOST, SPACES_OPEN_PERCENT),
      Topic.of("Limits", BUDGET, SLICE_BYTES, WINDOW_BLOCKS, RESERVE_BLOCKS, WAITERS, EVENTS_KEPT, LOOPS,
          AWAIT_TIMEOUT, ROOM_TIMEOUT, STALL_TIMEOUT, IDLE_GRACE, DRAIN_TIMEOUT),
      Topic.of("Connections", CONNECTIONS, CONNECTIONS_BY_ADDRESS, NEWCOMERS, SETUP_TIMEOUT, SILENCE_TIMEOUT,
          FRAMES_BYTES, FRAME_TIMEOUT, LIMITS_REQUESTS, LIMITS_BYTES),
      new Topic("Security", SecuritySettings.ALL),
      Topic.of("Copies for other processes", SIDECAR, SIDECAR_CLIENT_BYTES, SIDECAR_BYTES),
      new Topic("KV events for routers", KvEventSettings.ALL),
      Topic.of("Log", LOG_LEVEL, LOG_SLOW_TRANSFER));

  /// Every setting, in the order of the topics; those of Ascend devices last.
  public static final List<Setting<?>> ALL =
      Stream.concat(TOPICS.stream().flatMap(topic -> topic.settings().stream()), AscendSettings.ALL.stream())
          .toList();

  private NodeSettings() {}

  /// A value of `type`, or `off` for none.
  private static <T> SettingType<Optional<T>> orOff(SettingType<T> type) {
    return new SettingType<>(type.label(), type.rule() + ", or off",
        text -> text.strip().equals("off") ? Optional.empty() : Optional.of(type.parse().apply(text)),
        value -> value.map(type.print()).orElse("off"));
  }

  static Optional<Setting<?>> byKey(String key) {
    return ALL.stream().filter(setting -> setting.key().equals(key)).findFirst();
  }

  static Optional<Setting<?>> byVariable(String variable) {
    return ALL.stream().filter(setting -> setting.variable().equals(variable)).findFirst();
  }

  private static int halfOfTheCores() {
    return Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
  }
}
