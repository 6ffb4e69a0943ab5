package io.penstock.device.ascend;

import java.util.List;
import java.util.Optional;

/// The settings of Ascend devices: each has one name, and the variables of the environment that other programs use for
/// it. Names, defaults and meanings stand here only: a node makes its settings from them, and a test compares the table
/// in `docs/ascend.md` with them.
///
/// Settings that have no effect here are accepted, so that the environment of another program can be kept. A value that
/// makes no sense is refused; [#noEffect] explains the others.
public enum AscendSetting {
  LIBRARY("ascend.lib", "auto",
      "Library of the devices; by default libascendcl.so where the system looks for libraries.", ""),
  DEVICE("ascend.device", "0", "Number of the device in this process: its rank on this host, not the global one.", ""),
  VISIBLE_DEVICES("ascend.visible.devices", "all",
      "Devices that this process uses, by their numbers on the machine: the first of them is its device 0.",
      "", "ASCEND_RT_VISIBLE_DEVICES"),
  TRANSFER_TIMEOUT("ascend.transfer.timeout", "10s", "Longest wait for the copies of a stream.", "",
      "ASCEND_TRANSFER_TIMEOUT"),
  IN_FLIGHT("ascend.in.flight", "100",
      "Maximum number of copies in progress at a device; further copies wait for their turn.", ""),
  QUEUE("ascend.queue", "1024", "Maximum number of copies and allocations that wait at a device; the next "
      + "one is refused.", ""),
  UNSUPPORTED_FALLS_BACK("ascend.unsupported.falls.back", "false",
      "Whether answer 200006 of the batch call counts as 207000: nothing was copied, "
          + "each element is copied on its own.",
      ""),

  BUFFER_POOL("ascend.buffer.pool", "0:0",
      "Staging buffers, as NUMBER:MIB, for copies of host memory that the device does not know; 0:0 for none. "
          + "Not with ascend.async.transfer or ascend.fabric.memory.",
      "", "ASCEND_BUFFER_POOL"),
  FABRIC_MEMORY("ascend.fabric.memory", "false",
      "Whether device and host memory must be mappable by a fabric handle; the node does not start without it.",
      "",
      "ASCEND_ENABLE_USE_FABRIC_MEM"),
  ASYNC_TRANSFER("ascend.async.transfer", "false", "Whether transfers are asynchronous; not with ascend.buffer.pool.",
      "no call of Penstock waits for a copy", "ASCEND_USE_ASYNC_TRANSFER"),
  THREAD_POOL_SIZE("ascend.thread.pool.size", "8", "Threads that make transfers.",
      "each device has one thread of its own",
      "ASCEND_THREAD_POOL_SIZE"),
  GLOBAL_RESOURCE_CONFIG("ascend.global.resource.config", "none",
      "Resources of the transfer engine, as a JSON object; with fabric_memory in it, not with ascend.buffer.pool.",
      Reason.NO_ENGINE,
      "ASCEND_GLOBAL_RESOURCE_CONFIG"),
  LOCAL_COMM_RES("ascend.local.comm.res", "none", "Resources of this end of its links, as a JSON object.",
      Reason.NO_ENGINE, "ASCEND_LOCAL_COMM_RES"),

  CONNECT_TIMEOUT("ascend.connect.timeout", "10s", "Longest wait for a link between two devices.", Reason.NO_LINKS,
      "ASCEND_CONNECT_TIMEOUT"),
  AUTO_CONNECT("ascend.auto.connect", "true", "Whether links are opened and closed automatically.", Reason.NO_LINKS,
      "ASCEND_AUTO_CONNECT"),
  SHORT_CONNECTION("ascend.short.connection", "false", "Whether a link ends with each transfer.", Reason.NO_LINKS,
      "ASCEND_USE_SHORT_CONNECTION"),
  BASE_PORT("ascend.base.port", "20000", "First port for the links of devices; device n has the hundred from 100 n on.",
      Reason.NO_LINKS,
      "ASCEND_BASE_PORT"),
  ROCE("ascend.roce", "false", "Whether links inside a machine use RoCE.", Reason.NO_LINKS, "HCCL_INTRA_ROCE_ENABLE"),
  RDMA_TRAFFIC_CLASS("ascend.rdma.traffic.class", "none", "Traffic class of links, a multiple of 4.", Reason.NO_LINKS,
      "ASCEND_RDMA_TC",
      "HCCL_RDMA_TC"),
  RDMA_SERVICE_LEVEL("ascend.rdma.service.level", "none", "Service level of links.", Reason.NO_LINKS, "ASCEND_RDMA_SL",
      "HCCL_RDMA_SL"),
  RDMA_TIMEOUT("ascend.rdma.timeout", "none", "n of the 4.096 µs × 2ⁿ after which a link sends again.", Reason.NO_LINKS,
      "HCCL_RDMA_TIMEOUT"),
  RDMA_RETRIES("ascend.rdma.retries", "none", "How often a link sends again.", Reason.NO_LINKS, "HCCL_RDMA_RETRY_CNT"),

