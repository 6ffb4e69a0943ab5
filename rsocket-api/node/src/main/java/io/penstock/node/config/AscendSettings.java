package io.penstock.node.config;

import io.penstock.device.ascend.AscendOptions;
import io.penstock.device.ascend.AscendSetting;
import io.penstock.device.memory.MemoryPages;
import io.penstock.device.memory.StagingSpec;
import io.penstock.node.setting.AscendTypes;
import io.penstock.node.setting.Capacity;
import io.penstock.node.setting.DeviceKind;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import tools.jackson.databind.JsonNode;

/// The part of the table that is about Ascend devices: the form of the values for each [AscendSetting], which says the
/// rest.
public final class AscendSettings {
  private static final Duration MILLISECOND = Duration.ofMillis(1);
  private static final Duration SECOND = Duration.ofSeconds(1);

  public static final Setting<Optional<Path>> LIBRARY = of(AscendSetting.LIBRARY, SettingType.fileOrAuto());
  public static final Setting<Integer> DEVICE = of(AscendSetting.DEVICE, SettingType.count(0, 1023));
  public static final Setting<List<Integer>> VISIBLE_DEVICES = of(AscendSetting.VISIBLE_DEVICES, AscendTypes.devices());
  public static final Setting<Duration> TRANSFER_TIMEOUT =
      of(AscendSetting.TRANSFER_TIMEOUT, AscendTypes.duration(MILLISECOND));
  public static final Setting<Integer> IN_FLIGHT = of(AscendSetting.IN_FLIGHT, SettingType.count(1, 1 << 20));
  public static final Setting<Integer> QUEUE = of(AscendSetting.QUEUE, SettingType.count(1, 1 << 20));
  public static final Setting<Boolean> UNSUPPORTED_FALLS_BACK =
      of(AscendSetting.UNSUPPORTED_FALLS_BACK, AscendTypes.flag());
  public static final Setting<StagingSpec> BUFFER_POOL = of(AscendSetting.BUFFER_POOL,
      new SettingType<>("NUMBER:MIB", "a number of buffers and their size in MiB such as 4:8, or 0:0 for none",
          StagingSpec::parse, StagingSpec::toString));
  public static final Setting<Boolean> FABRIC_MEMORY = of(AscendSetting.FABRIC_MEMORY, AscendTypes.flag());
  static final Setting<Boolean> ASYNC_TRANSFER = of(AscendSetting.ASYNC_TRANSFER, AscendTypes.flag());
  static final Setting<Optional<JsonNode>> GLOBAL_RESOURCE_CONFIG =
      of(AscendSetting.GLOBAL_RESOURCE_CONFIG, AscendTypes.json());

  /// Every setting, those with an effect first.
  public static final List<Setting<?>> ALL = List.of(LIBRARY, DEVICE, VISIBLE_DEVICES, TRANSFER_TIMEOUT, IN_FLIGHT,
      QUEUE, UNSUPPORTED_FALLS_BACK, BUFFER_POOL, FABRIC_MEMORY,
      ASYNC_TRANSFER, GLOBAL_RESOURCE_CONFIG,
      of(AscendSetting.THREAD_POOL_SIZE, SettingType.count(1, 16)),
      of(AscendSetting.LOCAL_COMM_RES, AscendTypes.json()),
      of(AscendSetting.CONNECT_TIMEOUT, AscendTypes.duration(MILLISECOND)),
      of(AscendSetting.AUTO_CONNECT, AscendTypes.flag()),
      of(AscendSetting.SHORT_CONNECTION, AscendTypes.flag()),
      of(AscendSetting.BASE_PORT, SettingType.count(1, 65_535)),
      of(AscendSetting.ROCE, AscendTypes.flag()),
      of(AscendSetting.RDMA_TRAFFIC_CLASS, AscendTypes.stepsOrNone(255, 4)),
      of(AscendSetting.RDMA_SERVICE_LEVEL, AscendTypes.orNone(SettingType.count(0, 7))),
      of(AscendSetting.RDMA_TIMEOUT, AscendTypes.orNone(SettingType.count(5, 24))),
      of(AscendSetting.RDMA_RETRIES, AscendTypes.orNone(SettingType.count(1, 7))),
      of(AscendSetting.HCCL_RETRIES, SettingType.count(0, 127)),
      of(AscendSetting.HCCL_TRANSFER_TIMEOUT, AscendTypes.duration(MILLISECOND)),
      of(AscendSetting.HCCL_FAST_RECOVERY, AscendTypes.flag()),
      of(AscendSetting.HCCL_TCP_TIMEOUT, AscendTypes.duration(SECOND)),
      of(AscendSetting.HCCL_SOCKET_TIMEOUT, AscendTypes.duration(SECOND)),
      of(AscendSetting.HCCL_MEMORY_TIMEOUT, AscendTypes.duration(SECOND)),
      of(AscendSetting.HCCL_REGIONS, SettingType.count(1, 1 << 24)),
      of(AscendSetting.HCCL_POLL_TIMEOUT, AscendTypes.duration(MILLISECOND)),
      of(AscendSetting.HCCL_PRINT, AscendTypes.flag()),
      of(AscendSetting.UBSHMEM_IPC, AscendTypes.flag()),
      of(AscendSetting.UBSHMEM_STREAMS_PER_TRANSFER, SettingType.count(1, 1024)),
      of(AscendSetting.UBSHMEM_STREAMS, SettingType.count(1, 65_536)),
      of(AscendSetting.UBSHMEM_THREADS, SettingType.count(1, 64)),
      of(AscendSetting.UBSHMEM_STREAM_TIMEOUT, AscendTypes.duration(MILLISECOND)));

