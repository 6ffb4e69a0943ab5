package io.penstock.node.tiers;

import io.micrometer.core.instrument.MeterRegistry;
import io.penstock.block.ChunkSource;
import io.penstock.block.SlabArena;
import io.penstock.device.memory.HostChunks;
import io.penstock.device.memory.MappedMemory;
import io.penstock.device.memory.MappedOptions;
import io.penstock.device.memory.MemoryFigures;
import io.penstock.device.memory.MemoryPages;
import io.penstock.device.memory.MemoryRung;
import io.penstock.meter.Gauges;
import io.penstock.node.config.Capacity;
import java.util.Locale;
import java.util.function.Supplier;

/// Where the host memory of a node comes from.
public final class NodeMemory {
  private static final long LEAST_PIECE_BYTES = 32L << 20;

  private final Supplier<ChunkSource> chunks;
  private final MemoryFigures figures;
  private final boolean ahead;

  private NodeMemory(Supplier<ChunkSource> chunks, MemoryFigures figures, boolean ahead) {
    this.chunks = chunks;
    this.figures = figures;
    this.ahead = ahead;
  }

  /// What the JDK allocates.
  public static NodeMemory ofJdk() {
    return new NodeMemory(ChunkSource::ofJdk, new MemoryFigures(), false);
  }

  /// What the system maps, in pieces of as much as `dram` needs and at most 1 GiB, as it is needed; large pages, if it is to be those or
  /// none, all at once.
  public static NodeMemory mapped(MappedOptions options, Capacity dram, int blockBytes) {
    MemoryFigures figures = new MemoryFigures();
    MappedMemory source = new MappedMemory(options, figures);
    long blocks = Math.min(dram.isOff() ? 0 : dram.inBlocks(blockBytes), SlabArena.MAX_CHUNK_BYTES / blockBytes + 1);
    long pieceBytes = Math.clamp(blocks * blockBytes, LEAST_PIECE_BYTES, SlabArena.MAX_CHUNK_BYTES);
    return new NodeMemory(() -> HostChunks.of(source, pieceBytes), figures, options.pages() == MemoryPages.HUGE);
  }

  ChunkSource chunks() {
    return chunks.get();
  }

  /// Whether all of it is to be there before the node is.
  boolean isAhead() {
    return ahead;
  }

  /// Shows it by the kind of its pages.
  public void bind(MeterRegistry registry) {
    for (MemoryRung rung : MemoryRung.values()) {
      if (rung.isOfSystem()) {
        Gauges.bindMemory(registry, rung.name().toLowerCase(Locale.ROOT), () -> figures.bytes(rung));
      }
    }
    Gauges.bindMemoryFallbacks(registry, figures::fallbacks);
  }
}
