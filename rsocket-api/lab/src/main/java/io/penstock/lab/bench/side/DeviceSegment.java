package io.penstock.lab.bench.side;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.budget.Permits;
import io.penstock.device.CopyBatch;
import io.penstock.device.CopyDirection;
import io.penstock.device.Device;
import io.penstock.device.DeviceMemory;
import io.penstock.operator.QueuedGrant;
import io.penstock.wire.transfer.StagedMemory;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Memory of a device as a segment of a transfer engine. Its bytes pass through staging buffers, all or none of an
/// operation; copies go in batches, each of which takes a turn at the device.
public final class DeviceSegment implements StagedMemory {
  private final Device device;
  private final DeviceMemory memory;
  private final Buffers buffers;

  /// @param memory of `device`; stays the caller's, and must live until no operation uses it
  public DeviceSegment(Device device, DeviceMemory memory, Buffers buffers) {
    this.device = requireNonNull(device, "device");
    this.memory = requireNonNull(memory, "memory");
    this.buffers = requireNonNull(buffers, "buffers");
  }

  /// Staging buffers of equal size, shared by segments. Safe from any thread.
  public static final class Buffers {
    private final Permits permits;
    private final long bytesOfOne;
    private final Deque<MemorySegment> free = new ArrayDeque<>();

    /// @param memory cut into buffers; the caller's, and must live as long as they are used
    /// @param bytesOfOne of a buffer
    /// @param maxWaiters most operations that wait for buffers
    public Buffers(String name, MemorySegment memory, long bytesOfOne, int maxWaiters) {
      this.bytesOfOne = bytesOfOne;
      for (long at = 0; at + bytesOfOne <= memory.byteSize(); at += bytesOfOne) {
        free.add(memory.asSlice(at, bytesOfOne));
      }
      this.permits = new Permits(name, free.size(), maxWaiters);
    }

    /// Counts of lent buffers and of operations that wait.
    public Permits permits() {
      return permits;
    }

    private int count(long bytes) {
      long count = Math.ceilDiv(bytes, bytesOfOne);
      if (count > permits.capacity()) {
        throw new IllegalArgumentException("bytes of an operation must be <= %d, all buffers of %s (was %d)"
            .formatted(permits.capacity() * bytesOfOne, permits.name(), bytes));
      }
      return (int) count;
    }

    private synchronized List<MemorySegment> lend(int count) {
      List<MemorySegment> lent = new ArrayList<>(count);
      while (lent.size() < count) {
        lent.add(free.pop()); // the last one back first: it may be in a cache
      }
      return lent;
    }

    private void takeBack(List<MemorySegment> lent) {
      synchronized (this) {
        lent.forEach(free::push);
      }
      permits.release(lent.size());
    }
  }

  @Override
  public long bytes() {
    return memory.bytes();
  }

  @Override
  public Mono<Staging> stage(List<Part> parts, BlockScope scope) {
    int count = buffers.count(parts.stream().mapToLong(Part::length).sum());
    return QueuedGrant.of(grant -> buffers.permits.acquire(count,
        () -> grant.granted(() -> scope.adopt(new Staged(parts, buffers.lend(count))),
            () -> buffers.permits.release(count)),
        grant::refused)::cancel);
  }

  /// Buffers of one operation. They go back when it and its copies have ended.
  private final class Staged extends Staging {
    private final List<Part> parts;
    private final List<MemorySegment> lent;
    private final List<MemorySegment> host;
    private final AtomicInteger users = new AtomicInteger(1);

    Staged(List<Part> parts, List<MemorySegment> lent) {
      this.parts = parts;
      this.lent = lent;
      this.host = cut(parts, lent);
    }

    @Override
    public List<MemorySegment> host() {
      return host;
    }

    @Override
    public Mono<Void> fetch() {
      return copied(CopyDirection.TO_HOST);
    }

    @Override
    public Mono<Void> store() {
      return copied(CopyDirection.TO_DEVICE);
    }

    private Mono<Void> copied(CopyDirection direction) {
      return Flux.using(() -> batches(direction), batches -> Flux.fromIterable(batches)
          .concatMap(batch -> device.turns().<Boolean>take(turn -> device.copy(batch.hold(turn)).thenReturn(true))),
          batches -> batches.forEach(CopyBatch::close)).then();
    }

    private List<CopyBatch> batches(CopyDirection direction) {
      List<CopyBatch> batches = new ArrayList<>(1);
      CopyBatch batch = begun(direction, batches);
      int piece = 0;
      for (Part part : parts) {
        for (long done = 0; done < part.length(); piece++) {
          batch = batch.elements() == CopyBatch.MAX_ELEMENTS ? begun(direction, batches) : batch;
          batch.add(host.get(piece), memory.address() + part.offset() + done);
          done += host.get(piece).byteSize();
        }
      }
      return batches;
    }

    private CopyBatch begun(CopyDirection direction, List<CopyBatch> batches) {
      users.incrementAndGet();
      CopyBatch batch = new CopyBatch(direction).hold(new Use(this));
      batches.add(batch);
      return batch;
    }

    @Override
    protected void free() {
      leave();
    }

    void leave() {
      if (users.decrementAndGet() == 0) {
        buffers.takeBack(lent);
      }
    }
  }

  /// A batch of copies uses the buffers.
  private static final class Use extends Owned {
    private final Staged staged;

    Use(Staged staged) {
      this.staged = staged;
    }

    @Override
    protected void free() {
      staged.leave();
    }
  }

  /// The run of bytes of `lent`, cut where a part or a buffer ends.
  private static List<MemorySegment> cut(List<Part> parts, List<MemorySegment> lent) {
    List<MemorySegment> pieces = new ArrayList<>(parts.size() + lent.size());
    int buffer = 0;
    long at = 0;
    for (Part part : parts) {
      for (long left = part.length(); left > 0;) {
        long bytes = Math.min(left, lent.get(buffer).byteSize() - at);
        pieces.add(lent.get(buffer).asSlice(at, bytes));
        left -= bytes;
        at += bytes;
        if (at == lent.get(buffer).byteSize()) {
          buffer++;
          at = 0;
        }
      }
    }
    return List.copyOf(pieces);
  }
}
