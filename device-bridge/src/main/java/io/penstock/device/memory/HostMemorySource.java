package io.penstock.device.memory;

import io.penstock.block.BlockScope;
import reactor.core.publisher.Mono;

/// Where large pieces of host memory come from: a ladder of ways to get them, tried from the best down. Safe from any
/// thread.
public interface HostMemorySource {
  /// Named in errors and logs.
  String name();

  /// Takes memory on the best rung that gives it, zeroed or not. What a rung that fails has done is undone, in reverse,
  /// before the next one is tried.
  ///
  /// @param scope owns the memory from the moment it is there
  /// @return cold; may take as long as the system needs to clear the pages, on the subscriber's thread where nothing
  ///     else is said; signals [HostMemoryRefusedException] if no rung gives it
  /// @throws IllegalArgumentException if `bytes` is not positive
  Mono<HostMemory> allocate(long bytes, BlockScope scope);

  /// As much of `bytes` as there is: all, 90 %, and so on to a half, each rounded down to 1 GiB.
  ///
  /// @return cold; signals [HostMemoryRefusedException] of the least that was tried
  /// @throws IllegalArgumentException if `bytes` is less than 1 GiB
  default Mono<HostMemory> allocateUpTo(long bytes, BlockScope scope) {
    long[] sizes = BestEffort.sizes(bytes);
    return Mono.defer(() -> upTo(sizes, 0, scope));
  }

  private Mono<HostMemory> upTo(long[] sizes, int next, BlockScope scope) {
    return allocate(sizes[next], scope).onErrorResume(HostMemoryRefusedException.class,
        refused -> next + 1 < sizes.length ? upTo(sizes, next + 1, scope) : Mono.error(refused));
  }
}
