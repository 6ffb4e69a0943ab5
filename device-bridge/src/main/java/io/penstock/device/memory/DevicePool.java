package io.penstock.device.memory;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.block.BlockScope;
import io.penstock.check.Checks;
import io.penstock.device.Device;
import io.penstock.device.DeviceClosedException;
import io.penstock.device.DeviceMemory;
import io.penstock.device.DeviceMemoryExhaustedException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/// Device memory that is allocated once and used again: an allocation of a device takes its queue and its driver, a
/// handle of this pool takes a lock.
///
/// Sizes are rounded up by at most an eighth. Closed memory is kept for the next request of its size, up to a bound,
/// and freed when the device has no other memory left. Reuse is safe while copies are still under way: a device works
/// in order, and copies of the next owner come later. Safe from any thread.
public final class DevicePool {
  private final Device device;
  private final long maxCachedBytes;
  private final Sinks.Empty<Void> closed = Sinks.empty();

  /// Cached memory, by size.
  @GuardedBy("this") private final NavigableMap<Long, ArrayDeque<DeviceMemory>> kept = new TreeMap<>();
  @GuardedBy("this") private long cachedBytes;
  @GuardedBy("this") private long lent;
  @GuardedBy("this") private long lentBytes;
  @GuardedBy("this") private long peakLentBytes;
  @GuardedBy("this") private long hits;
  @GuardedBy("this") private long misses;
  @GuardedBy("this") private long trimmedBytes;
  @GuardedBy("this") private boolean closing;

  /// @param maxCachedBytes most that is kept; 0 keeps nothing
  public DevicePool(Device device, long maxCachedBytes) {
    this.device = requireNonNull(device, "device");
    Checks.notNegative("maxCachedBytes", maxCachedBytes);
    this.maxCachedBytes = maxCachedBytes;
  }

  /// Memory of at least `bytes`, kept or new. Where the device has no more, all that is kept goes back to it before it
  /// is asked once again.
  ///
  /// @param scope owns the memory from the moment it is there; closing it keeps it for the next
  /// @return cold; signals what [Device#allocate] signals, and [DeviceClosedException] after [#close()]
  /// @throws IllegalArgumentException if `bytes` is not positive
  public Mono<DeviceMemory> allocate(long bytes, BlockScope scope) {
    requireNonNull(scope, "scope");
    long size = SizeClasses.of(bytes);
    return Mono.defer(() -> {
      DeviceMemory used = begin(size);
      return used != null ? Mono.just(lend(used, bytes, scope)) : fresh(size, bytes, scope);
    });
  }

  /// Counts the memory as lent before it is there: a close waits for it.
  private synchronized @Nullable DeviceMemory begin(long size) {
    if (closing) {
      throw new DeviceClosedException("pool of " + device.name());
    }
    lent++;
    lentBytes += size;
    peakLentBytes = Math.max(peakLentBytes, lentBytes);
    DeviceMemory used = poll(size);
    if (used == null) {
      misses++;
    } else {
      hits++;
    }
    return used;
  }

  private Mono<DeviceMemory> fresh(long size, long bytes, BlockScope scope) {
    AtomicBoolean ended = new AtomicBoolean();
    BlockScope arriving = new BlockScope();
    return device.allocate(size, arriving)
        .onErrorResume(DeviceMemoryExhaustedException.class,
            e -> trim(0) > 0 ? device.allocate(size, arriving) : Mono.error(e))
        .map(memory -> ended.compareAndSet(false, true) ? lend(memory, bytes, scope) : memory) // or cancelled
        .doOnError(e -> notGot(ended, size, arriving))
        .doOnCancel(() -> notGot(ended, size, arriving));
  }

  private void notGot(AtomicBoolean ended, long size, BlockScope arriving) {
    if (ended.compareAndSet(false, true)) {
      arriving.close();
      end(size);
    }
  }

  private DeviceMemory lend(DeviceMemory memory, long bytes, BlockScope scope) {
    return scope.adopt(new DeviceMemory(memory.address(), bytes, () -> takeBack(memory)));
  }

  private void takeBack(DeviceMemory memory) {
    boolean keep;
    synchronized (this) {
      keep = !closing && memory.bytes() <= maxCachedBytes - cachedBytes;
      if (keep) {
        kept.computeIfAbsent(memory.bytes(), size -> new ArrayDeque<>()).push(memory);
        cachedBytes += memory.bytes();
      }
    }
    if (!keep) {
      memory.close();
    }
    end(memory.bytes());
  }

  private void end(long size) {
    boolean isLast;
    synchronized (this) {
      lent--;
      lentBytes -= size;
      isLast = closing && lent == 0;
    }
    if (isLast) {
      closed.tryEmitEmpty();
    }
  }

  @GuardedBy("this") private @Nullable DeviceMemory poll(long size) {
    ArrayDeque<DeviceMemory> same = kept.get(size);
    if (same == null) {
      return null;
    }
    DeviceMemory used = same.pop();
    if (same.isEmpty()) {
      kept.remove(size);
    }
    cachedBytes -= size;
    return used;
  }

  /// Gives the device back what is kept, the largest first, until at most `keepBytes` are.
  ///
  /// @return bytes given back
  public long trim(long keepBytes) {
    List<DeviceMemory> given = new ArrayList<>();
    long bytes = 0;
    synchronized (this) {
      while (cachedBytes > keepBytes) {
        Map.Entry<Long, ArrayDeque<DeviceMemory>> largest = kept.lastEntry();
        given.add(requireNonNull(poll(largest.getKey())));
        bytes += largest.getKey();
      }
      trimmedBytes += bytes;
    }
    given.forEach(DeviceMemory::close);
    return bytes;
  }

  public synchronized DevicePoolStat stat() {
    return new DevicePoolStat(lent, lentBytes, peakLentBytes, cachedBytes, hits, misses, trimmedBytes);
  }

  /// Gives the device back what is kept, and what is lent as it is closed; completes when all is. The device stays
  /// open. Lazy and idempotent.
  public Mono<Void> close() {
    return Mono.defer(() -> {
      boolean isIdle;
      synchronized (this) {
        closing = true;
        isIdle = lent == 0;
      }
      trim(0);
      if (isIdle) {
        closed.tryEmitEmpty();
      }
      return closed.asMono();
    });
  }

  @Override
  public String toString() {
    return "pool of " + device;
  }
}
