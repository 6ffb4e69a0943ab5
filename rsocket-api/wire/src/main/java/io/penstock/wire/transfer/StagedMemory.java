package io.penstock.wire.transfer;

import io.penstock.block.BlockScope;
import io.penstock.block.Owned;
import io.penstock.check.Checks;
import java.lang.foreign.MemorySegment;
import java.util.List;
import reactor.core.publisher.Mono;

/// Memory that the CPU does not reach, such as that of an accelerator. Its bytes pass through host memory of a bounded
/// pool: bytes to read are fetched there first, written bytes are stored from there once they are verified. Safe from
/// any thread.
///
/// | | |
/// |---|---|
/// | waits | for room in the pool, in its queue; an operation with room waits for the device and for its peer alone |
/// | overlap | each operation has room of its own, so one is copied while another is on the wire |
/// | cancel | copies under way continue, and keep their host memory until they have ended |
public interface StagedMemory {
  long bytes();

  /// Host memory for `parts`, all or none, when there is room; its content is undefined.
  ///
  /// @param scope owns it from the moment it is given
  /// @return cold; signals [io.penstock.budget.BudgetExhaustedException] if too many wait
  /// @throws IllegalArgumentException if the parts together are larger than the pool
  Mono<? extends Staging> stage(List<Part> parts, BlockScope scope);

  /// A part of the memory.
  record Part(long offset, long length) {
    public Part {
      Checks.positive("length", length);
      Memory.end(offset, length);
    }
  }

  /// Host memory that stands for parts.
  abstract class Staging extends Owned {
    /// Pieces that are as long as the parts together, in their order.
    public abstract List<MemorySegment> host();

    /// Copies the parts into the host memory.
    ///
    /// @return cold; completes when all bytes are there
    public abstract Mono<Void> fetch();

    /// Copies the host memory into the parts.
    ///
    /// @return cold; completes when all bytes are there
    public abstract Mono<Void> store();
  }
}
