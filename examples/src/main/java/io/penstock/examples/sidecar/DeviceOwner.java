package io.penstock.examples.sidecar;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockScope;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SlabArena;
import io.penstock.device.DeviceBridge;
import io.penstock.device.DeviceBridgeOptions;
import io.penstock.device.DeviceMemory;
import io.penstock.device.SharedName.IpcKey;
import io.penstock.device.sidecar.SideCarServerOptions;
import io.penstock.device.sidecar.server.SideCarServer;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.examples.source.SeededBytes;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// The process that has a device. It serves a side-car, and meanwhile moves blocks of its own to the device and back:
/// both share the turns of the device.
final class DeviceOwner {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final int OWN_BLOCKS = 32;
  private static final long BETWEEN_MILLIS = 20;
  /// A block: 4 layers of keys and values for 16 tokens, 8 heads × 64 elements of BF16: 128 KiB.
  private static final CacheSpace SPACE =
      CacheSpace.of("my-model", BlockLayout.attention(4, 16, 8, 64, ElementType.BF16));
  /// Devices round allocations up.
  private static final long SLACK_BYTES = 1 << 20;

  private final Path socket;
  private final long sharedBytes;
  private final Scheduler timers;

  /// @param sharedBytes of device memory for the other process
  DeviceOwner(Path socket, long sharedBytes, Scheduler timers) {
    this.socket = socket;
    this.sharedBytes = sharedBytes;
    this.timers = timers;
  }

  /// @param listening receives the key of the shared memory once the side-car listens
  /// @param over counted down when the other process has ended
  SideCarReport.Owner run(Consumer<IpcKey> listening, CountDownLatch over) throws IOException, InterruptedException {
    long ownBytes = (long) OWN_BLOCKS * SPACE.layout().blockBytes();
    SimulatedDevice device =
        SimulatedDevice.open(SimulatedDeviceOptions.defaults(sharedBytes + ownBytes + SLACK_BYTES));
    try (BlockScope scope = new BlockScope()) {
      DeviceMemory shared = await(device.allocate(sharedBytes, scope));
      DeviceBridge bridge =
          await(DeviceBridge.open(device, SPACE.layout(), DeviceBridgeOptions.defaults(OWN_BLOCKS), timers));
      SideCarServer server = open(socket, device, bridge);
      try (SlabArena arena = new SlabArena("owner", SPACE.layout(), 2 * OWN_BLOCKS, OWN_BLOCKS)) {
        listening.accept(await(device.export(shared)));
        long blocks = 0;
        long wrong = 0;
        do {
          wrong += wrongAfterUploadAndDownload(bridge, arena);
          blocks += OWN_BLOCKS;
        } while (!over.await(BETWEEN_MILLIS, TimeUnit.MILLISECONDS));
        return new SideCarReport.Owner(server.stat().copies(), server.stat().copiedBytes(), blocks, wrong);
      } finally {
        server.close().then(bridge.close()).block(PATIENCE);
      }
    } finally {
      device.close().block(PATIENCE);
    }
  }

  /// Listens at `socket`; closes `bridge` if something else is there.
  private static SideCarServer open(Path socket, SimulatedDevice device, DeviceBridge bridge) throws IOException {
    try {
      return SideCarServer.open(socket, SideCarServerOptions.defaults(), Map.of(0, device));
    } catch (IOException | RuntimeException e) {
      bridge.close().block(PATIENCE);
      throw e;
    }
  }

  private static long wrongAfterUploadAndDownload(DeviceBridge bridge, SlabArena arena) {
    Mono<Long> wrong = Flux.using(BlockScope::new,
        scope -> Flux.range(0, OWN_BLOCKS).map(number -> scope.adopt(block(number, arena)))
            .transform(bridge.upload(scope).then(bridge.download(arena, scope))).filter(DeviceOwner::isWrong),
        BlockScope::close, false).count();
    return await(wrong);
  }

  private static Block block(int number, SlabArena arena) {
    BlockDraft draft = requireNonNull(arena.tryClaim(List.of(new BlockKey(SPACE.id(), new BlockHash(0, number)))),
        "free slots").getFirst();
    GranuleRange whole = GranuleRange.all(SPACE.layout());
    draft.write(whole, memory -> SeededBytes.fill(number, 0, memory));
    draft.produced(whole);
    return draft.seal();
  }

  private static boolean isWrong(Block block) {
    try (block) {
      return block.read(memory -> SeededBytes.mismatch(block.key().hash().low(), 0, memory)) >= 0;
    }
  }

  private static <T> T await(Mono<T> mono) {
    return mono.blockOptional(PATIENCE).orElseThrow();
  }
}