  private AscendSettings() {}

  private static <T> Setting<T> of(AscendSetting known, SettingType<T> type) {
    return new Setting<>(known.key(), type, known.initial(), known.meaning(), known.variables(), known.noEffect());
  }

  /// Options of devices, from `config`.
  public static AscendOptions options(NodeConfig config) {
    AscendOptions options = AscendOptions.defaults().withVisibleDevices(config.get(VISIBLE_DEVICES))
        .withTransferTimeout(config.get(TRANSFER_TIMEOUT))
        .withMaxInFlight(config.get(IN_FLIGHT)).withMaxQueued(config.get(QUEUE))
        .withLibraryUnsupportedFallsBack(config.get(UNSUPPORTED_FALLS_BACK))
        .withShared(config.get(FABRIC_MEMORY));
    return config.get(LIBRARY).map(file -> options.withLibrary(file.toString())).orElse(options);
  }

  /// Adds problems of `config` with staging buffers.
  static void requireFitOfStaging(NodeConfig config, List<String> problems) {
    if (config.get(BUFFER_POOL).isOff()) {
      return;
    }
    if (config.get(ASYNC_TRANSFER)) {
      problems.add(staged(config, ASYNC_TRANSFER));
    }
    if (config.get(FABRIC_MEMORY)) {
      problems.add(staged(config, FABRIC_MEMORY));
    }
    if (config.get(GLOBAL_RESOURCE_CONFIG).filter(AscendSettings::isFabric).isPresent()) {
      problems.add(staged(config, GLOBAL_RESOURCE_CONFIG));
    }
  }

  /// Adds problems of `config` with a device's host memory.
  static void requireFitOfMemory(NodeConfig config, List<String> problems) {
    if (config.get(NodeSettings.HBM_DEVICE) != DeviceKind.ASCEND) {
      return;
    }
    if (config.get(NodeSettings.MEMORY_NUMA).filter(node -> node % 2 == 1).isPresent()) {
      problems.add("memory.numa must be even for %s: other nodes have no memory for devices (%s)".formatted(
          config.said(NodeSettings.HBM_DEVICE),
          config.was(NodeSettings.MEMORY_NUMA)));
    }
    if (config.get(FABRIC_MEMORY) && config.get(NodeSettings.DRAM).equals(Capacity.UNBOUNDED)) {
      problems.add(
          "dram must be bounded for %s, which takes all of it at the start (%s)".formatted(config.said(FABRIC_MEMORY),
              config.was(NodeSettings.DRAM)));
    }
    if (config.get(FABRIC_MEMORY) && config.get(NodeSettings.MEMORY_PAGES) != MemoryPages.AUTO) {
      problems
          .add("memory.pages must be auto for %s, which has pages of its own (%s)".formatted(config.said(FABRIC_MEMORY),
              config.was(NodeSettings.MEMORY_PAGES)));
    }
  }

  private static String staged(NodeConfig config, Setting<?> other) {
    return "%s must be 0:0 with %s (%s)".formatted(BUFFER_POOL.key(), config.said(other), config.was(BUFFER_POOL));
  }

  /// Whether it asks for fabric memory: with a key `fabric_memory`, or one for each of its parts, as such or for a
  /// store alone.
  private static boolean isFabric(JsonNode resources) {
    return asksForFabric(resources) || asksForFabric(resources.path("store"));
  }

  private static boolean asksForFabric(JsonNode resources) {
    return resources.propertyStream()
        .anyMatch(one -> one.getKey().equals("fabric_memory") || one.getKey().startsWith("fabric_memory."));
  }
}
