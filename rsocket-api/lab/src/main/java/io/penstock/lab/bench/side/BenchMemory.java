package io.penstock.lab.bench.side;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.block.SlabArena.ChunkSource;
import io.penstock.device.CopyBatch;
import io.penstock.device.CopyDirection;
import io.penstock.device.Device;
import io.penstock.device.DeviceMemory;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.wire.transfer.RemoteSegment;
import io.penstock.wire.transfer.SegmentRegistry;
import io.penstock.wire.transfer.StagedMemory;
import io.penstock.wire.transfer.TransferBatch;
import java.lang.foreign.MemorySegment;
import java.util.List;
import reactor.core.publisher.Mono;

/// Memory at one side of `bench transfer`.
interface BenchMemory extends AutoCloseable {
  /// Makes it a segment.
  void register(SegmentRegistry registry, String name);

  /// Moves the `bytes` from `offset` on from or to the same offset of `remote`.
  TransferBatch.Item item(TransferBatch.Direction direction, RemoteSegment remote, long offset, long bytes);

  /// Copies `from` to `offset`.
  Mono<Void> put(long offset, MemorySegment from);

  /// Copies the bytes at `offset` to `to`.
  Mono<Void> get(long offset, MemorySegment to);

  @Override
  void close();

  /// @param chunks of host memory, closed with it
  static BenchMemory of(MemoryKind kind, long bytes, ChunkSource chunks) {
    return kind == MemoryKind.HOST ? new OfHost(bytes, chunks) : new OfDevice(bytes, chunks);
  }

  /// Host memory.
  final class OfHost implements BenchMemory {
    private final ChunkSource chunks;
    private final MemorySegment memory;

    OfHost(long bytes, ChunkSource chunks) {
      this.chunks = chunks;
      this.memory = chunks.chunk(bytes).fill((byte) 5);
    }

    @Override
    public void register(SegmentRegistry registry, String name) {
      registry.register(name, memory);
    }

    @Override
    public TransferBatch.Item item(TransferBatch.Direction direction, RemoteSegment remote, long offset, long bytes) {
      return new TransferBatch.Item(direction, remote.peer(), remote.segment().name(), remote.segment(), offset,
          List.of(memory.asSlice(offset, bytes)));
    }

    @Override
    public Mono<Void> put(long offset, MemorySegment from) {
      return Mono.fromRunnable(() -> memory.asSlice(offset, from.byteSize()).copyFrom(from));
    }

    @Override
    public Mono<Void> get(long offset, MemorySegment to) {
      return Mono.fromRunnable(() -> to.copyFrom(memory.asSlice(offset, to.byteSize())));
    }

    @Override
    public void close() {
      chunks.close();
    }
  }

  /// Memory of a simulated device, with 32 MiB of staging buffers.
  final class OfDevice implements BenchMemory {
    private static final long STAGING_BYTES = 32 << 20;
    private static final int WAITERS = 1 << 16;

    private final Device device;
    private final BlockScope scope = new BlockScope();
    private final ChunkSource chunks;
    private final DeviceMemory memory;
    private final DeviceSegment segment;

    OfDevice(long bytes, ChunkSource chunks) {
      this.chunks = chunks;
      this.device = SimulatedDevice.open(SimulatedDeviceOptions.defaults(bytes));
      this.memory = BenchWait.of(device.allocate(bytes, scope));
      this.segment = new DeviceSegment(device, memory, new DeviceSegment.Buffers("staging",
          chunks.chunk(STAGING_BYTES), WireShape.SLICE_BYTES, WAITERS));
    }

    @Override
    public void register(SegmentRegistry registry, String name) {
      registry.register(name, segment);
    }

    @Override
    public TransferBatch.Item item(TransferBatch.Direction direction, RemoteSegment remote, long offset, long bytes) {
      return new TransferBatch.Item(direction, remote, offset,
          new TransferBatch.Staged(segment, new StagedMemory.Part(offset, bytes)));
    }

    @Override
    public Mono<Void> put(long offset, MemorySegment from) {
      return copy(CopyDirection.TO_DEVICE, offset, from);
    }

    @Override
    public Mono<Void> get(long offset, MemorySegment to) {
      return copy(CopyDirection.TO_HOST, offset, to);
    }

    private Mono<Void> copy(CopyDirection direction, long offset, MemorySegment host) {
      return device.turns().take(turn -> device
          .copy(new CopyBatch(direction).add(host, requireNonNull(memory).address() + offset).hold(turn)));
    }

    @Override
    public void close() {
      scope.close();
      BenchWait.end(device.close());
      chunks.close();
    }
  }
}
