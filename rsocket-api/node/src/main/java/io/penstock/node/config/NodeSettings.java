package io.penstock.node.config;

import io.penstock.device.memory.MemoryPages;
import io.penstock.device.sidecar.SideCarServerOptions;
import io.penstock.pool.EvictionPolicy;
import io.penstock.storage.EngineKind;
import io.penstock.storage.HealthOptions;
import io.penstock.storage.ScrubOptions;
import io.penstock.storage.SyncMode;
import io.penstock.storage.SyncRule;
import io.penstock.storage.check.QuarantineBound;
import io.penstock.tier.StackMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The table of all that a node can be told. It drives the file, the environment, the command line, their help and
/// their errors.
public final class NodeSettings {
  public static final Setting<String> LISTEN_HOST = new Setting<>("listen.host", SettingType.text(), "127.0.0.1",
      "Address that clients connect to; 0.0.0.0 for all interfaces.");
  public static final Setting<Integer> LISTEN_PORT = new Setting<>("listen.port", SettingType.port(), "7733",
      "Port that clients connect to.");
  public static final Setting<String> ADMIN_HOST = new Setting<>("admin.host", SettingType.text(), "127.0.0.1",
      "Address of the admin endpoints /metrics and /health.");
  public static final Setting<PortChoice> ADMIN_PORT = new Setting<>("admin.port", SettingType.portOrOff(), "7780",
      "Port of the admin endpoints, or off.");
  public static final Setting<String> MODEL = new Setting<>("model", SettingType.text(), "penstock-demo",
      "Name or digest of the model; clients must name the same.");
  public static final Setting<Integer> LAYERS = new Setting<>("layers", SettingType.count(1, 1024),
      String.valueOf(BlockShape.DEFAULT_LAYERS), "Layers of the model.");
  public static final Setting<Integer> BLOCK_BYTES = new Setting<>("block.bytes", SettingType.size(4, 1 << 30),
      Sizes.exact(BlockShape.DEFAULT_BLOCK_BYTES), "Size of one block over all layers.");
  public static final Setting<Integer> BLOCK_TOKENS = new Setting<>("block.tokens", SettingType.count(1, 1 << 16),
      String.valueOf(BlockShape.DEFAULT_TOKENS), "Tokens a block stands for.");
  public static final Setting<Capacity> HBM = new Setting<>("hbm", SettingType.finiteCapacityOrOff(), "off",
      "Blocks kept in device memory.");
  public static final Setting<DeviceKind> HBM_DEVICE =
      new Setting<>("hbm.device", SettingType.oneOf(DeviceKind.class), "sim",
          "What that memory is: simulated in memory of the host, or of an Ascend device.");
  public static final Setting<Capacity> DRAM = new Setting<>("dram", SettingType.capacityOrOff(), "1 GiB",
      "Blocks kept in memory.");
  public static final Setting<MemoryPages> MEMORY_PAGES = new Setting<>("memory.pages",
      SettingType.oneOf(MemoryPages.class), "auto",
      "Pages of host memory: the largest there are; large ones that were set aside, all at the start, or none; plain ones.");
  public static final Setting<Boolean> MEMORY_LOCK = new Setting<>("memory.lock", AscendTypes.flag(), "false",
      "Whether the system is asked to keep host memory from being swapped; it is used all the same where that is refused.");
  public static final Setting<Optional<Integer>> MEMORY_NUMA =
      new Setting<>("memory.numa", AscendTypes.orNone(SettingType.count(0, 1023)), "none",
          "NUMA node whose memory is preferred.");
  public static final Setting<Capacity> SSD = new Setting<>("ssd", SettingType.capacityOrOff(), "off",
      "Blocks kept on disk.");
  public static final Setting<Optional<Path>> SSD_DIR = new Setting<>("ssd.dir", SettingType.folder(), "none",
      "Folder of the blocks on disk; one node at a time. Made if it is not there.");
  public static final Setting<EngineKind> SSD_ENGINE =
      new Setting<>("ssd.engine", SettingType.oneOf(EngineKind.class), "chronicle",
          "What keeps the records on disk.");
  public static final Setting<Long> SSD_SEGMENT_BYTES =
      new Setting<>("ssd.segment.bytes", SettingType.longSizeOrAuto(1 << 20),
          SettingType.AUTO,
          "Size of one file on disk, at least 8 blocks; when nothing is said, an eighth of ssd, from 64 MiB to 1 GiB.");
  public static final Setting<SyncMode> SSD_DURABILITY = new Setting<>("ssd.durability",
      SettingType.oneOf(SyncMode.class), "interval",
      "Whether what is on disk survives the machine: all that was acknowledged, all but the newest, or what the system likes.");
  public static final Setting<Duration> SSD_SYNC_INTERVAL = new Setting<>("ssd.sync.interval", SettingType.duration(),
      Durations.print(SyncRule.DEFAULT_INTERVAL),
      "Age at which what was written to disk is forced to the medium, with ssd.durability interval.");
  public static final Setting<Long> SSD_SYNC_BYTES = new Setting<>("ssd.sync.bytes", SettingType.longSize(1 << 20),
      Sizes.exact(SyncRule.DEFAULT_BYTES),
      "Most bytes written to disk and not forced to the medium yet, with ssd.durability interval.");
  public static final Setting<Long> SSD_SCRUB_RATE = new Setting<>("ssd.scrub.rate", SettingType.longSize(0),
      Sizes.exact(ScrubOptions.DEFAULT_BYTES_PER_SECOND),
      "Most bytes a second that are read from disk in the background to find damage; 0 for none.");
  public static final Setting<Duration> SSD_SCRUB_PASS = new Setting<>("ssd.scrub.pass", SettingType.duration(),
      Durations.print(ScrubOptions.DEFAULT_PASS),
      "Least time between the beginnings of two such passes over all blocks.");
  public static final Setting<Long> SSD_QUARANTINE_BYTES =
      new Setting<>("ssd.quarantine.bytes", SettingType.longSize(0),
          Sizes.exact(QuarantineBound.DEFAULT_BYTES),
          "Most bytes of damaged blocks that are kept aside; what comes then is counted and gone.");
  public static final Setting<Integer> SSD_QUARANTINE_RECORDS =
      new Setting<>("ssd.quarantine.records", SettingType.count(0, 1 << 20),
          String.valueOf(QuarantineBound.DEFAULT_RECORDS), "The same in blocks.");
  public static final Setting<Duration> SSD_STALL_AFTER = new Setting<>("ssd.stall.after",
      SettingType.duration(Duration.ofMillis(100)),
      Durations.print(HealthOptions.DEFAULT_STALL_AFTER),
      "How long a read or a write of the disk may take before it counts as one that does not answer; a sync four times as long.");
  public static final Setting<Long> SSD_CAPACITY = new Setting<>("ssd.capacity", SettingType.longSizeOrAuto(4 << 20),
      SettingType.AUTO,
      "Most bytes of files on disk, at least 4 of them; when nothing is said, half as much again as the blocks there need.");
  public static final Setting<Long> SSD_CACHE = new Setting<>("ssd.cache", SettingType.longSizeOrAuto(1 << 20),
      SettingType.AUTO,
      "Most of the files, the newest bytes, that stay in the system's page cache once they are on the medium; when nothing is said, what the system likes.");
  public static final Setting<Long> SSD_KEEP_FREE = new Setting<>("ssd.keep.free", SettingType.longSize(0), "256 MiB",
      "Bytes of the disk that no new file takes, whoever else writes there.");
  public static final Setting<Integer> SSD_DISK_HIGH = new Setting<>("ssd.disk.high", SettingType.count(1, 100), "90",
      "Percent of the disk in use, by whomever, above which blocks leave it; 100 for never.");
  public static final Setting<Integer> SSD_DISK_LOW = new Setting<>("ssd.disk.low", SettingType.count(1, 100), "80",
      "Percent of the disk in use at which that ends.");
  public static final Setting<Long> SSD_QUEUE_BYTES =
      new Setting<>("ssd.queue.bytes", SettingType.longSize(1 << 10), "256 MiB",
          "Bytes of blocks that wait for the disk, above which writers wait.");
  public static final Setting<Integer> SSD_QUEUE_BLOCKS =
      new Setting<>("ssd.queue.blocks", SettingType.count(1, 1 << 24), "65536",
          "The same in blocks.");
  public static final Setting<Integer> SSD_OFFLOAD_USES = new Setting<>("ssd.offload.uses", SettingType.count(0, 15),
      "0",
      "Uses that a block needs to go to disk when it leaves memory; with fewer it is evicted. Not with stack.mode write_through.");
  public static final Setting<Integer> SSD_PROMOTE_HITS =
      new Setting<>("ssd.promote.hits", SettingType.count(1, 15), "1",
          "At which recent hit a block on disk rises.");
  public static final Setting<Integer> SSD_PREFETCH_BLOCKS =
      new Setting<>("ssd.prefetch.blocks", SettingType.count(0, 65_536), "0",
          "Most blocks of a request that are read from disk before its reader asks for them.");
  public static final Setting<StackMode> STACK_MODE = new Setting<>("stack.mode", SettingType.oneOf(StackMode.class),
      "exclusive",
      "Whether a block is on one level, or on disk before it is visible and on all levels from its own down. Written through, dram must be"
          + " larger than hbm, and ssd larger than both, for each repeats what is above it.");
  public static final Setting<EvictionPolicy> POLICY =
      new Setting<>("policy", SettingType.oneOf(EvictionPolicy.class), "lru",
          "Which block leaves first when memory is full.");
  public static final Setting<Long> BUDGET = new Setting<>("budget", SettingType.longSize(1 << 10), "64 MiB",
      "Most bytes in flight of the whole node.");
  public static final Setting<Integer> SLICE_BYTES =
      new Setting<>("slice.bytes", SettingType.size(4 << 10, 8 << 20), "512 KiB",
          "Most payload bytes of one slice on the wire.");
  public static final Setting<Integer> WINDOW_BLOCKS =
      new Setting<>("window.blocks", SettingType.count(1, 65_536), "64",
          "Most blocks of one window: what one stream claims at a time.");
  public static final Setting<Integer> RESERVE_BLOCKS =
      new Setting<>("reserve.blocks", SettingType.count(1, 1 << 20), "128",
          "Room beyond dram for blocks being written, and for evicted ones still being read.");
  public static final Setting<Integer> WAITERS = new Setting<>("waiters", SettingType.count(1, 1 << 20), "1024",
      "Longest line of writers that wait for room.");
  public static final Setting<Integer> EVENTS_KEPT =
      new Setting<>("events.kept", SettingType.count(16, 1 << 24), "65536",
          "Events kept for readers that come later.");
  public static final Setting<Integer> LOOPS =
      new Setting<>("loops", SettingType.count(1, 1024), String.valueOf(halfOfTheCores()),
          "Network threads; when nothing is said, half the cores, at least one.");
  public static final Setting<Integer> CONNECTIONS = new Setting<>("connections", SettingType.count(1, 1 << 20), "1024",
      "Most open connections of clients.");
  public static final Setting<Duration> AWAIT_TIMEOUT = new Setting<>("await.timeout", SettingType.duration(), "1m",
      "Longest wait for a block that somebody else is writing.");
  public static final Setting<Duration> DRAIN_TIMEOUT = new Setting<>("drain.timeout", SettingType.duration(), "30s",
      "How long running streams, and blocks on their way to the disk, may go on after SIGTERM.");
  public static final Setting<Optional<Path>> SIDECAR = new Setting<>("sidecar", SettingType.pathOrOff(), "off",
      "Socket at which processes of this user have the node copy between their memory and its devices, or off.");
  public static final Setting<Long> SIDECAR_CLIENT_BYTES =
      new Setting<>("sidecar.client.bytes", SettingType.longSize(4 << 10),
          Sizes.exact(SideCarServerOptions.DEFAULT_CLIENT_BYTES),
          "Most host memory that one such process may have mapped here; all of it is made at once.");
  public static final Setting<Long> SIDECAR_BYTES = new Setting<>("sidecar.bytes", SettingType.longSize(4 << 10),
      Sizes.exact(SideCarServerOptions.DEFAULT_BYTES), "The same of all such processes together.");
  public static final Setting<LogLevel> LOG_LEVEL =
      new Setting<>("log.level", SettingType.oneOf(LogLevel.class), "warn",
          "What is logged to standard error.");

