package io.penstock.wire;

import io.penstock.PermanentKvException;
import io.penstock.block.BlockScope;
import io.penstock.budget.Permits;
import io.penstock.wire.transfer.StagedMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Memory behind copies that run on another thread, and fail when told to. Host memory that is given back is filled
/// with other bytes.
final class StagedDouble implements StagedMemory {
  final MemorySegment device;
  final Permits room;
  final AtomicInteger copies = new AtomicInteger();
  volatile boolean fails;
  private final Arena arena;
  private final Scheduler copier;

  StagedDouble(Arena arena, Scheduler copier, long bytes, long room) {
    this.arena = arena;
    this.copier = copier;
    this.device = arena.allocate(bytes);
    this.room = new Permits("staging", room, 64);
  }

  @Override
  public long bytes() {
    return device.byteSize();
  }

  @Override
  public Mono<Staging> stage(List<Part> parts, BlockScope scope) {
    long bytes = parts.stream().mapToLong(Part::length).sum();
    return Mono.create(sink -> {
      Permits.Ticket ticket = room.acquire(bytes, () -> sink.success(scope.adopt(new Room(parts, bytes))));
      sink.onCancel(ticket::cancel);
    });
  }

  private final class Room extends Staging {
    private final List<Part> parts;
    private final MemorySegment host;

    Room(List<Part> parts, long bytes) {
      this.parts = parts;
      this.host = arena.allocate(bytes);
    }

    @Override
    public List<MemorySegment> host() {
      return List.of(host);
    }

    @Override
    public Mono<Void> fetch() {
      return copied(true);
    }

    @Override
    public Mono<Void> store() {
      return copied(false);
    }

    private Mono<Void> copied(boolean out) {
      return Mono.<Void>fromRunnable(() -> {
        copies.incrementAndGet();
        if (fails) {
          throw new PermanentKvException("the device must copy (was told not to)");
        }
        long at = 0;
        for (Part part : parts) {
          MemorySegment there = device.asSlice(part.offset(), part.length());
          MemorySegment here = host.asSlice(at, part.length());
          (out ? here : there).copyFrom(out ? there : here);
          at += part.length();
        }
      }).subscribeOn(copier);
    }

    @Override
    protected void free() {
      host.fill((byte) 0xDD);
      room.release(host.byteSize());
    }
  }
}
