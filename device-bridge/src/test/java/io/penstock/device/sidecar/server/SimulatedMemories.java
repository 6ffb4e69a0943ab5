package io.penstock.device.sidecar.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import io.penstock.block.BlockScope;
import io.penstock.device.CopyBatch;
import io.penstock.device.CopyDirection;
import io.penstock.device.DeviceMemory;
import io.penstock.device.memory.MappedMemory;
import io.penstock.device.memory.MappedOptions;
import io.penstock.device.memory.MemoryListener;
import io.penstock.device.memory.MemoryPages;
import io.penstock.device.memory.StagingPool;
import io.penstock.device.memory.StagingSpec;
import io.penstock.device.sidecar.RegionSource.IpcBuffer;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.server.RegionOpener.RegionOwner;
import io.penstock.device.sim.CopyFaults;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import reactor.core.publisher.Mono;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The memory of simulated processes: outlives every mapping, knows who has it mapped, and fails when something is
/// mapped twice.
final class SimulatedMemories implements RegionOpener {
  /// Memory of one region of a process.
  record Owner(int process, long region) {}

  private static final StagingSpec STAGING = new StagingSpec(2, 1 << 20);

  private final VirtualTimeScheduler clock;
  private final Random random;
  private final long maxDelayNanos;
  private final Arena arena = Arena.ofShared();
  private final BlockScope scope = new BlockScope();
  private final SimulatedDevice device;
  private final Map<Owner, MemorySegment> host = new HashMap<>();
  private final Map<Owner, DeviceMemory> there = new HashMap<>();
  private final Set<Owner> mapped = new HashSet<>();
  /// Two pieces, so that a copy waits.
  final StagingPool staging = StagingPool.of("staging", STAGING, 100,
      new MappedMemory(MappedOptions.defaults().withPages(MemoryPages.PLAIN), MemoryListener.noop())
          .map(STAGING.bytes()));
  /// Cannot be mapped now.
  final Set<Owner> broken = new HashSet<>();
  /// What was mapped, in that order, and mistakes made with it.
  final List<Owner> order = new ArrayList<>();
  final List<String> mistakes = new ArrayList<>();
  /// Fails when it is given back.
  boolean sticky;
  /// Added to what mapping takes.
  Duration slower = Duration.ZERO;

  SimulatedMemories(VirtualTimeScheduler clock, Random random, long maxDelayNanos) {
    this.clock = clock;
    this.random = random;
    this.maxDelayNanos = maxDelayNanos;
    this.device = new SimulatedDevice(SimulatedDeviceOptions.defaults(1 << 24).withLatency(Duration.ofMillis(1)), clock,
        CopyFaults.none());
  }

  /// Makes it, with nothing in it.
  void make(int process, RegionSpec region) {
    Owner owner = new Owner(process, region.id());
    if (region.source().isHost()) {
      host.put(owner, arena.allocate(region.bytes()));
    } else {
      AtomicReference<DeviceMemory> made = new AtomicReference<>();
      device.allocate(region.bytes(), scope).subscribe(made::set);
      clock.advanceTimeBy(Duration.ofMillis(100));
      there.put(owner, made.get());
    }
  }

  Set<Owner> mapped() {
    return mapped;
  }

  @Override
  public Mono<RegionWindow> open(RegionSpec region, RegionOwner process) {
    Owner owner = new Owner(process.process(), region.id());
    return Mono.delay(slower.plusNanos(1 + (long) (random.nextDouble() * maxDelayNanos)), clock).map(tick -> {
      if (broken.contains(owner)) {
        throw SideCarFailure.of(SideCarCode.NOT_MAPPED, region.id(), "broken");
      }
      if (!mapped.add(owner)) {
        mistakes.add(owner + " mapped twice");
      }
      order.add(owner);
      return region.source() instanceof IpcBuffer ? onDevice(owner, there.get(owner)) : inHost(owner, host.get(owner));
    });
  }

  /// The mapping dies with the region, so a copy after that fails.
  @SuppressWarnings("restricted")
  private RegionWindow inHost(Owner owner, MemorySegment memory) {
    Arena mapping = Arena.ofShared();
    return new RegionWindow.Mapped(memory.reinterpret(memory.byteSize(), mapping, null), () -> {
      mapping.close();
      unmapped(owner);
    });
  }

  private RegionWindow onDevice(Owner owner, DeviceMemory memory) {
    return new RegionWindow.OnDevice(device, new DeviceMemory(memory.address(), memory.bytes(), () -> unmapped(owner)));
  }

  private void unmapped(Owner owner) {
    if (!mapped.remove(owner)) {
      mistakes.add(owner + " unmapped, but was not mapped");
    }
    if (sticky) {
      throw new InternalError("sticky");
    }
  }

  void put(Owner owner, long offset, byte[] bytes) {
    move(owner, offset, MemorySegment.ofArray(bytes), CopyDirection.TO_DEVICE);
  }

  byte[] get(Owner owner, long offset, int bytes) {
    MemorySegment into = MemorySegment.ofArray(new byte[bytes]);
    move(owner, offset, into, CopyDirection.TO_HOST);
    return into.toArray(JAVA_BYTE);
  }

  /// Device memory by the device itself: takes virtual time.
  private void move(Owner owner, long offset, MemorySegment bytes, CopyDirection direction) {
    MemorySegment memory = host.get(owner);
    MemorySegment near = memory == null ? arena.allocate(bytes.byteSize()) : memory.asSlice(offset, bytes.byteSize());
    if (direction == CopyDirection.TO_DEVICE) {
      near.copyFrom(bytes);
    }
    if (memory == null) {
      device.copy(new CopyBatch(direction).add(near, there.get(owner).address() + offset)).subscribe();
      clock.advanceTimeBy(Duration.ofMillis(100));
    }
    if (direction == CopyDirection.TO_HOST) {
      bytes.copyFrom(near);
    }
  }

  boolean isDevice(Owner owner) {
    return there.containsKey(owner);
  }

  /// All staging memory is back, or this fails.
  void close() {
    staging.close().block(Duration.ZERO);
    scope.close();
    device.close().subscribe();
    clock.advanceTimeBy(Duration.ofSeconds(1));
    arena.close();
  }
}
