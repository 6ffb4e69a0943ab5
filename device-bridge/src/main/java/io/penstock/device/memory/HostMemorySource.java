package io.penstock.device.memory;

import io.penstock.block.BlockScope;
import reactor.core.publisher.Mono;

/// Allocates large pieces of host memory; tries several kinds of pages, the best first. Safe from any thread.
public interface HostMemorySource {
  /// Named in errors and logs.
  String name();

  /// Allocates memory of the best kind of pages that is available, zeroed or not. A failed attempt is undone, in
  /// reverse, before the next begins.
  ///
  /// @param scope owns the memory from its allocation on
  /// @return cold; may take as long as the system needs to clear the pages, by default on the subscriber's thread;
  ///     signals [HostMemoryRefusedException] if no kind is available
  /// @throws IllegalArgumentException if `bytes` is not positive
  Mono<HostMemory> allocate(long bytes, BlockScope scope);

  /// Allocates as much of `bytes` as there is: all, 90 %, and so on to a half, each rounded down to 1 GiB.
  ///
  /// @return cold; signals the [HostMemoryRefusedException] of the least that was tried
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
