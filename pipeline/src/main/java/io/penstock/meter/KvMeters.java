package io.penstock.meter;

import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.docs.MeterDocumentation;
import org.jspecify.annotations.Nullable;

/// Every meter there is: its name, type, unit, tags and meaning.
///
/// Names follow Micrometer; a Prometheus endpoint shows `penstock.tier.references` as `penstock_tier_references_total`.
enum KvMeters implements MeterDocumentation {
  TIER_REFERENCES("penstock.tier.references", Meter.Type.COUNTER, null, "Keys that leases asked for, by result",
      MeterTag.TIER, MeterTag.MEDIUM, MeterTag.RESULT),
  TIER_STORED("penstock.tier.stored", Meter.Type.COUNTER, "blocks", "Blocks made visible", MeterTag.TIER,
      MeterTag.MEDIUM),
  TIER_WRITTEN("penstock.tier.written", Meter.Type.COUNTER, "bytes", "Bytes of the blocks made visible", MeterTag.TIER,
      MeterTag.MEDIUM),
  TIER_EVICTED("penstock.tier.evicted", Meter.Type.COUNTER, "blocks", "Blocks that the policy evicted", MeterTag.TIER,
      MeterTag.MEDIUM),
  TIER_RECLAIMED("penstock.tier.reclaimed", Meter.Type.COUNTER, "bytes", "Bytes of the blocks that the policy evicted",
      MeterTag.TIER, MeterTag.MEDIUM),
  TIER_QUARANTINED("penstock.tier.quarantined", Meter.Type.COUNTER, "blocks",
      "Blocks whose bytes differed from their checksum", MeterTag.TIER, MeterTag.MEDIUM),
  TIER_LOST("penstock.tier.lost", Meter.Type.COUNTER, "blocks", "Blocks gone against the tier's will", MeterTag.TIER,
      MeterTag.MEDIUM),
  /// Blocks that have arrived on another level, promoted or demoted. Appears with the first move
  /// between two levels.
  TIER_MOVED("penstock.tier.moved", Meter.Type.COUNTER, "blocks", "Blocks that have arrived on another level",
      MeterTag.TIER, MeterTag.MEDIUM, MeterTag.FROM, MeterTag.TO),
  TIER_CARRIED("penstock.tier.carried", Meter.Type.COUNTER, "bytes",
      "Bytes of the blocks that have arrived on another level",
      MeterTag.TIER, MeterTag.MEDIUM, MeterTag.FROM, MeterTag.TO),
  LEVEL_VISIBLE("penstock.level.visible", Meter.Type.GAUGE, "blocks", "Visible blocks that the ledger puts on a level",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  /// Maximum number of blocks that the ledger puts on a level, infinite if unbounded.
  LEVEL_CAPACITY("penstock.level.capacity", Meter.Type.GAUGE, "blocks", "Maximum number of blocks that the "
      + "ledger puts on a level",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  LEVEL_STORED("penstock.level.stored", Meter.Type.GAUGE, "blocks", "Blocks whose bytes are on a level",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  LEVEL_HITS("penstock.level.hits", Meter.Type.COUNTER, null,
      "References that found their block on a level of the ledger", MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  /// Whether the store of a level takes and gives blocks: 1; gives them and takes none: 0.5; neither: 0.
  LEVEL_ACTIVE("penstock.level.active", Meter.Type.GAUGE, null,
      "1 if a level takes and gives blocks, 0.5 if it only gives, 0 if it is off",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  /// Hit rate of a level and the faster ones together, estimated for LRU, if the level had `factor` times its present
  /// capacity. NaN before the first reference.
  LEVEL_WHATIF("penstock.level.whatif.hit.rate", Meter.Type.GAUGE, null,
      "Hit rate up to a level if it had a multiple of its capacity, estimated for LRU",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.SPACE, MeterTag.FACTOR),
  LEVEL_WHATIF_ERROR("penstock.level.whatif.plus.minus", Meter.Type.GAUGE, null,
      "Half the width of the 95 % interval around the estimated hit rate",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.SPACE, MeterTag.FACTOR),
  DISK_UNSYNCED("penstock.disk.unsynced", Meter.Type.GAUGE, "bytes", "Bytes written and not forced to the medium yet",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_UNSYNCED_AGE("penstock.disk.unsynced.age", Meter.Type.GAUGE, "seconds",
      "Age of the oldest bytes that are not forced to the medium yet", MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_SYNCS("penstock.disk.syncs", Meter.Type.COUNTER, null, "Syncs, by result",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM, MeterTag.RESULT),
  DISK_UNCERTAIN("penstock.disk.uncertain", Meter.Type.COUNTER, "bytes", "Bytes that a failed sync left uncertain",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_SEGMENTS("penstock.disk.segments", Meter.Type.GAUGE, "segments", "Files of a level on disk",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_HELD("penstock.disk.held", Meter.Type.GAUGE, "bytes", "Bytes of the files of a level on disk",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_LIVE("penstock.disk.live", Meter.Type.GAUGE, "bytes",
      "Bytes of blocks that count, in the files of a level on disk", MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_PUT("penstock.disk.put", Meter.Type.COUNTER, "bytes", "Bytes of blocks put to a disk",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_MOVED("penstock.disk.moved", Meter.Type.COUNTER, "bytes", "Bytes of blocks moved together on a disk",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_AMPLIFICATION("penstock.disk.write.amplification", Meter.Type.GAUGE, null,
      "Bytes written to a disk for each byte put there", MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_RECLAIMED("penstock.disk.reclaimed", Meter.Type.COUNTER, "segments",
      "Files that went after their blocks were moved", MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_SCRUB_PASSES("penstock.disk.scrub.passes", Meter.Type.COUNTER, null,
      "Passes over all blocks of a disk in the background", MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_SCRUBBED("penstock.disk.scrubbed", Meter.Type.COUNTER, "bytes",
      "Bytes read from a disk in the background to find damage", MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_DAMAGED("penstock.disk.damaged", Meter.Type.COUNTER, "blocks", "Blocks found damaged on a disk, and gone",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_UNREADABLE("penstock.disk.unreadable", Meter.Type.COUNTER, "blocks",
      "Blocks that a disk did not give, though it gave others", MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_UNKEPT("penstock.disk.unkept", Meter.Type.COUNTER, "blocks", "Damaged blocks whose bytes are not kept aside",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  DISK_PROBLEMS("penstock.disk.problems", Meter.Type.GAUGE, "problems",
      "Works of a disk of which the newest failed, or that found what must be known",
      MeterTag.TIER, MeterTag.LEVEL, MeterTag.MEDIUM),
  QUEUE_BLOCKS("penstock.queue.waiting", Meter.Type.GAUGE, "blocks",
      "Blocks that wait for a disk, or are being put to it", MeterTag.TIER, MeterTag.MEDIUM),
  QUEUE_BYTES("penstock.queue.held", Meter.Type.GAUGE, "bytes",
      "Bytes of blocks that wait for a disk, or are being put to it", MeterTag.TIER, MeterTag.MEDIUM),
  QUEUE_PEAK("penstock.queue.peak", Meter.Type.GAUGE, "blocks", "Highest number of blocks that waited for a "
      + "disk",
      MeterTag.TIER, MeterTag.MEDIUM),
  /// Length of the queue at which writers begin to wait, infinite if that is left to host memory.
  QUEUE_CAPACITY("penstock.queue.capacity", Meter.Type.GAUGE, "blocks",
      "Blocks in the queue at which writers begin to wait", MeterTag.TIER, MeterTag.MEDIUM),
  QUEUE_LONGEST("penstock.queue.longest", Meter.Type.GAUGE, "seconds",
      "Longest wait of a block until it was stored on a disk", MeterTag.TIER, MeterTag.MEDIUM),
  QUEUE_TIME("penstock.queue.time", Meter.Type.COUNTER, "seconds",
      "Waits of all blocks together until they were stored on a disk", MeterTag.TIER, MeterTag.MEDIUM),
  QUEUE_WITHHELD("penstock.queue.withheld", Meter.Type.COUNTER, null,
      "Reservations that waited because the queue for a disk was full", MeterTag.TIER, MeterTag.MEDIUM),
  TIER_HELD("penstock.tier.held", Meter.Type.COUNTER, null,
      "Hits of blocks on a disk that were too few to promote them", MeterTag.TIER, MeterTag.MEDIUM),
  TIER_PREFETCHED("penstock.tier.prefetched", Meter.Type.COUNTER, "blocks",
      "Blocks prefetched for their reader", MeterTag.TIER, MeterTag.MEDIUM),
  TIER_WASTED("penstock.tier.wasted", Meter.Type.COUNTER, "blocks",
      "Prefetched blocks that their reader never asked for", MeterTag.TIER, MeterTag.MEDIUM),
  TIER_EVICTED_FOR_ROOM("penstock.tier.evicted.for.room", Meter.Type.COUNTER, "blocks",
      "Blocks evicted because a store had no room", MeterTag.TIER, MeterTag.MEDIUM),
  TIER_ABOVE_WATERMARK("penstock.tier.above.watermark", Meter.Type.COUNTER, "blocks",
      "Blocks that left memory because it was above its high watermark", MeterTag.TIER, MeterTag.MEDIUM),
  TIER_LEASES("penstock.tier.leases", Meter.Type.GAUGE, null, "Read leases that live", MeterTag.TIER,
      MeterTag.MEDIUM),
  /// Reasons: leased, soft-pinned, hard-pinned.
  TIER_KEPT("penstock.tier.kept", Meter.Type.GAUGE, "blocks", "Blocks that are kept from eviction, by reason",
      MeterTag.TIER, MeterTag.MEDIUM, MeterTag.REASON),
  /// Reasons: those of the meter above, and in-use.
  TIER_BLOCKED("penstock.tier.blocked", Meter.Type.COUNTER, null,
      "Times that the policy passed over a block, by reason",
      MeterTag.TIER, MeterTag.MEDIUM, MeterTag.REASON),
  TIER_VISIBLE("penstock.tier.visible", Meter.Type.GAUGE, "blocks", "Visible blocks", MeterTag.TIER, MeterTag.MEDIUM),
  /// Maximum number of blocks that the tier keeps, infinite if unbounded.
  TIER_CAPACITY("penstock.tier.capacity", Meter.Type.GAUGE, "blocks", "Maximum number of blocks that the "
      + "tier keeps", MeterTag.TIER,
      MeterTag.MEDIUM),
  TIER_USED("penstock.tier.used", Meter.Type.GAUGE, "bytes", "Bytes of the visible blocks", MeterTag.TIER,
      MeterTag.MEDIUM),
  TIER_CLAIMED("penstock.tier.claimed", Meter.Type.GAUGE, "bytes",
      "Bytes lent: visible, being written, or leased after eviction", MeterTag.TIER, MeterTag.MEDIUM),
  TIER_SEQUENCE("penstock.tier.sequence", Meter.Type.GAUGE, null, "Sequence of the newest event", MeterTag.TIER,
      MeterTag.MEDIUM),
  FETCH_DECISIONS("penstock.fetch.decisions", Meter.Type.COUNTER, null,
      "Requests for which it was decided how much of their prefix to fetch, by reason", MeterTag.TIER, MeterTag.REASON),
  FETCH_BLOCKS("penstock.fetch.blocks", Meter.Type.COUNTER, "blocks",
      "Blocks found for requests: fetched, or computed because that is faster", MeterTag.TIER, MeterTag.RESULT),
  COPY_CARRIED("penstock.copy.carried", Meter.Type.COUNTER, "bytes", "Bytes that a device was asked to copy",
      MeterTag.DEVICE, MeterTag.DIRECTION, MeterTag.METHOD),
  COPY_BATCH("penstock.copy.batch", Meter.Type.DISTRIBUTION_SUMMARY, "elements",
      "Elements that a device was asked to copy together", MeterTag.DEVICE, MeterTag.DIRECTION, MeterTag.METHOD),
  COPY_DURATION("penstock.copy.duration", Meter.Type.TIMER, "seconds",
      "Time that a device took to copy elements together", MeterTag.DEVICE, MeterTag.DIRECTION, MeterTag.METHOD),
  COPY_FALLBACKS("penstock.copy.fallbacks", Meter.Type.COUNTER, null, "Batches that a device does not make",
      MeterTag.DEVICE),
  /// Elements that were not copied, or may not have been. Appears with the first of a code.
  COPY_FAILED("penstock.copy.failed", Meter.Type.COUNTER, "elements",
      "Elements that were not copied, or may not have been, by code", MeterTag.DEVICE, MeterTag.RESULT, MeterTag.CODE),
  COPY_UNDER_WAY("penstock.copy.under.way", Meter.Type.GAUGE, null, "Copies that are under way at a device",
      MeterTag.DEVICE),
  COPY_WAITING("penstock.copy.waiting", Meter.Type.GAUGE, null, "Copies that wait for their turn at a device",
      MeterTag.DEVICE),
  BUDGET_IN_FLIGHT("penstock.budget.in.flight", Meter.Type.GAUGE, "bytes", "Bytes in flight", MeterTag.BUDGET),
  BUDGET_PEAK("penstock.budget.peak", Meter.Type.GAUGE, "bytes", "Highest number of bytes in flight", MeterTag.BUDGET),
  BUDGET_CAPACITY("penstock.budget.capacity", Meter.Type.GAUGE, "bytes", "Maximum number of bytes in flight",
      MeterTag.BUDGET),
  BUDGET_WAITING("penstock.budget.waiting", Meter.Type.GAUGE, null, "Requests that wait for bytes", MeterTag.BUDGET),
  ARENA_CLAIMED("penstock.arena.claimed", Meter.Type.GAUGE, "slots", "Slots lent", MeterTag.ARENA),
  ARENA_HIGH_WATER("penstock.arena.high.water", Meter.Type.GAUGE, "slots", "Highest number of slots lent",
      MeterTag.ARENA),
  ARENA_CAPACITY("penstock.arena.capacity", Meter.Type.GAUGE, "slots", "Slots there can be", MeterTag.ARENA),
  MEMORY_TAKEN("penstock.memory.taken", Meter.Type.GAUGE, "bytes", "Host memory taken, by the kind of its pages",
      MeterTag.PAGES),
  MEMORY_LOCKED("penstock.memory.locked", Meter.Type.GAUGE, "bytes", "Host memory that is kept from being swapped"),
  MEMORY_FALLBACKS("penstock.memory.fallbacks", Meter.Type.COUNTER, null,
      "Times that host memory is not what it was to be"),
  SHARED_CAPACITY("penstock.shared.capacity", Meter.Type.GAUGE, "bytes", "Host memory that several spaces share"),
  SHARED_FREE("penstock.shared.free", Meter.Type.GAUGE, "bytes", "Shared host memory that no space has"),
  SHARED_LARGEST("penstock.shared.largest", Meter.Type.GAUGE, "bytes", "Longest free region of shared host memory"),
  SIDECAR_CLIENTS("penstock.sidecar.clients", Meter.Type.GAUGE, null, "Processes that the side-car serves"),
  SIDECAR_REGIONS("penstock.sidecar.regions", Meter.Type.GAUGE, null,
      "Regions of processes that the side-car has mapped"),
  SIDECAR_MAPPED("penstock.sidecar.mapped", Meter.Type.GAUGE, "bytes", "Bytes of regions that the side-car has mapped"),
  SIDECAR_COPIES("penstock.sidecar.copies", Meter.Type.COUNTER, null, "Calls of copies that the side-car made"),
  SIDECAR_COPIED("penstock.sidecar.copied", Meter.Type.COUNTER, "bytes", "Bytes that the side-car copied"),
  SIDECAR_FAILURES("penstock.sidecar.failures", Meter.Type.COUNTER, null,
      "Requests that the side-car refused, or that failed, by code", MeterTag.CODE),
  WIRE_CONNECTIONS("penstock.wire.connections", Meter.Type.GAUGE, null, "Open connections of clients"),
  WIRE_STREAMS("penstock.wire.streams", Meter.Type.GAUGE, null, "Streams of blocks that run"),
  WIRE_FRAMES("penstock.wire.frames", Meter.Type.GAUGE, "bytes", "Room that unfinished frames of clients have taken"),
  WIRE_REFUSED("penstock.wire.refused", Meter.Type.COUNTER, null, "Connections that a bound of the node ended",
      MeterTag.CODE),
  WIRE_CONNECTS("penstock.wire.connects", Meter.Type.COUNTER, null, "Connections that clients made",
      MeterTag.TRANSPORT),
  WIRE_DISCONNECTS("penstock.wire.disconnects", Meter.Type.COUNTER, null, "Connections that ended, by reason",
      MeterTag.TRANSPORT, MeterTag.REASON),
  WIRE_BYTES("penstock.wire.moved", Meter.Type.COUNTER, "bytes", "Bytes that connections moved, with their headers",
      MeterTag.TRANSPORT, MeterTag.DIRECTION),
  STREAM_DURATION("penstock.stream.duration", Meter.Type.TIMER, "seconds",
      "Time that gets, puts, and reads and writes of segments took at the node", MeterTag.ROUTE, MeterTag.CARRIER),
  STREAM_CARRIED("penstock.stream.carried", Meter.Type.COUNTER, "bytes", "Bytes of slices that streams moved",
      MeterTag.ROUTE, MeterTag.CARRIER),
  /// Reasons: the peer (credit of a reader, slices of a writer), the budget, the tier.
  STREAM_WAITED("penstock.stream.waited", Meter.Type.COUNTER, "seconds", "Time that streams waited, by reason",
      MeterTag.ROUTE, MeterTag.CARRIER, MeterTag.REASON),
  STREAM_FAILURES("penstock.stream.failures", Meter.Type.COUNTER, null, "Streams of slices that failed, by code",
      MeterTag.ROUTE, MeterTag.CODE),
  LIMIT_REFUSED("penstock.limit.refused", Meter.Type.COUNTER, null,
      "Requests that the rate of their connection refused"),
  LIMIT_DELAYED("penstock.limit.delayed", Meter.Type.COUNTER, "seconds",
      "Time for which the rate of a connection had bytes wait"),
  TRANSFER_DURATION("penstock.transfer.duration", Meter.Type.TIMER, "seconds",
      "Time of items of a transfer engine, from submission to end", MeterTag.TRANSPORT, MeterTag.DIRECTION),
  TRANSFER_CARRIED("penstock.transfer.carried", Meter.Type.COUNTER, "bytes", "Bytes of items that completed",
      MeterTag.TRANSPORT, MeterTag.DIRECTION, MeterTag.CARRIER),
  /// Reasons: `connect` and `queue`.
  TRANSFER_WAITED("penstock.transfer.waited", Meter.Type.COUNTER, "seconds",
      "Time that items waited before their bytes moved", MeterTag.TRANSPORT, MeterTag.DIRECTION, MeterTag.REASON),
  TRANSFER_FAILURES("penstock.transfer.failures", Meter.Type.COUNTER, null, "Items that did not complete, by reason",
      MeterTag.REASON),
  TRANSFER_RETRIES("penstock.transfer.retries", Meter.Type.COUNTER, null, "Items that were tried once more"),
  TRANSFER_CONNECTS("penstock.transfer.connects", Meter.Type.TIMER, "seconds",
      "Connections of a transfer engine, and the time until their peer was described", MeterTag.TRANSPORT),
  TRANSFER_DISCONNECTS("penstock.transfer.disconnects", Meter.Type.COUNTER, null,
      "Connections of a transfer engine that ended, by reason", MeterTag.TRANSPORT, MeterTag.REASON),
  TRANSFER_UNREACHABLE("penstock.transfer.unreachable", Meter.Type.COUNTER, null,
      "Times that a peer could not be reached"),
  TRANSFER_ITEMS("penstock.transfer.items", Meter.Type.GAUGE, null,
      "Items that are in progress or wait for their connection"),
  TRANSFER_IN_FLIGHT("penstock.transfer.in.flight", Meter.Type.GAUGE, "bytes", "Bytes of these items"),
  TRANSFER_QUEUED("penstock.transfer.queued", Meter.Type.GAUGE, null, "Items that wait for their turn"),
  REQUESTS_KEPT("penstock.requests.kept", Meter.Type.GAUGE, null,
      "Requests whose blocks a prefill rank keeps for decode ranks"),
  REQUESTS_REMEMBERED("penstock.requests.remembered", Meter.Type.GAUGE, null,
      "Requests that have ended, or of which only signals came"),
  REQUESTS_ENDED("penstock.requests.ended", Meter.Type.COUNTER, null,
      "Requests that a prefill rank keeps no more, by reason", MeterTag.REASON),
  /// Results: `duplicate`, `late`, `stranger`.
  REQUESTS_IGNORED("penstock.requests.ignored", Meter.Type.COUNTER, null,
      "Signals about requests that changed nothing", MeterTag.RESULT);

  private final String meterName;
  private final Meter.Type type;
  private final @Nullable String baseUnit;
  private final String description;
  private final MeterTag[] tags;

  KvMeters(String meterName, Meter.Type type, @Nullable String baseUnit, String description, MeterTag... tags) {
    this.meterName = meterName;
    this.type = type;
    this.baseUnit = baseUnit;
    this.description = description;
    this.tags = tags;
  }

  @Override
  public String getName() {
    return meterName;
  }

  @Override
  public Meter.Type getType() {
    return type;
  }

  @Override
  public @Nullable String getBaseUnit() {
    return baseUnit;
  }

  @Override
  public KeyName[] getKeyNames() {
    return tags.clone();
  }

  /// One line for the reader of a dashboard.
  public String description() {
    return description;
  }
}
