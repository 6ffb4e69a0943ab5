package io.penstock.node.tiers;

import static java.util.Objects.requireNonNull;

import io.penstock.block.SlabArena;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.device.memory.HostChunks;
import io.penstock.device.memory.MappedMemory;
import io.penstock.device.memory.MappedOptions;
import io.penstock.device.memory.MemoryFigures;
import io.penstock.device.memory.MemoryKind;
import io.penstock.device.memory.MemoryListener;
import io.penstock.device.memory.MemoryPages;
import io.penstock.device.memory.PageKind;
import io.penstock.meter.PenstockMeters;
import io.penstock.node.setting.Capacity;
import io.penstock.node.setting.DeviceKind;
import io.penstock.tier.TierStat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Source of the host memory of a node: the driver of its device, if it has one and the node's memory has a bound;
/// else, and for memory that the driver does not have, the system or the JDK.
public final class NodeMemory {
  private static final long LEAST_PIECE_BYTES = 32L << 20;

  private final @Nullable MappedMemory system;
  private final MemoryPages pages;
  private final long pieceBytes;
  private final boolean bounded;
  private final MemoryFigures figures;

  private NodeMemory(@Nullable MappedMemory system, MemoryPages pages, long pieceBytes, boolean bounded,
      MemoryFigures figures) {
    this.system = system;
    this.pages = pages;
    this.pieceBytes = pieceBytes;
    this.bounded = bounded;
    this.figures = figures;
  }

  /// Memory for a tier of `plan` without settings: mapped by the system, unless there is a driver.
  public static NodeMemory of(TierPlan plan) {
    return plan.device().kind() == DeviceKind.SIM
        ? new NodeMemory(null, MemoryPages.AUTO, 0, true, new MemoryFigures())
        : mapped(MappedOptions.defaults(), plan.dram(), plan.space().layout().blockBytes());
  }

  /// Memory mapped by the system, in pieces of as much as `dram` needs and at most 1 GiB, as it is needed; if large
  /// pages are demanded, all at once.
  public static NodeMemory mapped(MappedOptions options, Capacity dram, int blockBytes) {
    MemoryFigures figures = new MemoryFigures();
    long blocks = Math.min(dram.isOff() ? 0 : dram.inBlocks(blockBytes), SlabArena.MAX_CHUNK_BYTES / blockBytes + 1);
    long pieceBytes = Math.clamp(blocks * blockBytes, LEAST_PIECE_BYTES, SlabArena.MAX_CHUNK_BYTES);
    return new NodeMemory(new MappedMemory(options, figures), options.pages(), pieceBytes,
        !dram.equals(Capacity.UNBOUNDED), figures);
  }

  ChunkSource chunks() {
    return system == null ? ChunkSource.ofSystem() : HostChunks.of(system, pieceBytes);
  }

  /// Makes `arena` allocate the memory that must exist before the node starts: all memory of the driver for it, all
  /// large pages if they are demanded, else its first piece, so that a missing piece is found now.
  ///
  /// @param chunks of the arena
  /// @return signals [io.penstock.device.memory.HostMemoryRefusedException]
  Mono<Void> fill(SlabArena arena, ChunkSource chunks, @Nullable HbmDevice device) {
    Mono<Void> driver = device != null && chunks instanceof HostChunks cut && bounded && pages == MemoryPages.AUTO
        ? device.offerTo(cut, arena, figures)
        : Mono.empty();
    return driver.then(Mono.fromRunnable(() -> arena.prepare(preparedBytes())));
  }

  /// Bytes of an arena that are there before its first use; 0 for none.
  long preparedBytes() {
    return system == null ? 0 : pages == MemoryPages.HUGE ? Long.MAX_VALUE : 1;
  }

  MemoryListener listener() {
    return figures;
  }

  /// Memory that was taken and not given back, the best first.
  List<TierStat.Memory> stat() {
    return figures.bytesByKind().entrySet().stream().map(NodeMemory::stat).toList();
  }

  private static TierStat.Memory stat(Map.Entry<MemoryKind, Long> taken) {
    MemoryKind kind = taken.getKey();
    long unit = kind.pages().unitBytes();
    return new TierStat.Memory(name(kind.pages()), kind.pages().label(), taken.getValue(), unit > 1 ? unit : 0,
        kind.node().isPresent() ? Integer.valueOf(kind.node().getAsInt()) : null, kind.locked());
  }

  private static String name(PageKind rung) {
    return rung.name().toLowerCase(Locale.ROOT);
  }

  /// Shows it by the kind of its pages.
  public void bind(PenstockMeters meters) {
    requireNonNull(meters, "meters");
    for (PageKind rung : PageKind.values()) {
      meters.bindMemory(name(rung), () -> figures.bytes(rung));
    }
    meters.bindMemory(
        () -> stat().stream().filter(TierStat.Memory::locked).mapToLong(TierStat.Memory::bytes).sum(),
        figures::fallbacks);
  }
}
