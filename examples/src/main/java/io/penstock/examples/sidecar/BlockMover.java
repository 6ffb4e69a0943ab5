package io.penstock.examples.sidecar;

import io.penstock.device.SharedName.IpcKey;
import io.penstock.device.sidecar.RegionCopy;
import io.penstock.device.sidecar.RegionMemory;
import io.penstock.device.sidecar.RegionSource;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.SideCarClientOptions;
import io.penstock.device.sidecar.SideCarHealth;
import io.penstock.device.sidecar.client.SideCarClient;
import io.penstock.examples.source.SeededBytes;
import io.penstock.node.option.RecordOptions;
import io.penstock.node.tiers.TierRecording;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/// A process without a device: blocks of its memory go to a device of another process and back. Written against the
/// public API only: copy from here.
final class BlockMover {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final long SOURCE = 1;
  private static final long TARGET = 2;
  private static final long ON_DEVICE = 3;
  /// A layer of many blocks is one call.
  private static final int CALL_BLOCKS = 64;
  private static final int CALLS_IN_FLIGHT = 4;

  private final int blocks;
  private final int blockBytes;
  private final long seed;
  private final @Nullable TierRecording recording;

  /// @param recording of the calls of copies; null for none
  BlockMover(int blocks, int blockBytes, long seed, @Nullable TierRecording recording) {
    this.recording = recording;
    this.blocks = blocks;
    this.blockBytes = blockBytes;
    this.seed = seed;
  }

  /// What a move measured.
  ///
  /// @param wrong blocks that came back with other bytes
  /// @param toDevice bytes a second
  /// @param toHost bytes a second
  record Moved(int wrong, double toDevice, double toHost) {}

  /// @param key of memory on the device of the process that listens on `socket`
  Moved move(Path socket, IpcKey key) throws IOException {
    long bytes = (long) blocks * blockBytes;
    try (RegionMemory source = RegionMemory.allocate("source", bytes);
        RegionMemory target = RegionMemory.allocate("target", bytes)) {
      SeededBytes.fill(seed, 0, source.memory());
      SideCarClient client = SideCarClient.open(socket, SideCarClientOptions.defaults());
      try {
        client.health().filter(SideCarHealth::isHealthy).blockFirst(PATIENCE);
        Flux.just(source.region(SOURCE), target.region(TARGET),
            new RegionSpec(ON_DEVICE, bytes, new RegionSource.IpcBuffer(0, key)))
            .concatMap(client::register).blockLast(PATIENCE);
        double toDevice = copied(client, SOURCE, ON_DEVICE);
        double toHost = copied(client, ON_DEVICE, TARGET);
        return new Moved(wrong(target.memory(), blockBytes, seed), toDevice, toHost);
      } finally {
        client.close().block(PATIENCE);
      }
    }
  }

  /// Copies all blocks, and returns bytes a second.
  private double copied(SideCarClient client, long from, long to) {
    long start = System.nanoTime();
    Flux.range(0, blocks).map(number -> (long) number * blockBytes)
        .map(offset -> new RegionCopy(from, offset, to, offset, blockBytes))
        .buffer(CALL_BLOCKS)
        .transform(RecordOptions.flow(recording, from == SOURCE ? "to the device" : "to the host"))
        .flatMap(client::copy, CALLS_IN_FLIGHT).blockLast(PATIENCE);
    return (double) blocks * blockBytes * 1e9 / (System.nanoTime() - start);
  }

  /// Blocks of `memory` with other bytes than those of `seed`.
  static int wrong(MemorySegment memory, int blockBytes, long seed) {
    return (int) IntStream.range(0, Math.toIntExact(memory.byteSize() / blockBytes))
        .mapToLong(number -> (long) number * blockBytes)
        .filter(at -> SeededBytes.mismatch(seed, at, memory.asSlice(at, blockBytes)) >= 0).count();
  }
}