  /// Every setting, in the order in which people read them.
  public static final List<Setting<?>> ALL =
      with(AscendSettings.ALL, LISTEN_HOST, LISTEN_PORT, ADMIN_HOST, ADMIN_PORT, MODEL, LAYERS, BLOCK_BYTES,
          BLOCK_TOKENS, HBM, HBM_DEVICE, DRAM, MEMORY_PAGES, MEMORY_LOCK, MEMORY_NUMA, SSD, SSD_DIR, SSD_ENGINE,
          SSD_SEGMENT_BYTES, SSD_DURABILITY,
          SSD_SYNC_INTERVAL, SSD_SYNC_BYTES, SSD_SCRUB_RATE, SSD_SCRUB_PASS, SSD_QUARANTINE_BYTES,
          SSD_QUARANTINE_RECORDS, SSD_STALL_AFTER,
          SSD_CAPACITY, SSD_CACHE, SSD_KEEP_FREE, SSD_DISK_HIGH, SSD_DISK_LOW, SSD_QUEUE_BYTES, SSD_QUEUE_BLOCKS,
          SSD_OFFLOAD_USES,
          SSD_PROMOTE_HITS, SSD_PREFETCH_BLOCKS, STACK_MODE, POLICY, BUDGET, SLICE_BYTES, WINDOW_BLOCKS, RESERVE_BLOCKS,
          WAITERS, EVENTS_KEPT,
          LOOPS, CONNECTIONS, AWAIT_TIMEOUT, DRAIN_TIMEOUT, SIDECAR, SIDECAR_CLIENT_BYTES, SIDECAR_BYTES, LOG_LEVEL);

  private NodeSettings() {}

  private static List<Setting<?>> with(List<Setting<?>> more, Setting<?>... settings) {
    return Stream.concat(Arrays.stream(settings), more.stream()).toList();
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