  HCCL_RETRIES("ascend.hccl.retries", "2", "Tries of a transfer.", Reason.NO_HCCL,
      "ASCEND_TRANSPORT_TRANSFER_MAX_RETRY_COUNT"),
  HCCL_TRANSFER_TIMEOUT("ascend.hccl.transfer.timeout", "20s", "Longest wait for a transfer.", Reason.NO_HCCL,
      "ASCEND_TRANSPORT_TRANSFER_TIMEOUT"),
  HCCL_FAST_RECOVERY("ascend.hccl.fast.recovery", "false",
      "Whether a transfer that failed ends the links to all others.", Reason.NO_HCCL,
      "ASCEND_TRANSPORT_TRANSFER_ENABLE_FAST_RECOVERY"),
  HCCL_TCP_TIMEOUT("ascend.hccl.tcp.timeout", "30s", "Longest wait for a control connection.", Reason.NO_HCCL,
      "Ascend_TCP_TIMEOUT"),
  HCCL_SOCKET_TIMEOUT("ascend.hccl.socket.timeout", "30s", "Longest wait for a socket between devices.", Reason.NO_HCCL,
      "Ascend_HCCL_SOCKET_TIMEOUT"),
  HCCL_MEMORY_TIMEOUT("ascend.hccl.memory.timeout", "2m", "Longest wait for the exchange of memory.", Reason.NO_HCCL,
      "Ascend_TRANSPORT_MEM_TIMEOUT"),
  HCCL_REGIONS("ascend.hccl.regions", "8192", "Maximum number of regions of memory.", Reason.NO_HCCL,
      "ASCEND_TRANSPORT_MAX_REG_MEMORY_NUM"),
  HCCL_POLL_TIMEOUT("ascend.hccl.poll.timeout", "3s", "Longest wait for a control message.", Reason.NO_HCCL,
      "ASCEND_TRANSPORT_EPOLL_WAIT_TIMEOUT"),
  HCCL_PRINT("ascend.hccl.print", "false", "Whether the time of each transfer is printed.", Reason.NO_HCCL,
      "ASCEND_TRANSPORT_PRINT"),

  UBSHMEM_IPC("ascend.ubshmem.ipc", "false", "Whether processes share memory by key instead of fabric handle.",
      Reason.NO_UBSHMEM,
      "MC_USE_UBSHMEM_IPC"),
  UBSHMEM_STREAMS_PER_TRANSFER("ascend.ubshmem.streams.per.transfer", "4", "Streams of one transfer.",
      Reason.NO_UBSHMEM,
      "MC_UBSHMEM_STREAMS_PER_TRANSFER"),
  UBSHMEM_STREAMS("ascend.ubshmem.streams", "32", "Most streams.", Reason.NO_UBSHMEM, "MC_UBSHMEM_MAX_STREAMS"),
  UBSHMEM_THREADS("ascend.ubshmem.threads", "8", "Threads that make transfers.", Reason.NO_UBSHMEM,
      "MC_UBSHMEM_THREAD_POOL_SIZE"),
  UBSHMEM_STREAM_TIMEOUT("ascend.ubshmem.stream.timeout", "3s", "Longest wait for a stream.", Reason.NO_UBSHMEM,
      "MC_UBSHMEM_GET_STREAM_TIMEOUT");

  /// Why a setting does nothing, the end of *… has no effect here because*.
  private static final class Reason {
    private static final String NO_LINKS =
        "Penstock makes no links between devices: blocks travel between nodes over RSocket";
    private static final String NO_ENGINE = "Penstock has no transfer engine";
    private static final String NO_HCCL = "it belongs to the transport over HCCL, which Penstock does not have";
    private static final String NO_UBSHMEM =
        "it belongs to the transport over UB shared memory, which Penstock does not have";
  }

  private final String key;
  private final String initial;
  private final String meaning;
  private final String reason;
  private final List<String> variables;

  AscendSetting(String key, String initial, String meaning, String reason, String... variables) {
    this.key = key;
    this.initial = initial;
    this.meaning = meaning;
    this.reason = reason;
    this.variables = List.of(variables);
  }

  /// Dotted, lower case.
  public String key() {
    return key;
  }

  /// The default value, as text.
  public String initial() {
    return initial;
  }

  /// One sentence about the setting.
  public String meaning() {
    return meaning;
  }

  /// Further variables of the environment for it, in order of precedence.
  public List<String> variables() {
    return variables;
  }

  /// Why this setting has no effect, worded to end *… has no effect here because*; empty if it has one.
  public Optional<String> noEffect() {
    return reason.isEmpty() ? Optional.empty() : Optional.of(reason);
  }
}
